"""Sites of version 0.1.0 go on with this version, from their files of then.

With the strategy of then they come to exactly the end that is written down. Small groups borrow by now, and surrogates
are fitted in another way than in 0.1.0: what follows the files of then was written anew by tests/frozen/again.py.
"""

import json
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Measurement, Waiting
from cboc.cli.app import app
from cboc.coordinator.app import create_app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.joining.join import kept_policy
from cboc.sitepage.outbox import lines
from cboc.storage.formats import DECISIONS
from cboc.storage.sitefile import FORMAT, SiteFile
from cboc.strategy.collaborative import collaborative
from cboc.strategy.guide.decision import Guide

from ..machine.served import served
from ..storage.tampering import reseal

FROZEN = Path(__file__).parents[1] / "frozen"
SITES = ("lab-a", "lab-b", "lab-c")
NOBODY = "http://127.0.0.1:1"


@contextmanager
def thawed_coordinator(folder):
    """The address of the frozen coordinator, with a database of today."""
    shutil.copy(FROZEN / "coordinator.sqlite", folder)
    engine = open_database(f"sqlite:///{folder / 'coordinator.sqlite'}")
    upgrade(engine)
    with served(create_app(engine)) as address:
        yield address
    engine.dispose()


def thaw(folder, name, url=NOBODY):
    """A copy of a site's file, whose coordinator is elsewhere by now."""
    file = Path(shutil.copy(FROZEN / name, folder))
    execute(file, "UPDATE about SET value = ? WHERE key = 'url'", json.dumps(url))
    return file


def execute(file, statement, *values):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


def go_on(sites, expected):
    """Until the study is over, with the outcomes of then."""
    while open_ones := [site for site in sites if not site.is_finished]:
        for site in open_ones:
            with suppress(Waiting):
                trial = site.ask()
                row = expected[site.name][trial.number]
                site.tell(trial, Measurement(row["y"], row.get("sem")))


def as_then(file):
    """The policy of a site's file, with the strategy of then: it borrowed nothing."""
    return replace(kept_policy(SiteFile(file)), strategy=collaborative(guide=Guide(patience=0.0)))


def seen(trial):
    """What a trial of today says, in words of then."""
    answer = trial.answer
    return {
        "status": trial.status,
        "round": None if trial.turn is None else trial.turn.number,
        "decision": trial.decision,
        "proposed": list(trial.proposed),
        "agreed": None if answer is None else list(answer.mix),
        "executed": None if trial.executed is None else list(trial.executed),
        "weights": None if answer is None else list(answer.weights),
        "others": [] if answer is None else [list(other) for other in answer.others],
        "best": None if trial.turn is None or not trial.turn.bests else list(trial.turn.bests[0]),
        "y": trial.y,
        "sem": trial.sem,
        "note": trial.note,
    }


def wanted(row):
    """The same of a row of then."""
    kept = {"round", "agreed", "executed", "weights", "best", "y", "sem"}
    decision = row.get("decision")
    return {
        "status": row["status"],
        "decision": DECISIONS.get(decision, decision),
        "proposed": row["proposed"],
        "others": row.get("others", []),
        "note": row.get("note", ""),
        **{name: row.get(name) for name in kept},
    }


def nearly(said):
    """The same, with numbers that equal others within 1e-4: a search on another processor ends elsewhere by so much."""
    if isinstance(said, dict):
        return {key: nearly(value) for key, value in said.items()}
    if isinstance(said, list):
        return [nearly(value) for value in said]
    return pytest.approx(said, abs=1e-4) if isinstance(said, float) else said


@pytest.mark.parametrize(("lab_a", "end"), [("lab-a.db", "expected.json"), ("alone.db", "expected-alone.json")])
def test_three_sites_of_then_come_to_the_same_end(tmp_path, lab_a, end):
    expected = json.loads((FROZEN / end).read_text())
    files = [tmp_path / name for name in (lab_a, "lab-b.db", "lab-c.db")]
    for file in files:
        shutil.copy(FROZEN / file.name, file)
    with thawed_coordinator(tmp_path) as url:
        go_on([cboc.join(url, storage=file, policy=as_then(file)) for file in files], expected)
        for name, file in zip(SITES, files, strict=True):
            site = cboc.join(storage=file)
            for trial, row in zip(site.trials, expected[name], strict=True):
                assert seen(trial) == nearly(wanted(row)), trial.number
            about = SiteFile(file).about
            assert about["format"] == FORMAT == 3 and about["policy"]["seed"] == 5 and about["site"] == name
            there = site.network.membership()
            assert (about["agreement"], site.study.digest) == (there.agreement, there.digest)
            assert (about["agreement"]["pace"], about["agreement"]["deadline"]) == ("rounds", 3600.0)
    decisions = {row["decision"] for rows in expected.values() for row in rows}
    assert ("solo" in decisions) == (lab_a == "alone.db")


