"""A coordinator waits for a PostgreSQL that is started later than it, and not for ever."""

import shutil
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cboc.cli import coordinator
from cboc.cli.app import app

from ..machine.ports import free_port
from ..machine.postgresql import Server
from .test_starting import STUDY

LATE = 2.0  # seconds
LONG = "100"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_DATABASE", "sqlite:///coordinator.db")
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)  # it would serve for ever
    Path("study.toml").write_text(STUDY)


@pytest.fixture
def server():
    """A PostgreSQL server that was not started."""
    server = Server("-F")
    yield server
    shutil.rmtree(server.folder)


@contextmanager
def soon(action, monkeypatch):
    """Do something a little after somebody says that the database does not answer yet."""
    thread, say = threading.Timer(LATE, action), coordinator.notes.print

    def heard(sentence, **style):
        say(sentence, **style)
        if "does not answer yet" in sentence:
            thread.start()

    monkeypatch.setattr(coordinator.notes, "print", heard)
    yield
    thread.join()


def serve(server, *more):
    return call("--database", f"{server.address}/postgres", *more)


def call(*options):
    return CliRunner().invoke(app, ["serve", "study.toml", "--port", str(free_port()), *options])


def test_it_waits_until_the_database_is_there(server, monkeypatch):
    with soon(server.start, monkeypatch):
        began = time.monotonic()
        result = serve(server, "--wait", LONG)
        assert time.monotonic() - began > 0.5 * LATE
    server.stop()
    said = " ".join(result.stderr.split())
    assert result.exit_code == 0, said
    assert "does not answer yet; waiting for it, up to 100 s. Study 'buffer study' begins" in said
    assert said.count("does not answer yet") == 1


def test_it_waits_for_one_that_is_there_and_takes_no_connections_yet(server, monkeypatch):
    server.stand_by()
    with soon(server.take_over, monkeypatch):
        result = serve(server, "--wait", LONG)
    server.stop()
    assert result.exit_code == 0, result.stderr
    assert "does not answer yet" in result.stderr


@pytest.mark.parametrize("seconds", ["0", "1"])
def test_it_does_not_wait_for_ever(server, seconds):
    result = serve(server, "--wait", seconds)
    said = " ".join(result.stderr.split())
    assert result.exit_code == 2 and "Traceback" not in said
    assert f"did not answer within {seconds} s; start it, check its address, or wait longer with --wait." in said


def test_for_a_mistake_nobody_waits(server):
    server.start()
    try:
        began = time.monotonic()
        result = call("--database", f"{server.address}/nosuch")
        assert result.exit_code == 2 and "nosuch" in result.stderr and time.monotonic() - began < 30.0
    finally:
        server.stop()


def test_a_file_is_not_waited_for():
    result = call("--wait", "5")
    assert result.exit_code == 0 and "--wait has no effect" in " ".join(result.stderr.split())
