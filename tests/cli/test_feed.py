"""By stick: two sites that share nothing but files which people carry."""

import re
import shutil
import subprocess
from time import sleep

import pytest
from typer.testing import CliRunner

import cboc
from cboc.cli.app import app
from cboc.storage.sitefile import SiteFile

STUDY = """
[study]
name = "by hand"
horizon = 6
[space]
a = {low = 0, high = 1}
b = {low = 0, high = 1}
[[site]]
name = "lab-a"
[[site]]
name = "lab-b"
"""


def call(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture
def labs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "minimise", "--file", "a.db")
    call("feed", "export", "a.cboc", "--file", "a.db")
    call("join", "stick:a.cboc", "--site", "lab-b", "--direction", "minimise", "--file", "b.db")
    return tmp_path


def run(name, many):
    for _ in range(many):
        site = cboc.join(storage=f"{name}.db")
        trial = site.ask()
        site.tell(trial, float(((trial.x - 0.4) ** 2).sum()))


def test_what_is_carried_in_any_order_and_again_is_heard(labs):
    for turn in range(3):
        run("a", 4 if turn == 0 else 1)
        run("b", 4 if turn == 0 else 1)
        call("feed", "export", f"a{turn}.cboc", "--file", "a.db")
        call("feed", "export", f"b{turn}.cboc", "--file", "b.db")
    run("a", 1)
    call("feed", "export", "a3.cboc", "--file", "a.db")
    for name in ("a3", "a1", "a3", "a0"):
        said = call("feed", "import", f"{name}.cboc", "--file", "b.db")
    assert "0 new" in said
    run("b", 1)
    assert cboc.join(storage="b.db").trials[-1].answer.weights[0] > 0.0, "lab-a is heard"
    assert (labs / "a3.cboc").read_bytes().count(b"\n") >= 4


def test_damage_and_files_that_are_something_else(labs):
    call("feed", "export", "b.cboc", "--file", "b.db")
    whole = (labs / "b.cboc").read_bytes()
    (labs / "cut.cboc").write_bytes(whole[: len(whole) // 2])
    assert "0 new" in call("feed", "import", "cut.cboc", "--file", "a.db")
    assert "is not a file of feeds" in call("feed", "import", "study.toml", "--file", "a.db", code=2)
    assert "choose another name" in call("feed", "export", "study.toml", "--file", "a.db", code=2)
    assert "cannot be read" in call("feed", "import", "nothing.cboc", "--file", "a.db", code=2)
    assert (labs / "study.toml").read_text() == STUDY


def test_two_copies_of_a_site_are_told_of_by_whoever_imports_both(labs):
    run("a", 4)
    for name in ("a.db", "a.db.feeds"):
        shutil.copy(labs / name, labs / name.replace("a.db", "copy.db"))
    run("a", 1)
    call("feed", "export", "one.cboc", "--file", "a.db")
    copy = cboc.join(storage="copy.db")
    copy.tell(copy.trials[0], 7.0, is_correction=True)
    run("copy", 1)
    call("feed", "export", "other.cboc", "--file", "copy.db")
    call("feed", "import", "one.cboc", "--file", "b.db")
    said = call("feed", "import", "other.cboc", "--file", "b.db")
    assert "there are two entries 1 of 'lab-a', both signed" in said
    assert "there are two entries 1 of 'lab-a'" in call("status", "--file", "b.db")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("stick:", "--site", "lab-a", "--direction", "minimise"), "the first site gives the study file (--study)"),
        (("stick:", "--study", "study.toml", "--direction", "minimise"), "the name of your site in the study (--site)"),
        (("stick:", "--site", "lab-z", "--study", "study.toml", "--direction", "minimise"), "'lab-z' is not a site"),
        (("stick:", "CODE", "--site", "lab-a", "--direction", "minimise"), "an invitation is for a coordinator"),
        (
            ("stick:", "--sealed", "--site", "lab-a", "--study", "study.toml", "--direction", "minimise"),
            "sealing is for",
        ),
        (("folder:", "--site", "lab-a", "--direction", "minimise"), "the address of a folder is folder:PATH"),
        (
            ("stick:", "--git", "--site", "lab-a", "--study", "study.toml", "--direction", "minimise"),
            "--git is for a folder that is a git working copy",
        ),
        (
            ("folder:.", "--git", "--site", "lab-a", "--study", "study.toml", "--direction", "minimise"),
            "is not a git working copy",
        ),
        (("folder:nowhere", "--site", "lab-a", "--direction", "minimise"), "there is no folder"),
        (("folder:.", "--site", "lab-a", "--direction", "minimise"), "holds no study yet: wait for the sync"),
    ],
)
def test_what_is_missing_or_does_not_go_together(labs, words, sentence):
    assert labs and sentence in call("join", *words, "--file", "new.db", code=2)