@pytest.mark.parametrize("name", ["lab-a", "lab-b", "lab-c", "alone"])
def test_a_file_of_then_opens_while_the_coordinator_is_down_and_opens_again(tmp_path, name):
    end = "expected-alone" if name == "alone" else "expected"
    expected = json.loads((FROZEN / f"{end}.json").read_text())
    file = thaw(tmp_path, f"{name}.db")
    first, again = (cboc.join(storage=file, patience=0.1) for _ in range(2))
    assert again.trials == first.trials and again.data == first.data and again.policy == first.policy
    told = [trial for trial in first.trials if trial.status in ("complete", "failed")]
    assert [seen(trial) for trial in told] == [wanted(row) for row in expected[first.name][: len(told)]]
    assert len(first.trials) - len(told) == (name != "lab-c")  # its proposal waits
    assert (first.initial, len(first.data)) == ((1, 2) if name == "lab-b" else (3, 0))
    about = SiteFile(file).about
    assert about["format"] == FORMAT and "pace" not in about["agreement"]  # nobody has told it yet
    with thawed_coordinator(tmp_path) as url:
        found = cboc.join(url, storage=file)
        assert found.trials == first.trials and found.study.deadline == 3600.0
        assert SiteFile(file).about["agreement"]["pace"] == "rounds"


def test_a_file_of_then_keeps_its_five_initial_experiments_per_parameter(tmp_path):
    file = thaw(tmp_path, "lab-a.db")
    execute(file, "UPDATE about SET value = 'null' WHERE key = 'initial'")
    assert cboc.join(storage=file, patience=0.1).initial == 20
    execute(file := thaw(tmp_path, "lab-c.db"), "DELETE FROM about WHERE key IN ('initial', 'agreement', 'site')")
    assert SiteFile(file).about["policy"]["initial"] is None  # it has not joined yet


def test_a_coordinator_of_another_study_is_refused(tmp_path):
    """An agreement of then has no pace and no deadline, but all the rest of it counts."""
    file = thaw(tmp_path, "lab-a.db")
    execute(file, "UPDATE about SET value = json_set(value, '$.horizon', 7) WHERE key = 'agreement'")
    with thawed_coordinator(tmp_path) as url, pytest.raises(CbocError, match="runs another study"):
        cboc.join(url, storage=file)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE trials SET row = '{' WHERE number = 1",
        "UPDATE trials SET row = '{}' WHERE number = 1",
        "UPDATE trials SET row = json_remove(row, '$.number') WHERE number = 1",
        "UPDATE trials SET row = json_remove(row, '$.weights') WHERE number = 3",
        "UPDATE trials SET row = json_set(row, '$.proposed[0]', 1.5) WHERE number = 0",
        "UPDATE trials SET row = json_set(row, '$.decision', 'lonely') WHERE number = 4",
        "UPDATE trials SET row = json_set(row, '$.y', 'much') WHERE number = 2",
        "DELETE FROM trials WHERE number = 2",
        "UPDATE about SET value = '{' WHERE key = 'seed'",
    ],
)
def test_a_file_of_then_that_is_damaged_is_refused_and_left_as_it_was(tmp_path, damage):
    file = thaw(tmp_path, "lab-a.db")
    execute(file, damage)
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(CbocError, match=r"lab-a.db is damaged; restore an earlier copy\.$") as refusal:
            cboc.join(storage=file, patience=0.1)
        assert "\n" not in str(refusal.value)
    assert file.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["lab-a.db"]


def test_what_left_then_is_still_shown_and_looked_through(tmp_path):
    """Messages of then have other words; the outcomes from before the study are looked for in them all the same."""
    file = thaw(tmp_path, "lab-b.db")
    sent, space = SiteFile(file).sent(), cboc.join(storage=file, patience=0.1).study.space
    assert sum(line.count for line in lines(sent, space)) == len(sent) > 0
    audit = CliRunner().invoke(app, ["audit", "--file", str(file)])
    assert audit.exit_code == 0 and "none of them has left" in audit.stderr.replace("\n", " ")
    known = {1.25, 2.5, 0.125}  # of tests/frozen/make.py
    execute(file, "UPDATE sent SET body = ? WHERE id = 1", json.dumps({"x": [1.25]}).encode())
    reseal(file)
    audit = CliRunner().invoke(app, ["audit", "--file", str(file)])
    assert "1 of them is among the numbers that left: [1.25]" in audit.stderr.replace("\n", " ")
    assert known <= {float(y) for name in ("y", "sem") for y in SiteFile(file).about["data"][name] if y is not None}
