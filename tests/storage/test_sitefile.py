"""A site's file keeps every state of a trial, and notices whatever was changed behind its back."""

import getpass
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import cboc
from cboc import CbocError, Ledger, Policy, Site, Study
from cboc.site.trial import Status
from cboc.sitepage.session import Session
from cboc.storage.author import Door
from cboc.storage.sitefile import FORMAT, SiteFile

from .tampering import execute, reseal

OLD = Path(__file__).parents[1] / "frozen" / "format2"
STUDY = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ("x", "y"), 6, name="kept")


def opened(path, door=Door.PYTHON, clock=None, is_made=False):
    """A site of this file, and the file."""
    file = SiteFile(path, **({} if clock is None else {"clock": clock}), door=door, is_made=is_made)
    if is_made:
        file.remember(agreement=STUDY.agreement(), site="x", direction="minimise")
    options = {"direction": "minimise", "policy": Policy(initial=3, seed=1)}
    return Site(STUDY, "x", Ledger(STUDY), save=file.keep, claim=file.claim, trials=file.trials(), **options), file


@pytest.fixture
def path(tmp_path):
    """The file of a site with three trials, one of them corrected, and four messages."""
    site, file = opened(tmp_path / "x.db", is_made=True)
    for y in (0.5, 0.25, 0.125):
        site.tell(site.ask(), y)
    site.tell(site.trial(1), 0.75, is_correction=True)
    for turn in range(4):
        file.record("https://nowhere", "PUT", f"/v2/turns/{turn}/proposal", json.dumps({"X": [[turn]]}).encode())
    return tmp_path / "x.db"


# ------------------------------------------------------------------------------------------------ what it was before


def test_every_state_is_kept_with_its_time_and_who_wrote_it(tmp_path):
    now = iter(range(100, 200))
    site, _ = opened(tmp_path / "x.db", clock=lambda: next(now), is_made=True)
    site.tell(site.ask(), 89.0)
    by_page, _ = opened(tmp_path / "x.db", Door.PAGE, lambda: 500.0)
    by_page.tell(by_page.trial(0), 0.89, is_correction=True)
    by_command, file = opened(tmp_path / "x.db", Door.COMMANDS, lambda: 600)
    by_command.reopen(by_command.trial(0))
    me = getpass.getuser()
    kept = [(change.at, change.by, str(change.trial.status), change.trial.y) for change in file.history(0)]
    assert kept == [
        (100.0, f"{me}, python", "pending", None),
        (101.0, f"{me}, python", "complete", 89.0),
        (500.0, f"{me}, page", "complete", 0.89),
        (600.0, f"{me}, command line", "pending", None),
    ]
    assert SiteFile(file.path).trials() == by_command.trials == [change.trial for change in file.history()][-1:]
    assert file.history(1) == []


def test_what_says_nothing_new_is_no_new_state(path):
    site, file = opened(path)
    before = file.history()
    site.tell(site.trial(0), 0.5)
    file.keep(site.trial(2))
    assert file.history() == before


def test_the_doors_of_a_site_are_told_apart(tmp_path):
    given = {"storage": tmp_path / "x.db", "site": "x", "study": STUDY, "direction": "minimise"}
    by_python = cboc.join("stick:", policy=Policy(initial=3), **given)
    by_python.tell(by_python.ask(), 1.0)
    by_page = Session(tmp_path / "x.db").open()
    by_page.tell(by_page.trial(0), 2.0, is_correction=True)
    doors = [change.by.rpartition(", ")[2] for change in SiteFile(tmp_path / "x.db").history(0)]
    assert doors == ["python", "python", "page"]


# ------------------------------------------------------------------------------------------------- what was changed


BEHIND_ITS_BACK = {
    "another outcome": ("UPDATE trials SET row = replace(row, '0.75', '0.7')", "row 7 of 'trials' is not as it was"),
    "another author": ("UPDATE trials SET by = 'somebody' WHERE id = 3", "row 3 of 'trials' is not as it was written"),
    "another time": ("UPDATE trials SET at = at + 1 WHERE id = 2", "row 2 of 'trials' is not as it was written"),
    "a state is gone": ("DELETE FROM trials WHERE id = 4", "row 4 of 'trials' is missing"),
    "the last one is gone": (
        "DELETE FROM trials WHERE id = 7",
        "'trials' ends after row 6, and was written up to row 7",
    ),
    "swapped": ("UPDATE trials SET id = CASE id WHEN 1 THEN -1 ELSE id END", "row 1 of 'trials' is missing"),
    "another setting": (
        "UPDATE about SET value = '\"y\"' WHERE key = 'site'",
        "what it says of 'site' is not as it was",
    ),
    "a setting is gone": ("DELETE FROM about WHERE key = 'site'", "a fact in 'about' is missing, or is an old one"),
    "the end is gone": ("DELETE FROM heads WHERE name = 'trials'", "what it says of the end of 'trials' is missing"),
    "no facts": ("DELETE FROM about", "a fact in 'about' is missing"),
}


@pytest.mark.parametrize(("statement", "said"), BEHIND_ITS_BACK.values(), ids=BEHIND_ITS_BACK)
def test_what_was_changed_by_hand_is_named_with_its_row(path, statement, said):
    execute(path, statement)
    with pytest.raises(CbocError, match=rf"x\.db is damaged: {said}[^;]*; restore an earlier copy\.$"):
        SiteFile(path)


