"""The commands that mend what was told, on a site's own file."""

import getpass
import json

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Policy, Study
from cboc.cli.app import app
from cboc.storage.sitefile import SiteFile

STUDY = Study({"pH": (2.0, 9.0)}, ("x", "y"), 4, name="buffer study")


def call(*command, code=0):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of a site with two results, which commands are about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    cboc.join(
        f"folder:{tmp_path / 'shared'}",
        site="x",
        storage="x.db",
        study=STUDY,
        direction="maximise",
        policy=Policy(initial=2),
    )
    call("ask")
    call("tell", "89", "--cost", "2")
    call("ask")
    call("fail", "--reason", "clogged")
    return lambda: SiteFile("x.db").trials()


def test_an_outcome_or_a_failure_is_taken_back_and_told_anew(file):
    said = call("undo").stderr
    assert "Trial 1 waits for a result again (taken back, it was failed (clogged))." in said
    assert "1 experiment, best so far 89." in said and file()[1].status == "pending"
    assert "taken back, it was 89" in call("undo", "--trial", 0).stderr
    call("tell", "0.89", "--trial", 0)
    assert [(trial.y, trial.cost, str(trial.status)) for trial in file()] == [
        (0.89, None, "complete"),
        (None, None, "pending"),
    ]
    assert "has no result yet; there is nothing to take back" in call("undo", "--trial", 1, code=2).stderr


def test_after_a_turn_it_says_that_what_was_shared_stays_shared(file):
    assert file()
    call("ask")
    said = call("undo", "--trial", 0).stderr
    assert "The design of trial 0 was given to the others as a best one of this site, and that stays with them." in said
    assert "What has left this site since it was told stays with the others." in call("undo", "--trial", 1).stderr


def test_a_remark_is_written_beside_the_trial_that_was_told_last(file):
    assert call("remark", "the lamp flickered").stderr == "Trial 1: “the lamp flickered”.\n"
    assert call("remark", "new buffer", "--trial", 0).stderr == "Trial 0: “new buffer”.\n"
    assert [trial.remark for trial in file()] == ["new buffer", "the lamp flickered"]
    call("undo")
    sheet = call("ask", "--format", "csv").stdout.splitlines()
    assert sheet[0] == "trial,pH,y,sem,status,cost,remark" and sheet[1].endswith(",,,,,the lamp flickered")
    assert call("remark", "", "--trial", 1).stderr == "Trial 1: no remark.\n" and file()[1].remark == ""
    assert "a remark has letters, signs and line breaks" in call("remark", "bell\x07", code=2).stderr


def test_before_anything_was_told_there_is_nothing_to_mend(tmp_path):
    path = tmp_path / "y.db"
    cboc.join(f"folder:{tmp_path / 'shared'}", site="y", storage=path, study=STUDY, direction="maximise")
    for command in (["undo"], ["remark", "cold"]):
        assert "nothing was told yet" in call(*command, "--file", path, code=2).stderr


def test_the_history_shows_what_was_told_before_and_by_whom(file):
    call("undo")
    call("tell", "0.5", "--trial", 1)
    call("tell", "0.89", "--trial", 0, "--again")
    rows = json.loads(call("history", "--format", "json").stdout)
    assert [(row["trial"], row["status"], row["outcome"], row["note"]) for row in rows] == [
        (0, "pending", None, None),
        (0, "complete", "89", None),
        (1, "pending", None, None),
        (1, "failed", None, "clogged"),
        (1, "pending", None, "taken back, it was failed (clogged)"),
        (1, "complete", "0.5", None),
        (0, "complete", "0.89", "corrected, it was 89"),
    ]
    assert {row["by"] for row in rows} == {f"{getpass.getuser()}, command line"} and rows[1]["cost"] == 2.0
    assert len(call("history", "--trial", 0).stdout.splitlines()) == 4  # with the names of the columns
    assert "has no trial 7 yet" in call("history", "--trial", 7, code=2).stderr and file()
