"""Strangers who connect and say nothing, or half of something: the coordinator still answers its sites.

It is a process of its own, with as many descriptors as a system gives by default.
"""

import json
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from urllib.request import urlopen

import pytest

import cboc
from cboc.cli.coordinator import opened
from cboc.coordinator.tokens import Tokens

from ..machine.ports import free_port

STUDY = """
[study]
name = "open door"
horizon = 9
pace = "rounds"
[space]
pH = {low = 2, high = 9}
[[site]]
name = "lab-a"
[[site]]
name = "lab-b"
"""
MANY = 1200  # connections of strangers
DESCRIPTORS = 1024  # of the coordinator
IN_TIME = 20.0  # seconds for a round of two sites, below the minute for which a site asks again
BEGUN = {
    "silent": b"",
    "half headers": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "half body": b"POST /v2/join HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{",
    "complete": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.fixture(autouse=True)
def descriptors():
    """Enough for the strangers, in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"the strangers need {wanted} descriptors, and this machine gives {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def coordinator(tmp_path):
    """A coordinator's address, its process, and the codes of its sites."""
    (tmp_path / "study.toml").write_text(STUDY)
    database, port = f"sqlite:///{tmp_path / 'coordinator.db'}", free_port()
    serve = f"{sys.executable} -m cboc serve study.toml --port {port} --database {database}"
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(["sh", "-c", f"ulimit -n {DESCRIPTORS}; exec {serve}"], cwd=tmp_path, stderr=log) as process,
    ):
        try:
            while not listens(port) and process.poll() is None:
                time.sleep(0.05)
            with opened(database) as engine:
                codes = {site: Tokens(engine).invite("open door", site) for site in ("lab-a", "lab-b")}
            yield f"http://127.0.0.1:{port}", codes
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert process.returncode == 0
    _, _, said = (tmp_path / "log").read_text().partition("Ctrl-C stops it.\n")
    lines = [json.loads(line) for line in said.splitlines()]
    assert not any("trace" in line for line in lines)
    strange = [line for line in lines if not line.get("address", "").startswith("/v2/") or line["status"] >= 400]
    assert len(strange) < 20


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def strangers(stack, port, said):
    """Connections of strangers, who have said this much."""
    for _ in range(MANY):
        line = stack.enter_context(socket.socket())
        line.settimeout(5.0)
        line.connect(("127.0.0.1", port))
        with suppress(ConnectionError):  # it had to make room already
            line.sendall(said)


def a_round(a, b):
    """Both sites propose, hear each other, and run an experiment; it may take as long as one answer may."""
    began = time.monotonic()
    with pytest.raises(cboc.Waiting):
        a.ask()
    for site in (b, a):
        trial = site.ask()
        assert trial.turn.answer is not None  # it was reached
        site.tell(trial, 1.0)
    assert time.monotonic() - began < IN_TIME


def test_a_thousand_strangers_do_not_keep_two_sites_from_their_rounds(coordinator, tmp_path):
    url, codes = coordinator
    settings = {"direction": "minimise", "policy": cboc.Policy(initial=1, seed=1)}
    a, b = [cboc.join(url, code, storage=tmp_path / f"{name}.db", **settings) for name, code in codes.items()]
    for site in (a, b):
        site.tell(site.ask(), 1.0)
    for said in BEGUN.values():
        with ExitStack() as stack:
            strangers(stack, int(url.rpartition(":")[2]), said)
            a_round(a, b)
            with urlopen(f"{url}/healthz", timeout=IN_TIME) as answer:
                assert json.load(answer) == {"status": "well"}
