"""`cboc leave`: it asks, says what happens, and says what it has done."""

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Policy, Study
from cboc.cli.app import app
from cboc.coordinator.app import create_app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions

from ..machine.served import served

STUDY = Study({"pH": (2.0, 9.0)}, ("x", "y"), 3, name="buffer study", pace="rounds")


def call(*words, code=0, given=None):
    result = CliRunner().invoke(app, [str(word) for word in words], input=given)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture
def coordinator(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    engine = open_database("sqlite:///coordinator.db")
    upgrade(engine)
    Transactions(engine).create(STUDY)
    with served(create_app(engine)) as url:
        for name in STUDY.sites:
            code = Tokens(engine).invite("buffer study", name)
            cboc.join(url, code, storage=f"{name}.db", direction="maximise", policy=Policy(initial=1))
        yield url
    engine.dispose()


@pytest.mark.usefixtures("coordinator")
def test_nobody_there_to_be_asked_is_one_sentence():
    said = call("leave", code=2)
    assert "nobody has agreed to leave, and nothing was done; --yes agrees in a script." in said
    assert "left" not in call("status")


def test_it_asks_first_and_says_what_happens(coordinator):
    call("ask")
    said = call("leave", code=2, given="n\n")
    assert "The others of 'buffer study' go on without 'x', and wait for it no more." in said
    assert "the proposals and the best designs so far" in said and "a new invitation brings it back" in said
    assert "the experiment that is open may still be told" in said and "nothing was changed" in said
    assert "left" not in call("status")
    said = call("leave", given="y\n")
    assert "'x' has left study 'buffer study'." in said and "not heard" not in said
    said = call("leave")  # again: no question
    assert "go on without" not in said and "has left study" in said
    said = call("status")
    assert "a new invitation brings it back" in said and "1 experiment, trial 0; it may still be told" in said
    assert "The site has left the study." in call("tell", "0.5")
    assert "has left study 'buffer study', and takes no more turns" in call("ask", code=4)
    assert "has left study" in call("accept", code=2)
    assert "a new invitation brings it back" in call("join", coordinator, code=2), "it is not let in again"
    call("invite", "x", "--database", "sqlite:///coordinator.db", "--file", "x.cboc", "--url", coordinator)
    assert "Joined 'buffer study' as 'x'" in call("join", "x.cboc")
    assert "left" not in call("status")
    call("ask", code=3)  # the others are waited for again


def test_for_scripts_it_does_not_ask(coordinator):
    assert coordinator
    said = call("leave", "--yes", "--file", "y.db")
    assert "go on without 'y'" in said and "'y' has left" in said


def test_without_a_coordinator_it_says_what_is_left_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(
        '[study]\nname = "s"\nhorizon = 3\n[space]\na = {low = 0, high = 1}\n[[site]]\nname = "x"\n'
        '[[site]]\nname = "y"\n'
    )
    given = ("--site", "x", "--study", "study.toml", "--direction", "max")
    call("join", "stick:", *given)
    said = call("leave", "--yes")
    assert "the next file that cboc feed export writes" in said and "cannot be taken back" in said
    call("feed", "export", "x.cboc")
    call("join", "peers:", *given, "--file", "p.db")
    said = call("leave", "--yes", "--file", "p.db")
    assert "nobody" in said or "no neighbour has answered" in said  # its feed has not begun
    assert "said again by cboc ask --file p.db" in said
