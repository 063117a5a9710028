"""Sites that come back with another file, another address or another certificate, over a real socket."""

import os
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import uvicorn

import cboc
from cboc import CbocError, Finished, Policy, Study, Unreachable, Waiting
from cboc.coordinator.app import create_app
from cboc.coordinator.certificate import make
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.http import Client
from cboc.exchange.rest import Rest
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 2, name="trial run", pace="rounds")
ALONE = Study({"a": (0.0, 1.0)}, ("x",), 1, name="trial run", pace="rounds")


@pytest.fixture
def database(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def join(tmp_path):
    return lambda file, *given, **options: cboc.join(*given, storage=tmp_path / file, **options)


def begin(engine, study):
    Transactions(engine).create(study)
    return partial(Tokens(engine).invite, study.name)


class Served:
    """A coordinator by HTTPS, with a certificate of its own for 127.0.0.1."""

    def __init__(self, engine, certificate, key):
        config = uvicorn.Config(
            create_app(engine), port=0, log_level="critical", ssl_certfile=certificate, ssl_keyfile=key
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run)

    def __enter__(self):
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        return f"127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture
def certified(database, tmp_path):
    pem, key = tmp_path / "cboc.pem", tmp_path / "cboc.key"
    make(["127.0.0.1"], pem, key)
    with Served(database, pem, key) as place:
        yield place, pem.read_text()


# ----------------------------------------------------------------------------------------------------- another file


def test_a_site_that_lost_its_file_goes_on_with_a_new_one(database, serving, join):
    """It had proposed for the open round: it waits until that has closed, and takes part in the next."""
    invite = begin(database, STUDY)
    with serving(database) as url:
        given = {"direction": "maximise", "policy": Policy(initial=0)}
        lost, y = join("lost.db", url, invite("x"), **given), join("y.db", url, invite("y"), **given)
        lost.propose()
        Tokens(database).revoke("trial run", "x")
        new = join("new.db", url, invite("x"), direction="maximise", policy=Policy(initial=1))
        new.tell(new.ask(), 1.0)
        with pytest.raises(Waiting, match="round 0 is open, and 'x' has proposed for it already"):
            new.ask()
        assert new.trials[1].status == Status.PROPOSED
        y.tell(y.ask(), 1.0)
        with pytest.raises(Waiting, match="round 1 is still open"):
            new.ask()
        y.propose()
        trial = new.ask()
        assert (trial.turn.number, trial.answer.snapshot) == (1, 1)


def test_two_beginners_on_one_file_have_one_token_between_them(database, serving, tmp_path):
    """As separate processes, at the same moment."""
    invite = begin(database, STUDY)
    with serving(database) as url:
        code = "import sys, cboc; print(cboc.join(*sys.argv[1:3], storage=sys.argv[3], direction='maximise').name)"
        command = [sys.executable, "-c", code, url, invite("x"), str(tmp_path / "x.db")]
        many = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) for _ in range(3)]
        assert [process.communicate(timeout=120)[0].strip() for process in many] == ["x"] * 3
        assert cboc.join(storage=tmp_path / "x.db").network.membership().site == "x"
    assert sorted(path.name for path in tmp_path.glob("*x.db*")) == ["x.db"]


def test_a_file_that_is_there_already_is_not_emptied(tmp_path, monkeypatch):
    """Between looking and making, another process was faster."""
    SiteFile(tmp_path / "x.db", is_made=True).remember(token="first")
    file = object.__new__(SiteFile)
    file.path = tmp_path / "x.db"
    file._make()
    assert SiteFile(tmp_path / "x.db").about["token"] == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]
    monkeypatch.setattr(os, "link", _without_links)
    SiteFile(tmp_path / "y.db", is_made=True)
    file._make()
    assert SiteFile(tmp_path / "x.db").about["token"] == "first"


def _without_links(*_):
    raise OSError(95, "Operation not supported")


def test_what_is_known_first_stays(tmp_path):
    file = SiteFile(tmp_path / "x.db", is_made=True)
    file.remember_first(token="one")
    file.remember_first(token="two")
    assert file.about["token"] == "one"


# ----------------------------------------------------------------------------------------------- another certificate


