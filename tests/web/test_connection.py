"""A server gives nobody more time or room than its part takes, seen from real sockets."""

import socket
import ssl
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from cboc.coordinator.certificate import make
from cboc.web.connection import HEAD, PIECE, READING
from cboc.web.serving import Serving

SHORT = 0.4  # seconds of patience
LONG = 15.0  # seconds until a test gives up
SMALL = 2**16  # bytes that a client keeps
LARGE = 2**24  # bytes: more than the system keeps on the way


async def echo(request: Request):
    return PlainTextResponse(await request.body())


async def large(_: Request):
    return PlainTextResponse(b"x" * LARGE)


def early(_: Request):
    return PlainTextResponse("no body needed")


def slow(_: Request):
    time.sleep(3 * SHORT)
    return PlainTextResponse("done")


APP = Starlette(
    routes=[
        Route("/echo", echo, methods=["GET", "POST"]),
        Route("/large", large),
        Route("/early", early, methods=["POST"]),
        Route("/slow", slow),
    ]
)


class Door:
    """A server in a thread, and clients of it."""

    def __init__(self, server, port, trust):
        self.server, self.port, self.trust = server, port, trust

    def line(self, buffer=None):
        line = socket.socket()
        line.settimeout(LONG)
        if buffer is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        line.connect(("127.0.0.1", self.port))
        return line

    def connect(self, buffer=None):
        line = self.line(buffer)
        return line if self.trust is None else self.trust.wrap_socket(line, server_hostname="localhost")

    def answers(self, request=b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"):
        with self.connect() as client:
            client.sendall(request)
            return all_of(client)

    @property
    def open(self):
        return len(self.server.server_state.connections)


def all_of(client):
    said = bytearray()
    try:
        while part := client.recv(2**16):
            said += part
    except ConnectionError:
        pass
    return bytes(said)


def seconds_until_cut(client):
    began = time.monotonic()
    try:
        while client.recv(2**16):
            pass
    except ConnectionError:
        pass
    return time.monotonic() - began


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    make(["localhost"], folder / "own.pem", folder / "own.key")
    return folder / "own.pem", folder / "own.key"


@contextmanager
def door(pair=None, **options):
    files = {} if pair is None else {"ssl_certfile": pair[0], "ssl_keyfile": pair[1]}
    server = uvicorn.Server(Serving(APP, log_level="critical", **{"patience": SHORT} | files | options))
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while thread.is_alive() and not server.started:
            time.sleep(0.005)
        trust = None if pair is None else ssl.create_default_context(cafile=pair[0])
        try:
            yield Door(server, listener.getsockname()[1], trust)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(params=["http", "https"])
def patient(request, pair):
    with door(pair if request.param == "https" else None) as found:
        yield found


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"G",
        b"GET /echo HTTP/1.1\r\nHost: localhost\r\nX-",
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf",
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf",
    ],
    ids=["silent", "one byte", "half headers", "half body", "half chunks", "half body that nobody waits for"],
)
def test_a_request_that_does_not_come_whole_is_cut_off(patient, start):
    with patient.connect() as client:
        client.sendall(start)
        assert 0.5 * SHORT < seconds_until_cut(client) < LONG / 2
    assert b"200 OK" in patient.answers()


@pytest.mark.parametrize(
    "head", [b"GET /echo HTTP/1.1\r\n", b"POST /echo HTTP/1.1\r\nContent-Length: 9999\r\nHost: x\r\n\r\n"]
)
def test_a_byte_now_and_then_does_not_prolong_it(patient, head):
    with patient.connect() as client:
        client.sendall(head)
        began = time.monotonic()
        with suppress(OSError):  # of TLS or of the line
            while time.monotonic() - began < LONG:
                time.sleep(SHORT / 10)
                client.sendall(b"x")
        assert time.monotonic() - began < 4 * SHORT


def test_half_a_handshake_is_cut_off_too(pair):
    with door(pair) as found, found.line() as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00")  # the beginning of a ClientHello
        assert seconds_until_cut(client) < LONG / 2
        with found.line() as nonsense:
            nonsense.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert b"200" not in all_of(nonsense)
        assert b"200 OK" in found.answers()
    assert found.open == 0


