"""Two labs over HTTPS, each a process of its own that serves, with the commands that people type."""

import os
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

import cboc
from cboc.cli.app import app

from ..machine.peers import code_of, feeds_beside
from ..machine.peers import serving as in_a_thread

STUDY = """
[study]
name = "directly"
horizon = 4
pace = "rounds"
deadline = "1 h"
[space]
a = {low = 0, high = 1}
b = {low = 0, high = 1}
[[site]]
name = "lab-a"
[[site]]
name = "lab b"
"""
CODE = "12345-67890-12345-67890-12345-67890"


def call(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@contextmanager
def serving(file, *options):
    """A serving process, and the command that it prints for the neighbours."""
    command = [sys.executable, "-m", "cboc", "peer", "serve", "--file", file, "--host", "127.0.0.1", "--every", "0.2"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, shlex.split(process.stdout.readline().partition(": cboc ")[2])
        finally:
            process.kill()


def stopped(process):
    """Interrupt a process, and return what it has said."""
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and said.endswith("Stopped.\n"), said
    return said


@pytest.fixture
def labs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    for site, file in (("lab-a", "a.db"), ("lab b", "b.db")):
        given = ("--site", site, "--study", "study.toml", "--direction", "minimise", "--file", file)
        assert "Next: cboc peer serve" in call("join", "peers:", *given)
    return tmp_path


def run(file):
    site = cboc.join(storage=file)
    trial = site.ask()
    site.tell(trial, float(((trial.x - 0.4) ** 2).sum()))


def test_two_labs_run_a_study_through_their_servers_alone(labs):
    with serving("a.db", "--port", "0") as (a, to_b), serving("b.db", "--port", "0") as (b, to_a):
        assert "it does not answer" not in call(*to_b, "--file", "b.db")
        said = call(*to_a, "--file", "a.db")
        assert "Added lab b: it answers at https://127.0.0.1:" in said and f"its keys have the code {to_a[-1]}" in said
        for file in ("a.db", "b.db"):
            for _ in range(4):  # the initial ones
                run(file)
        away = labs / "away"
        away.mkdir()
        (labs / "b.db").rename(away / "b.db")  # what serves has no need of it
        b.kill(), b.wait()
        port = to_a[3].rpartition(":")[2]
        with serving("b.db", "--port", port) as (b, again):
            assert again == to_a
            (away / "b.db").rename(labs / "b.db")
            assert "It waits for lab b" in call("ask", "--file", "a.db", code=3)
            call("ask", "--wait", "--file", "b.db")  # lab-a has to close the round: its server does so
            assert '"act": "close"' in call("audit", "--file", "a.db")
            call("ask", "--file", "a.db")
            for file in ("a.db", "b.db"):
                call("tell", "0.512345", "--file", file)
                assert "none of them has left" in call("audit", "--file", file)
            assert "answers" in call("peer", "list", "--file", "a.db")
            assert "ok lab b: " in call("doctor", "--file", "a.db")
            assert "lab-a took" in stopped(b)
        assert "lab b took" in stopped(a)
        said = call("peer", "list", "--file", "a.db")
        assert "'lab b' does not answer at https://127.0.0.1:" in said and shlex.join(["cboc", *to_b]) in said
        assert "'lab b' does not answer" in call("status", "--file", "a.db")


def test_a_port_that_is_in_use_is_one_sentence(labs):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = call("peer", "serve", "--file", "a.db", "--host", "127.0.0.1", "--port", port, code=2)
        assert labs and f"cannot listen on 127.0.0.1:{port} (Address already in use); choose another --port" in said


def test_offline_a_neighbour_is_added_all_the_same(labs):
    said = call("peer", "add", "lab b", "https://127.0.0.1:1", CODE, "--file", "a.db")
    assert labs and "Added lab b. 'lab b' does not answer at https://127.0.0.1:1" in said and "cboc peer serve" in said
    assert CODE in call("peer", "list", "--file", "a.db")
    assert "BAD lab b: 'lab b' does not answer at https://127.0.0.1:1" in call("doctor", "--file", "a.db", code=1)
    other = CODE.replace("1", "2")
    assert "add it with --again" in call("peer", "add", "lab b", "https://127.0.0.1:1", other, "--file", "a.db", code=2)
    call("peer", "add", "lab b", "https://127.0.0.1:1", other, "--again", "--file", "a.db")
    assert other in call("peer", "list", "--file", "a.db")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("peer", "add", "lab-a", "https://h:1", CODE), "'lab-a' is this site itself"),
        (("peer", "add", "lab-q", "https://h:1", CODE), "'lab-q' is not a site of study 'directly'"),
        (("peer", "add", "lab b", "h:1", CODE), "a peer's address looks like https://lab-a.example.org:8443"),
        (("peer", "add", "lab b", "https://h:1", "1234"), "a code has 30 digits"),
        (("peer", "serve", "--address", "ftp://h"), "a peer's address looks like https://lab-a.example.org:8443"),
        (("peer", "serve", "--host", "no.such.host.invalid"), "cannot listen on no.such.host.invalid:8443"),
    ],
)
def test_mistakes_are_one_sentence(labs, words, sentence):
    port = ("--port", "0") if "--address" in words else ()
    assert labs and sentence in call(*words, *port, "--file", "a.db", code=2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("peers:", "--site", "lab-a"), "between peers every site gives the study file (--study)"),
        (("peers:lab-b", "--site", "lab-a", "--study", "study.toml"), "the address is peers: and nothing more"),
        (("peers:", "--site", "lab-a", "--study", "study.toml", "--sealed"), "sealing is for a folder"),
        (("peers:", "--site", "lab-q", "--study", "study.toml"), "'lab-q' is not a site"),
    ],
)
def test_what_is_missing_or_does_not_go_together(labs, words, sentence):
    assert labs and sentence in call("join", *words, "--direction", "minimise", "--file", "new.db", code=2)


def test_a_file_that_has_joined_nothing_serves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no file of feeds site.db.feeds" in call("peer", "list", code=2)
    assert not os.listdir(tmp_path)


def test_who_has_lost_its_keys_is_told_what_to_do(labs):
    """Its new keys have another code, which the others do not take under its name."""
    a, b = (feeds_beside(labs / name) for name in ("a.db", "b.db"))
    with in_a_thread(a) as at_a, in_a_thread(b) as at_b:
        to_b, to_a = ("peer", "add", "lab-a", at_a, code_of(a)), ("peer", "add", "lab b", at_b, code_of(b))
        call(*to_b, "--file", "b.db")
        call(*to_a, "--file", "a.db")
        call("peer", "list", "--file", "b.db")  # it was not added before: now it is answered, and says hello
        assert "1 entry" in call("status", "--file", "a.db")
        for name in ("b.db", "b.db.feeds"):
            (labs / name).rename(labs / f"lost-{name}")
        call("join", "peers:", "--site", "lab b", "--study", "study.toml", "--direction", "minimise", "--file", "b.db")
        assert "'lab-a' refuses this site: there it was not added, or with other keys" in call(*to_b, "--file", "b.db")
        new = cboc.join(storage="b.db").network.standing().code
        said = call("peer", "add", "lab b", to_a[3], new, "--again", "--file", "a.db", code=2)
        assert "is known here by its first keys" in said and "restore its file of feeds from a backup" in said