def test_three_processes_share_nothing_but_a_folder(tmp_path):
    said = call("demo-folder", "--out", tmp_path / "demo")
    for name in ("lab-a", "lab-b", "lab-c"):
        assert f"{name} 17 " in said
        site = cboc.join(storage=tmp_path / "demo" / f"{name}.db")
        heard = [trial.answer.weights for trial in site.trials if trial.answer is not None]
        assert len(heard) == 12 and min(map(max, heard)) < 0.9, "the others are mixed in"
    assert len(list((tmp_path / "demo" / "shared").rglob("*.entry"))) == 3 * 13
    assert "is not empty" in call("demo-folder", "--out", tmp_path / "demo", code=2)


ROUNDS = (
    STUDY.replace("horizon = 6", 'horizon = 6\npace = "rounds"\ndeadline = "0.2 s"\nquorum = 2')
    + """[[site]]
name = "lab-c"
"""
)


def test_one_goes_on_if_nobody_closes_a_round_and_the_other_knows_for_whom_it_waits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(ROUNDS)
    for name, more in (("a", ()), ("b", ("--drift",)), ("c", ())):
        given = ("--site", f"lab-{name}", "--study", "study.toml", "--direction", "minimise", "--initial", "0")
        call("join", "folder:.", *given, *more, "--file", f"{name}.db")
    for name in ("b", "c"):
        call("ask", "--file", f"{name}.db", code=3)
    sleep(0.5)
    assert "It waits for lab-a to close round 0." in call("ask", "--file", "c.db", code=3)
    call("ask", "--file", "b.db")
    assert "went on without lab-a round 0 (this site)" in plain(call("status", "--file", "b.db"))
    said = plain(call("status", "--file", "c.db"))
    assert "went on without lab-a round 0 (lab-b)" in said and "it waits for lab-a to close round 0" in said
    audit = call("audit", "--file", "b.db")
    assert "In round 0 this site went on by itself with lab-b, lab-c, because lab-a had not closed it" in audit
    call("join", "folder:.", "--drift", "--file", "c.db")
    call("ask", "--file", "c.db")
    call("join", "folder:.", "--no-drift", "--file", "c.db")
    assert SiteFile("c.db").about["drifts"] is False


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ("", "--drift has no effect at the free pace, at which nobody waits."),
        ('pace = "rounds"\ndeadline = "none"', "--drift has no effect in a study without a deadline"),
    ],
)
def test_drift_where_it_has_no_effect_says_so(tmp_path, monkeypatch, terms, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY.replace("horizon = 6", f"horizon = 6\n{terms}"))
    given = ("--site", "lab-a", "--study", "study.toml", "--direction", "minimise", "--drift", "--file", "a.db")
    assert sentence in call("join", "folder:.", *given)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_through_a_git_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "study.toml").write_text(STUDY)
    for words in ("init --bare ours.git", "clone ours.git a", "clone ours.git b"):
        subprocess.run(["git", *words.split()], check=True, capture_output=True)
    given = ("--direction", "minimise", "--initial", "0")
    assert "holds no study yet" in call(
        "join", "folder:b", "--git", "--site", "lab-b", *given, "--file", "b.db", code=2
    )
    call("join", "folder:a", "--git", "--site", "lab-a", "--study", "study.toml", *given, "--file", "a.db")
    call("ask", "--file", "a.db")
    call("join", "folder:b", "--git", "--site", "lab-b", *given, "--file", "b.db")
    call("ask", "--file", "b.db")
    assert cboc.join(storage="b.db").trials[0].answer.weights[0] > 0.0, "lab-a was heard"
    assert "lab-b 2 entries" in plain(call("status", "--file", "a.db"))
    (tmp_path / "ours.git").rename(tmp_path / "away.git")
    assert "cannot be pulled" in call("status", "--file", "a.db")


def plain(table):
    """A table without its lines."""
    return " ".join(re.sub("[^\\w()., -]", " ", table).split())
