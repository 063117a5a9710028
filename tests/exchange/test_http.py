"""A web server that answers whatever a test wants: a site says in one sentence what is wrong."""

import json
import socket
import ssl
import threading
import time
from contextlib import contextmanager, suppress
from datetime import datetime

import pytest

from cboc import CbocError, Policy, Site, Study, Waiting
from cboc.coordinator import certificate
from cboc.exchange import http
from cboc.exchange.http import Client
from cboc.exchange.messages import Mix, Proposal
from cboc.exchange.network import Conflict, NotSubmitted, Standing
from cboc.exchange.rest import Membership, Rest
from cboc.site.trial import Status

STUDY = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 4, name="trial run", pace="rounds")
MEMBERSHIP = {"agreement": STUDY.agreement(), "digest": STUDY.digest, "site": "x", "turn": 3}
STANDING = {"round": 0, "missing": ["x", "y"], "closes_at": None}
MIX = {"X": [[0.5, 1]], "weights": [0.25, 0.75], "snapshot": 2, "leader": "y", "others": [[0.0, 1.0]]}
MESSAGES = {
    "join": lambda network: network.join("code", STUDY, "x"),
    "membership": lambda network: network.membership(),
    "standing": lambda network: network.standing(),
    "submit": lambda network: network.submit(Proposal("x", 0, [(0.5, 0.5)])),
    "mix": lambda network: network.mix("x", 0),
    "leave": lambda network: network.leave("x"),
}
LONGEST_TEST = 20.0  # seconds
HANDSHAKE, END = b"\x16", b"\r\n\r\n"  # of TLS, of a request's head


class Server:
    """Answers every connection by `reply`, bytes or a function of the socket, after the request has come."""

    def __init__(self, context=None):
        self.reply, self.asked, self._context = b"", 0, context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0):
            pass
        self._thread.join()
        self._socket.close()

    def _serve(self):
        while not self._is_over.is_set():
            line, _ = self._socket.accept()
            if self._is_over.is_set():
                line.close()
                return
            self.asked += 1
            line.settimeout(5.0)
            with suppress(OSError), self._wrapped(line) as line:
                self._answer(line)

    def _wrapped(self, line):
        if self._context is None:
            return line
        try:
            return self._context.wrap_socket(line, server_side=True)
        except OSError:
            line.close()
            raise

    def _answer(self, line):
        request = line.recv(65536)
        while END not in request and not request.startswith(HANDSHAKE):
            request += line.recv(65536) or END
        head, _, body = request.partition(END)
        length = [int(part[15:]) for part in head.lower().split(b"\r\n") if part.startswith(b"content-length:")]
        while length and len(body) < length[0]:
            body += line.recv(65536) or b" " * length[0]
        if callable(self.reply):
            self.reply(line)
        else:
            line.sendall(self.reply)
        line.shutdown(socket.SHUT_WR)
        while line.recv(65536):
            pass


@pytest.fixture
def server():
    with Server() as server:
        yield server


