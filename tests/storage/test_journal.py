"""Journals and runs of version 0.1.0 are read, and not continued."""

import json
import shutil
from pathlib import Path

import pytest

from cboc import CbocError, Policy, Study, simulate
from cboc.advice.advice import advise
from cboc.runs.run import ALONE, TOGETHER, Run, begin
from cboc.site.trial import Decision, Status
from cboc.storage.journal import Journal, read_journal
from cboc.strategy.verdict import Stance
from cboc.studyfile.reading import read

FROZEN = Path(__file__).parents[1] / "frozen"
PAIR = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ("lab-a", "lab-b"), 3, name="journal", pace="rounds")


def bowl(name):
    """As it was when the journal was written."""
    shift = PAIR.sites.index(name) / 10
    return lambda design: round((design["a"] - 0.3 - shift) ** 2 + (design["b"] / 5.0 + shift) ** 2, 6)


EXPERIMENTS = {name: bowl(name) for name in PAIR.sites}


def run(path=None):
    policy = Policy(initial=2, seed=1)
    return simulate(PAIR, EXPERIMENTS, direction="minimise", policy=policy, journal=path)


def kept(trial):
    """What version 0.1.0 kept of a trial, too: all but what a verdict adds to the decision; and its numbers apart.

    Designs lie on a grid, and are the same on every processor. Other numbers may differ in their last bits.
    """
    row, numbers = trial.to_row(), []
    if trial.turn is not None:
        note = {name: value for name, value in row["turn"]["note"].items() if name != "memory"}
        numbers = [note.pop("log_worth"), *(trial.turn.note.memory or ())]
        row["turn"] |= {"note": note}
    if trial.answer is not None:
        row["turn"] |= {"answer": row["turn"]["answer"] | {"verdict": trial.answer.verdict.follows}}
        numbers.append(trial.answer.verdict.log_worth)
    return row, numbers


def test_an_old_journal_is_read_and_today_finds_the_same():
    header, trials, length = read_journal(FROZEN / "journal.jsonl")
    assert header["format"] == 1 and length == (FROZEN / "journal.jsonl").stat().st_size
    assert len(trials) == 10 and {trial.status for trial in trials.values()} == {Status.COMPLETE}
    now = {(trial.site, trial.number): trial for trial in run().trials}
    assert trials.keys() == now.keys()
    for key, trial in trials.items():
        (row, numbers), (row_now, numbers_now) = kept(trial), kept(now[key])
        assert row == row_now and numbers == pytest.approx(numbers_now, rel=1e-9)


def test_an_old_journal_is_not_continued(tmp_path):
    path = tmp_path / "journal.jsonl"
    shutil.copy(FROZEN / "journal.jsonl", path)
    before = path.read_bytes()
    sentence = r"was written by an earlier version of cboc; it can be read, but not continued: choose another file"
    with pytest.raises(CbocError, match=sentence):
        run(path)
    with pytest.raises(CbocError, match=sentence):
        Journal(path, {})
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", [TOGETHER, ALONE])
def test_an_old_run_is_read(how):
    old = Run(FROZEN / "run")
    assert old.seeds(how) == [0] and old.study.sites == ("lab-a", "lab-b")
    history = old.history(how, 0)
    assert len(history.trials) == 8
    for site in old.study.sites:
        assert [trial.number for trial in history.of(site)] == [0, 1, 2, 3]
        assert len(history.best_so_far(site)) == 3
        advice = advise(old.site(history, site, 0))
        assert advice.sentence and advice.shared.trials + advice.own.trials == 2
    assert old.optima is not None and old.noiseless(history).study == history.study
    decisions = {trial.decision for trial in history.trials if trial.turn is not None}
    assert decisions <= ({Decision.FOLLOWED, Decision.DECLINED} if how == TOGETHER else {Decision.FOLLOWED})
    stances = {trial.turn.note.stance for trial in history.trials if trial.turn is not None}
    assert stances <= ({*Stance} if how == TOGETHER else {None})


def test_an_old_run_is_not_continued(tmp_path):
    shutil.copytree(FROZEN / "run", tmp_path / "run")
    file = read(FROZEN / "study.toml")
    with pytest.raises(CbocError, match=r"written by an earlier version of cboc; .* or start anew with --fresh"):
        begin(tmp_path / "run", file, is_resumed=True, is_fresh=False)
    begin(tmp_path / "run", file, is_resumed=False, is_fresh=True)
    begin(tmp_path / "run", file, is_resumed=True, is_fresh=False)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["format"] == 2


@pytest.mark.parametrize("line", ["[]", "5", '"trial"', "null", '{"site": "lab-a"}', '{"site": "lab-a", "number": 0}'])
def test_a_damaged_line_of_an_old_journal_is_named(tmp_path, line):
    path = tmp_path / "journal.jsonl"
    lines = (FROZEN / "journal.jsonl").read_text().splitlines()
    path.write_text("\n".join([*lines[:4], line, *lines[5:]]) + "\n")
    with pytest.raises(CbocError, match=r"journal\.jsonl, line 5 is damaged"):
        read_journal(path)


@pytest.mark.parametrize("name", ["y", "agreed", "weights", "proposed", "round", "warm_start", "others", "best"])
def test_damage_in_an_old_row_is_named(tmp_path, name):
    path = tmp_path / "journal.jsonl"
    lines = (FROZEN / "journal.jsonl").read_text().splitlines()
    row = json.loads(lines[-1])
    assert name in row
    path.write_text("\n".join([*lines[:-1], json.dumps(row | {name: "much"})]) + "\n")
    with pytest.raises(CbocError, match=r"journal\.jsonl, line 27 is damaged"):
        read_journal(path)