def test_an_old_fact_put_back_is_noticed(path):
    with closing(sqlite3.connect(path)) as connection:
        old = connection.execute("SELECT key, value, checksum FROM about WHERE key = 'direction'").fetchone()
    SiteFile(path).remember(direction="maximise")
    execute(path, "UPDATE about SET value = ?, checksum = ? WHERE key = ?", *old[1:], old[0])
    with pytest.raises(CbocError, match="is damaged: a fact in 'about' is missing, or is an old one; restore"):
        SiteFile(path)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE sent SET body = x'00' WHERE id = 2", "row 2 of 'sent' is not as it was written"),
        ("DELETE FROM sent WHERE id = 3", "row 3 of 'sent' is missing"),
        ("DELETE FROM sent WHERE id = 4", "'sent' ends after row 3, and was written up to row 4"),
    ],
)
def test_a_message_that_was_changed_or_left_out_is_named_when_messages_are_read(path, statement, said):
    execute(path, statement)
    file = SiteFile(path)  # a site goes on working
    with pytest.raises(CbocError, match=rf"is damaged: {said}[^;]*; restore an earlier copy"):
        file.sent()


def test_nothing_is_added_after_an_end_that_is_not_the_one_written(path):
    file = SiteFile(path)
    execute(path, "DELETE FROM sent WHERE id = 4")
    with pytest.raises(CbocError, match="is damaged: 'sent' does not end where it was written to end"):
        file.record("https://nowhere", "PUT", "/", b"")


def test_whoever_rewrites_everything_is_not_noticed(path):
    """What docs/what-leaves-my-lab.md says of a chain without a key; the code of cboc audit is for this."""
    execute(path, "UPDATE trials SET row = replace(row, '0.75', '0.7')")
    reseal(path)
    assert SiteFile(path).trials()[1].y == 0.7


# ------------------------------------------------------------------------------------------- while others write to it


def test_what_others_wrote_is_read_when_a_site_claims_its_file(path):
    here, file = opened(path)
    there, _ = opened(path)
    there.annotate(there.trial(0), "from there")
    here.annotate(here.trial(1), "from here")
    assert here.trial(0).remark == ""
    with file.claim() as trials:
        assert [trial.remark for trial in trials] == ["from there", "from here", ""]
    with file.claim() as trials:
        assert trials is None
    with pytest.raises(CbocError, match="another process has changed trial 1"):
        there.annotate(there.trial(1), "from there, too late")


def test_an_earlier_copy_that_was_put_back_is_gone_on_with(path, tmp_path):
    shutil.copy(path, tmp_path / "copy.db")
    site, file = opened(path)
    site.annotate(site.trial(0), "later")
    shutil.copy(tmp_path / "copy.db", path)
    with file.claim() as trials:
        assert [trial.remark for trial in trials] == ["", "", ""]
    file.keep(replace(trials[0], remark="again"))
    assert SiteFile(path).trials()[0].remark == "again"


# ---------------------------------------------------------------------------------------------- files of format 2


@pytest.mark.parametrize("name", ["lab-a.db", "stick.db"])
def test_a_file_of_format_2_is_taken_over_with_all_that_is_in_it(tmp_path, name):
    expected = json.loads((OLD / "expected.json").read_text())[name]
    path = Path(shutil.copy(OLD / name, tmp_path))
    with closing(sqlite3.connect(path)) as connection:
        facts = dict(connection.execute("SELECT key, value FROM about"))
        sent = connection.execute("SELECT at, address, method, path, body FROM sent ORDER BY id").fetchall()
    for _ in range(2):
        file = SiteFile(path)
        assert json.loads(json.dumps([trial.to_row() for trial in file.trials()])) == expected
        assert file.about == {key: json.loads(value) for key, value in facts.items()} | {"format": FORMAT}
        assert [(each.at, each.address, each.method, each.path, each.body) for each in file.sent()] == sent
        assert {change.by for change in file.history()} == {"taken over from format 2"}
        assert [change.trial for change in file.history()] == file.trials()
    execute(path, "UPDATE trials SET by = 'me' WHERE id = 1")
    with pytest.raises(CbocError, match="is damaged: row 1 of 'trials'"):
        SiteFile(path)


def test_a_site_of_format_2_goes_on(tmp_path):
    path = Path(shutil.copy(OLD / "stick.db", tmp_path))
    shutil.copy(OLD / "stick.db.feeds", tmp_path)
    site = cboc.join(storage=path)
    before = len(site.trials)
    site.tell(site.ask(), 0.5)
    site.ask()
    assert len(site.trials) == before + 1 and site.policy.seed == 3
    assert [str(c.trial.status) for c in SiteFile(path).history(before)] == ["proposed", "submitted", "pending"]


def test_a_file_of_format_2_that_is_damaged_stays_as_it_is(tmp_path):
    path = Path(shutil.copy(OLD / "lab-a.db", tmp_path))
    execute(path, "UPDATE trials SET row = '{}' WHERE number = 2")
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(CbocError, match="is damaged; restore an earlier copy"):
            SiteFile(path)
    assert path.read_bytes() == before
    execute(path, "UPDATE about SET value = '9' WHERE key = 'format'")
    with pytest.raises(CbocError, match="was written by another version of cboc"):
        SiteFile(path)


def test_a_status_is_that_of_the_last_state(path):
    site, file = opened(path)
    site.reopen(site.trial(2))
    assert [trial.status for trial in SiteFile(path).trials()] == [Status.COMPLETE, Status.COMPLETE, Status.PENDING]
    assert file.is_begun