def answer(status, content=b"", *headers):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    lines = [f"HTTP/1.1 {status} Whatever", "Connection: close", *headers]
    lines += [] if status in (204, 304) else [f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


@contextmanager
def in_time(seconds=LONGEST_TEST):
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


class Clock:
    """Time that passes while somebody sleeps, and at no other time: a busy machine changes nothing."""

    def __init__(self):
        self._now = 0.0

    def monotonic(self):
        return self._now

    def sleep(self, seconds):
        self._now += seconds


def reached(url, **options):
    return Rest(Client(url, "token", **options))


def sentence_of(url, message, **options):
    """What a site is told, which is one line of printable characters, in time."""
    with in_time(), pytest.raises(CbocError) as told:
        MESSAGES[message](reached(url, **({"patience": 10.0} | options)))
    sentence = str(told.value)
    assert sentence.isprintable() and len(sentence) < 1000
    return sentence


def is_no_coordinator(url, sentence):
    beginning, _, rest = sentence.partition(" (")
    return beginning == f"the server at {url} is not a coordinator" and rest.endswith("); is the address right?")


PAGE = b"<!DOCTYPE html><html><body>Welcome to the hotel! \x1b[2J</body></html>"
NOBODYS = {
    "a page": answer(200, PAGE, "Content-Type: text/html"),
    "a page that says JSON": answer(200, PAGE, "Content-Type: application/json"),
    "an empty object": answer(200, b"{}"),
    "null": answer(200, b"null"),
    "an empty list": answer(200, b"[]"),
    "a number": answer(200, b"1"),
    "nothing": answer(200),
    "no text": answer(200, b"\xff\xfe\x00\xd8{}"),
    "zipped": answer(200, b"\x1f\x8b\x08\x00", "Content-Encoding: gzip"),
    "nested": answer(200, b"[" * 200_000),
    "nested objects": answer(200, b'{"agreement":' * 100_000),
    "a long number": answer(200, b'{"round": ' + b"9" * 10_000 + b"}"),
    "created": answer(201, b"{}"),
    "partial": answer(206, PAGE),
    "accepted, with a page": answer(202, PAGE),
    "elsewhere": answer(302, b"", "Location: https://hotel.example/login"),
    "elsewhere for good": answer(301, PAGE, "Location: /login"),
    "not modified": answer(304),
    "not found": answer(404, PAGE),
    "not found, JSON": answer(404, {"detail": "Not Found"}),
    "refused with a list": answer(409, ["error"]),
    "refused with a number": answer(409, {"error": 3}),
    "refused with nothing": answer(401),
    "refused without a word": answer(409, {"error": ""}),
    "refused at length": answer(409, {"error": "!" * 10**5}),
    "reason as number": answer(409, {"error": "no.", "reason": 1}),
    "reason as truth": answer(409, {"error": "no.", "reason": True}),
    "reason as list": answer(409, {"error": "no.", "reason": ["waiting"]}),
    "a reason that nobody has": answer(409, {"error": "no.", "reason": "final"}),
    "waiting for nothing": answer(409, {"error": "no.", "reason": "waiting"}),
    "standing as text": answer(409, {"error": "no.", "standing": "1"}),
    "standing as list": answer(409, {"error": "no.", "standing": [0, []]}),
    "standing without a round": answer(409, {"error": "no.", "standing": {"missing": []}}),
    "standing of half a round": answer(409, {"error": "no.", "standing": STANDING | {"round": 1.5}}),
    "standing below 0": answer(409, {"error": "no.", "standing": STANDING | {"round": -1}}),
    "standing beyond all": answer(409, {"error": "no.", "standing": STANDING | {"round": 10**30}}),
    "agreement as list": answer(409, {"error": "no.", "agreement": []}),
    "agreement without end": answer(409, b'{"error": "no.", "agreement": {"a":' + b"[" * 300 + b"]" * 300 + b"}}"),
}


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("kind", NOBODYS)
def test_what_no_coordinator_answers_is_one_sentence(server, kind, message):
    server.reply = NOBODYS[kind]
    assert is_no_coordinator(server.url, sentence_of(server.url, message))
    assert server.asked == 1


@pytest.mark.parametrize("message", ["join", "membership", "standing", "submit", "leave"])
def test_an_open_round_is_no_answer_to_anything_but_a_question_for_a_mix(server, message):
    server.reply = answer(202, STANDING)
    assert is_no_coordinator(server.url, sentence_of(server.url, message))


@pytest.mark.parametrize("message", ["join", "membership", "standing", "mix"])
def test_nothing_is_no_answer_where_something_is_needed(server, message):
    server.reply = answer(204)
    assert is_no_coordinator(server.url, sentence_of(server.url, message))


@pytest.mark.parametrize("message", ["submit", "leave"])
def test_a_good_answer_to_another_message_is_none(server, message):
    server.reply = answer(200, STANDING)
    assert is_no_coordinator(server.url, sentence_of(server.url, message))


def test_good_answers_are_read(server):
    network = reached(server.url, patience=5.0)
    server.reply = answer(200, MEMBERSHIP | {"news": "of a later version"})
    assert network.membership() == Membership(**MEMBERSHIP) == network.join("code")
    server.reply = answer(200, STANDING)
    assert network.standing() == Standing(0, ("x", "y"), None)
    server.reply = answer(200, {"round": 3, "missing": [], "closes_at": 17})
    assert network.standing() == Standing(3, (), 17.0)
    server.reply = answer(200, MIX)
    mix = network.mix("x", 3)
    assert mix == Mix("x", 3, [(0.5, 1.0)], (0.25, 0.75), 2, "y", [(0.0, 1.0)]) and type(mix.X[0][1]) is float
    server.reply = answer(202, STANDING | {"round": 7, "closes_at": 17.5})
    with pytest.raises(Waiting) as waiting:
        network.mix("x", 3)
    assert waiting.value.standing == Standing(7, ("x", "y"), 17.5) and waiting.value.is_usual
    server.reply = answer(204)
    assert network.submit(Proposal("x", 3, [(0.5, 0.5)])) is None and network.leave("x") is None


def test_a_form_that_may_leave_something_out_does(server):
    network = reached(server.url, patience=5.0)
    server.reply = answer(200, {"round": 0, "missing": ["x"]})
    assert network.standing().closes_at is None
    server.reply = answer(200, {name: value for name, value in MIX.items() if name != "leader"})
    assert network.mix("x", 0).leader is None
    server.reply = answer(200, {name: value for name, value in MEMBERSHIP.items() if name != "turn"})
    assert network.membership().turn is None


def not_right(server, sentence, name):
    """It is no coordinator, because of this field; NaN and its like are no JSON."""
    reasons = (f" but {name} is not ", "but it is not a JSON object")
    return is_no_coordinator(server.url, sentence) and any(reason in sentence for reason in reasons)


WRONG_MEMBERSHIPS = [
    *({"agreement": value} for value in (None, [], "text", 3)),
    *({"digest": value} for value in (None, 3, "", ["a"], "\x1b[2J")),
    *({"site": value} for value in (None, 3, "", "x\x1b]0;title\x07", "\ud800", "x" * 10**4)),
    *({"turn": value} for value in ("0", -1, 0.0, True, 10**30)),
]
WRONG_STANDINGS = [
    *({"round": value} for value in (None, "0", -1, 0.0, True, 10**30)),
    *({"missing": value} for value in (None, "xy", [1], [None], {"x": 1}, ["\x1b[2J"])),
    *({"closes_at": value} for value in ("soon", True, [], -1.0, 1e300, float("nan"), float("inf"), 10**400)),
]


@pytest.mark.parametrize("changed", WRONG_MEMBERSHIPS, ids=lambda changed: f"{changed!r:.40}")
def test_every_field_of_a_membership_is_looked_at(server, changed):
    (name,) = changed
    for message in ("join", "membership"):
        server.reply = answer(200, MEMBERSHIP | changed)
        assert not_right(server, sentence_of(server.url, message), name)


@pytest.mark.parametrize("changed", WRONG_STANDINGS, ids=lambda changed: f"{changed!r:.40}")
def test_every_field_of_a_standing_is_looked_at(server, changed):
    (name,) = changed
    for message, status in (("standing", 200), ("mix", 202)):
        server.reply = answer(status, STANDING | changed)
        assert not_right(server, sentence_of(server.url, message), name)
    server.reply = answer(409, {"error": "no.", "reason": "waiting", "standing": STANDING | changed})
    assert not_right(server, sentence_of(server.url, "submit"), "standing")


@pytest.mark.parametrize(
    ("message", "good", "name"),
    [
        *(("membership", MEMBERSHIP, name) for name in ("agreement", "digest", "site")),
        *(("join", MEMBERSHIP, name) for name in ("agreement", "digest", "site")),
        *(("standing", STANDING, name) for name in ("round", "missing")),
        *(("mix", MIX, name) for name in ("X", "weights", "snapshot", "others")),
    ],
)
def test_no_field_that_is_needed_may_be_missing(server, message, good, name):
    server.reply = answer(200, {key: value for key, value in good.items() if key != name})
    assert f" but {name} is missing)" in sentence_of(server.url, message)


WRONG_POINTS = [None, "text", {}, [], [None, 0.5], ["0.5", 0.5], [True, 0.5], [[0.5], 0.5], [-0.1, 0.5], [0.5, 1.1]]
WRONG_POINTS += [[float("nan"), 0.5], [0.5, float("inf")], [10**400, 0.5], [2**64, 0.5]]
WRONG_MIXES = [
    *({"X": [value]} for value in WRONG_POINTS),
    *({"X": value} for value in (None, {}, "text", 3, [], [0.5, 0.5], [[0.5, 0.5], [0.5]])),
    *({"weights": value} for value in (*WRONG_POINTS, [0.5, 0.4], [0.5, 0.50001], [1, 1], [0.0])),
    *({"snapshot": value} for value in (None, "0", -1, 0.5, True, [], 10**30)),
    *({"leader": value} for value in (3, [], False, "", "y\x1b[2J")),
    *({"others": [value]} for value in (*WRONG_POINTS, [0.5], [0.5, 0.5, 0.5])),
    *({"others": value} for value in (None, {}, "text", 3, [[0.5, 0.5]] * 33)),
]


@pytest.mark.parametrize("changed", WRONG_MIXES, ids=lambda changed: f"{changed!r:.40}")
def test_every_field_of_a_mix_is_looked_at(server, changed):
    server.reply = answer(200, MIX | changed)
    sentence = sentence_of(server.url, "mix")
    assert is_no_coordinator(server.url, sentence)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"weights": [1.0]}, "a row of W has 2 weights; site 'x' was given 1"),
        ({"leader": "z"}, "the network of site 'x' names a leader that is not a site of the study"),
        (
            {"X": [[0.5]], "others": []},
            "designs of study 'trial run' have 2 coordinates; the network of site 'x' gave 1",
        ),
        ({"X": [[0.5, 0.5, 0.5]], "others": []}, "2 coordinates; the network of site 'x' gave 3"),
        ({"X": [[0.5, 0.5], [0.5, 0.5]]}, "asked about 1 designs; its network gave 2"),
    ],
)
def test_a_mix_fits_the_study_and_what_was_proposed(server, changed, reason):
    site = Site(STUDY, "x", reached(server.url, patience=5.0), direction="minimise", policy=Policy(initial=0))
    server.reply = answer(204)
    trial = site.propose()
    server.reply = answer(200, MIX | changed)
    with pytest.raises(CbocError, match=reason):
        site.ask()
    assert site.trials == [trial] and trial.status is Status.SUBMITTED  # nothing of it was taken
    server.reply = answer(200, MIX)
    assert site.ask().answer.weights == (0.25, 0.75)