def test_another_address_without_a_certificate_drops_the_old_one(certified, database, serving, join, tmp_path):
    place, pem = certified
    code = begin(database, STUDY)("x")
    join("x.db", f"https://{place}", code, direction="maximise", certificate=pem)
    with serving(database) as elsewhere:
        assert join("x.db", elsewhere, code).network.client.certificate is None
        assert SiteFile(tmp_path / "x.db").about["certificate"] is None
        with pytest.raises(CbocError, match="does not trust its certificate"):
            join("x.db", f"https://{place}", code)
        assert join("x.db").network.client.url == elsewhere  # what did not work is not kept
    assert join("x.db", f"https://{place}", code, certificate=pem).network.client.certificate == pem
    assert join("x.db", f"https://{place}", code).network.client.certificate == pem  # the same address: nothing new


def test_the_certificate_of_a_first_try_does_not_stick(certified, database, join, tmp_path):
    place, pem = certified
    code = begin(database, STUDY)("x")
    make(["127.0.0.1"], tmp_path / "wrong.pem", tmp_path / "wrong.key")
    wrong = (tmp_path / "wrong.pem").read_text()
    with pytest.raises(CbocError, match="does not trust"):
        join("x.db", f"https://{place}", code, direction="maximise", certificate=wrong)
    with pytest.raises(CbocError, match="does not trust"):
        join("x.db", f"https://{place}", code)
    assert SiteFile(tmp_path / "x.db").about["certificate"] is None
    assert join("x.db", f"https://{place}", code, certificate=pem).name == "x"


def test_an_address_by_http_of_a_coordinator_by_https(certified):
    place, _ = certified
    with pytest.raises(Unreachable, match=f"does it speak HTTPS. Try https://{place}"):
        Rest(Client(f"http://{place}", "token", patience=0.5)).standing()


def test_a_code_that_is_too_long_is_named_before_anything_is_made(tmp_path):
    with pytest.raises(CbocError, match="an invitation has 43 characters; this has 300"):
        cboc.join("http://127.0.0.1:1", "c" * 300, storage=tmp_path / "x.db", direction="maximise")
    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------------------------------------- the end


def test_a_finished_site_says_goodbye_once(database, serving, join, tmp_path):
    invite = begin(database, ALONE)
    with serving(database) as url:
        x = join("x.db", url, invite("x"), direction="maximise", policy=Policy(initial=0))
        x.tell(x.ask(), 1.0)
        for _ in range(3):
            with pytest.raises(Finished):
                join("x.db").ask()
        assert [message.path for message in SiteFile(tmp_path / "x.db").sent()].count("/v2/leave") == 1
        again = join("x.db", url.replace("127.0.0.1", "localhost"))
        with pytest.raises(Finished):
            again.ask()  # who is there now may not know it
        assert [message.path for message in SiteFile(tmp_path / "x.db").sent()].count("/v2/leave") == 2


def test_a_goodbye_that_was_not_heard_is_said_again(database, serving, join, tmp_path):
    invite = begin(database, ALONE)
    with serving(database) as url:
        x = join("x.db", url, invite("x"), direction="maximise", policy=Policy(initial=0))
        x.tell(x.ask(), 1.0)
        Tokens(database).revoke("trial run", "x")
        for _ in range(2):
            with pytest.raises(Finished, match="1 of 1 experiments"):
                join("x.db").ask()
    assert [message.path for message in SiteFile(tmp_path / "x.db").sent()].count("/v2/leave") == 2


def test_the_first_retry_is_said():
    said = []
    network = Rest(Client("http://127.0.0.1:1", "token", patience=1.0, on_retry=said.append))
    with pytest.raises(Unreachable, match="try again later"):
        network.standing()
    assert len(said) == 1


class Elsewhere(BaseHTTPRequestHandler):
    """A web server before a coordinator, which answers one thing to everybody who comes by HTTP."""

    answer = (308, b"")

    def do_GET(self):
        status, body = self.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Quietly."""


@pytest.mark.parametrize("answer", [(301, b""), (308, b""), (400, b"Client sent an HTTP request to an HTTPS server.")])
def test_a_proxy_that_wants_https_is_named(answer):
    kind = type("Answering", (Elsewhere,), {"answer": answer})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        place = f"127.0.0.1:{server.server_port}"
        with pytest.raises(CbocError, match=f"as if it spoke HTTPS: try https://{place}"):
            Rest(Client(f"http://{place}", "token")).standing()
        server.shutdown()
        thread.join()