def test_between_two_requests_there_is_the_same_limit(patient):
    with patient.connect() as client:
        for _ in range(3):
            client.sendall(b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in client.recv(2**16)
            time.sleep(0.5 * SHORT)  # in all longer than the patience for one
        assert seconds_until_cut(client) < LONG / 2


def test_two_requests_in_one_breath_are_answered_both(patient):
    one = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
    said = patient.answers(one + one + b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert said.count(b"200 OK") == 3 and said.count(b"abc") == 2


def test_work_of_ours_is_not_limited(patient):
    assert patient.answers(b"GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").endswith(b"done")


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_who_does_not_read_its_answer_is_cut_off_and_who_reads_slowly_is_not(patient, more):
    ask = b"GET /large HTTP/1.1\r\nHost: localhost\r\n" + more + b"\r\n"
    with patient.connect(SMALL) as never, patient.connect(SMALL) as slowly:
        never.sendall(ask)
        slowly.sendall(ask)
        got, began = 0, time.monotonic()
        while got < LARGE:
            part = slowly.recv(SMALL)
            assert part, f"cut off after {got} bytes"
            got += len(part)
            time.sleep(6 * READING * SHORT * len(part) / LARGE)
        assert time.monotonic() - began > 3 * READING * SHORT
        assert len(all_of(never)) < LARGE


def test_silent_connections_make_room_and_the_oldest_goes_first(patient_forever):
    with ExitStack() as stack:
        silent = [stack.enter_context(patient_forever.line()) for _ in range(patient_forever.server.config.most)]
        assert b"200 OK" in patient_forever.answers()
        assert silent[0].recv(1) == b""
        assert patient_forever.open <= patient_forever.server.config.most
        last = silent[-1]
        last.setblocking(False)
        with pytest.raises(BlockingIOError):
            last.recv(1)


@pytest.fixture(params=["http", "https"])
def patient_forever(request, pair):
    with door(pair if request.param == "https" else None, patience=600.0, most=20) as found:
        yield found


def test_who_is_answered_just_now_does_not_make_room():
    with door(patience=600.0, most=5) as found, found.connect() as busy, ExitStack() as stack:
        busy.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        time.sleep(SHORT)
        for _ in range(20):
            stack.enter_context(found.line())
        assert all_of(busy).endswith(b"done")


def test_who_comes_in_a_crowd_of_half_requests_is_answered():
    """Those that were cut off to make room are not finished yet when the next ones come."""
    half = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf"
    with door(patience=600.0, most=20) as found, ExitStack() as stack:
        for _ in range(20):
            clients = [stack.enter_context(found.line()) for _ in range(40)]
            for client in clients[:-1]:
                with suppress(ConnectionError):
                    client.sendall(half)
            clients[-1].sendall(b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b"503" not in all_of(clients[-1])


@pytest.mark.parametrize("parts", [1, 2])
def test_a_head_has_a_longest_length_however_it_comes(patient, parts):
    start, end = b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: ", b"\r\n\r\n"
    whole = start + 2 * HEAD * b"x" + end
    with patient.connect() as client:
        with suppress(ConnectionError):
            for part in (whole,) if parts == 1 else (whole[:HEAD], whole[HEAD:]):
                client.sendall(part)
        assert b"200 OK" not in all_of(client)
    assert b"200 OK" in patient.answers(start + (HEAD - 2 * PIECE) * b"x" + end)


@pytest.mark.parametrize("path", [b"/nosuch", b"/early"])
def test_nonsense_after_an_answer_ends_the_connection_and_nothing_else(patient, path, caplog):
    with patient.connect() as client:
        client.sendall(b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert client.recv(2**16).startswith(b"HTTP/1.1 ")
        with suppress(OSError):  # of TLS or of the line
            client.sendall(b"nonsense\r\n")
            all_of(client)
    assert b"200 OK" in patient.answers()
    assert [record.getMessage() for record in caplog.records] == []