def test_of_a_huge_answer_only_the_beginning_is_read(server, monkeypatch):
    monkeypatch.setattr(http, "LARGEST", 2**20)
    sent = 0

    def flood(line):
        nonlocal sent
        line.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[")
        while sent < 2**28:
            sent += line.send(b"0," * 2**15)

    server.reply = flood
    for message in MESSAGES:
        assert "more than 1048576 bytes" in sentence_of(server.url, message, patience=10.0)
    assert sent < 2**28


def test_the_largest_answers_of_ours_are_not_too_large():
    row = [1 / 3] * 1000
    assert 2**20 < len(json.dumps([row] * 1000)) < http.LARGEST
    assert len(json.dumps({"X": [row[:100]], "weights": row, "others": [row[:100]] * 32})) < http.LARGEST / 100


@pytest.mark.parametrize("message", MESSAGES)
def test_an_answer_that_does_not_end_is_given_up(server, message):
    def drip(line):
        line.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            line.sendall(b" ")
            time.sleep(0.05)

    server.reply = drip
    assert sentence_of(server.url, message, patience=0.3).startswith("no coordinator answers at")


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"])
@pytest.mark.parametrize("message", MESSAGES)
def test_what_is_cut_short_is_asked_for_again(server, message, reply, monkeypatch):
    monkeypatch.setattr(http, "time", Clock())
    server.reply = reply
    assert sentence_of(server.url, message, patience=2.0).startswith("no coordinator answers at")
    assert server.asked > 1


@pytest.mark.parametrize("message", MESSAGES)
def test_a_refusal_does_not_reach_the_terminal_as_it_came(server, message):
    server.reply = answer(401, {"error": "no\x1b[2J,\r\n\x00 not\u202e\ud800\x9b31m you." + " !" * 2000})
    sentence = sentence_of(server.url, message)
    assert sentence.startswith(f"the coordinator at {server.url} refused: no[2J, not31m you. ! !")
    assert len(sentence.partition("refused: ")[2]) == 500


@pytest.mark.parametrize("message", ["membership", "standing", "submit", "mix", "leave"])
def test_refusals_are_what_they_say(server, message):
    network = reached(server.url, patience=2.0)
    server.reply = answer(409, {"error": "la\x07ter.", "reason": "waiting", "standing": STANDING | {"round": 7}})
    with pytest.raises(Waiting, match="^later.$") as waiting:
        MESSAGES[message](network)
    assert waiting.value.standing == Standing(7, ("x", "y")) and not waiting.value.is_usual
    for reason, kind in (("conflict", Conflict), ("not submitted", NotSubmitted)):
        server.reply = answer(409, {"error": "fi\x07nal.", "reason": reason})
        with pytest.raises(kind, match="^final.$"):
            MESSAGES[message](network)
    server.reply = answer(409, {"error": "\x07", "reason": None, "standing": None, "agreement": None})
    assert sentence_of(server.url, message).endswith("refused: it gives no reason.")


def test_differences_do_not_reach_the_terminal_as_they_came(server):
    server.reply = answer(
        409, {"error": "another.", "agreement": STUDY.agreement() | {"name": "\x1b[2J" + "a" * 10**5}}
    )
    with pytest.raises(CbocError, match="the coordinator's study is not yours: name is trial run here and") as told:
        reached(server.url).join("code", STUDY)
    assert str(told.value).isprintable() and len(str(told.value)) < 6000


def test_a_disagreement_without_a_difference(server):
    for agreement in (STUDY.agreement(), dict(reversed(STUDY.agreement().items()))):
        server.reply = answer(409, {"error": "another.", "agreement": agreement})
        assert sentence_of(server.url, "join").endswith("not yours: it looks the same, but is refused.")


def test_a_coordinator_that_failed_is_not_called_none(server):
    server.reply = answer(500, b"Internal Server Error")
    for message in MESSAGES:
        assert sentence_of(server.url, message) == (
            f"the server at {server.url} has failed (it answers 500); ask the person who runs it."
        )


@pytest.mark.parametrize("header", [(), ("Date: tomorrow",), ("Date: Mon, 99 Foo 2020 99:99:99 GMT",)])
def test_a_clock_that_shows_nothing(server, header):
    server.reply = answer(200, b"{}", *header)
    with pytest.raises(CbocError, match="it does not say what time it is"):
        reached(server.url, patience=2.0).clock()


# ----------------------------------------------------------------------------- a network that changes its mind


class Fickle:
    """A network that forgets a proposal so many times, and has to be told it again."""

    def __init__(self, forgets):
        self.forgets, self.sent, self.asked = forgets, [], 0

    def submit(self, proposal):
        self.sent.append(proposal)

    def mix(self, site, turn):
        self.asked += 1
        if self.asked <= self.forgets:
            raise NotSubmitted(f"site '{site}' has not proposed for turn {turn}.")
        return Mix(site, turn, self.sent[-1].X, (0.5, 0.5), 0)

    def leave(self, site):
        pass


def site_on(network):
    return Site(STUDY, "x", network, direction="minimise", policy=Policy(initial=0))


def test_a_proposal_that_the_others_forgot_is_handed_in_again():
    network = Fickle(1)
    assert site_on(network).ask().status is Status.PENDING
    assert len(network.sent) == 2 and network.sent[0] == network.sent[1]


def test_a_network_that_forgets_everything_is_not_asked_for_ever():
    network = Fickle(1000)
    with pytest.raises(NotSubmitted):
        site_on(network).ask()
    assert (len(network.sent), network.asked) == (2, 2)


def test_so_over_the_network(server):
    site = site_on(reached(server.url, patience=5.0))
    server.reply = answer(204)
    site.propose()
    server.reply = answer(409, {"error": "never heard of it.", "reason": "not submitted"})
    with in_time(), pytest.raises(NotSubmitted, match="^never heard of it.$"):
        site.ask()
    assert server.asked == 4  # how many turns are there, the proposal, the question, the proposal again


def test_a_proposal_that_has_to_wait_is_the_same_when_it_goes_in(server):
    site = site_on(reached(server.url, patience=5.0))
    server.reply = answer(409, {"error": "later.", "reason": "waiting", "standing": STANDING})
    with pytest.raises(Waiting, match="^later.$"):
        site.ask()
    waits = site.open_trials[0]
    assert waits.status is Status.PROPOSED
    server.reply = answer(204)
    assert site.propose().proposed == waits.proposed and site.open_trials[0].status is Status.SUBMITTED


# ------------------------------------------------------------------------------------------------- certificates


@contextmanager
def encrypted(folder, *hosts):
    """A server with a certificate of its own for these hosts, and the certificate."""
    path, key = folder / "cboc.pem", folder / "cboc.key"
    certificate.make(hosts, path, key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    with Server(context) as server:
        server.reply = answer(200, STANDING)
        yield server, path.read_text()


def distrusts(url, message, **options):
    """Told at once, although a site is patient."""
    sentence = sentence_of(url, message, patience=600.0, **options)
    assert sentence.startswith(f"the coordinator at {url} answers, but this machine does not trust its certificate (")
    assert sentence.endswith("if it made its own, pass that with --certificate FILE, or certificate= in Python.")
    return sentence


@pytest.mark.parametrize("message", MESSAGES)
def test_a_certificate_that_nobody_knows(tmp_path, message):
    with encrypted(tmp_path, "127.0.0.1") as (server, known):
        assert "(self-signed certificate)" in distrusts(server.url, message)
        assert server.asked == 1
        assert reached(server.url, certificate=known).standing() == Standing(0, ("x", "y"))


def test_a_certificate_of_another_host(tmp_path):
    with encrypted(tmp_path, "cboc.example.org") as (server, known):
        assert "not valid for '127.0.0.1')" in distrusts(server.url, "standing", certificate=known)


def test_a_certificate_that_has_expired(tmp_path, monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - 2 * certificate.LIFETIME

    monkeypatch.setattr(certificate, "datetime", Clock)
    with encrypted(tmp_path, "127.0.0.1") as (server, known):
        assert "(certificate has expired)" in distrusts(server.url, "standing", certificate=known)


def test_another_certificate_than_the_one_in_hand(tmp_path):
    (tmp_path / "other").mkdir()
    certificate.make(["127.0.0.1"], tmp_path / "other" / "cboc.pem", tmp_path / "other" / "cboc.key")
    with encrypted(tmp_path, "127.0.0.1") as (server, _):
        distrusts(server.url, "standing", certificate=(tmp_path / "other" / "cboc.pem").read_text())


@pytest.mark.parametrize("text", ["no certificate", "kein Zertifikät", "-----BEGIN CERTIFICATE-----\n"])
def test_a_certificate_that_is_none(text):
    with pytest.raises(CbocError, match="the certificate to trust is not PEM text"):
        reached("https://127.0.0.1:9", patience=0.2, certificate=text).standing()


def test_https_where_there_is_none(server):
    server.reply = answer(400, PAGE)
    url = server.url.replace("http", "https")
    assert is_no_coordinator(url, sentence := sentence_of(url, "standing", patience=600.0))
    assert "(it does not speak HTTPS)" in sentence
