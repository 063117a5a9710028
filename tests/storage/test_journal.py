"""Journals: one writer, no damage that goes unseen; old ones are read, and those of format 2 go on with checksums."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from cboc import CbocError, Policy, Study, simulate
from cboc.advice.advice import advise
from cboc.runs.repetitions import repetitions
from cboc.runs.run import ALONE, TOGETHER, Run, begin
from cboc.site.trial import Decision, Status, may_follow
from cboc.storage.journal import Journal, read_journal
from cboc.strategy.collaborative import collaborative
from cboc.strategy.guide.decision import Guide
from cboc.strategy.verdict import Stance
from cboc.studyfile.reading import read

from .tampering import reseal_lines

FROZEN = Path(__file__).parents[1] / "frozen"
PAIR = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ("lab-a", "lab-b"), 3, name="journal", pace="rounds")


def bowl(name):
    """As it was when the journal was written."""
    shift = PAIR.sites.index(name) / 10
    return lambda design: round((design["a"] - 0.3 - shift) ** 2 + (design["b"] / 5.0 + shift) ** 2, 6)


EXPERIMENTS = {name: bowl(name) for name in PAIR.sites}


def run(path=None, guide=None):
    policy = Policy(collaborative(guide=guide), initial=2, seed=1)
    return simulate(PAIR, EXPERIMENTS, direction="minimise", policy=policy, journal=path)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The lines of a journal of today."""
    path = tmp_path_factory.mktemp("today") / "journal.jsonl"
    run(path)
    return path.read_text().splitlines()


def put(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def status_of(line):
    return json.loads(line).get("status")


def test_a_journal_has_one_writer_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("cboc.storage.lock.monotonic", iter(range(0, 10**6, 10)).__next__)  # no patience
    path = tmp_path / "journal.jsonl"
    first = Journal(path, {"study": PAIR.agreement()})
    for _ in range(2):
        with pytest.raises(CbocError, match="another process is writing .*journal.jsonl; wait until it ends"):
            Journal(path, {"study": PAIR.agreement()})
    first.close()
    Journal(path, {"study": PAIR.agreement()}).close()


def test_two_simulations_do_not_share_a_journal(tmp_path, monkeypatch):
    monkeypatch.setattr("cboc.storage.lock.monotonic", iter(range(0, 10**6, 10)).__next__)
    path, policy, tried = tmp_path / "journal.jsonl", Policy(initial=2, seed=1), []

    def meanwhile(_):
        if not tried:
            tried.append(True)
            with pytest.raises(CbocError, match="another process is writing"):
                run(path)

    simulate(PAIR, EXPERIMENTS, direction="minimise", policy=policy, journal=path, on_trial=meanwhile)
    assert tried and run(path).trials == run().trials


@pytest.mark.parametrize("where", ["/proc/nobody", "/dev/null/journal.jsonl", "."])
def test_a_place_that_takes_no_journal_is_named(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CbocError, match="cannot write .*; choose another file"):
        run(where)


def test_a_status_that_goes_backwards_is_damage(tmp_path, written):
    places = [k for k, line in enumerate(written) if {"site": "lab-a", "number": 2}.items() <= json.loads(line).items()]
    assert [status_of(written[k]) for k in places] == ["proposed", "submitted", "pending", "complete"]
    for early, late in [(0, 1), (1, 2), (2, 3), (1, 3)]:
        lines = list(written)
        lines[places[early]], lines[places[late]] = lines[places[late]], lines[places[early]]
        path = put(tmp_path / "journal.jsonl", lines)
        with pytest.raises(
            CbocError, match=rf"line {places[early] + 1} is damaged; restore the file, or delete it from"
        ):
            read_journal(path)
        with pytest.raises(CbocError, match=r"line \d+ is damaged: trial 2 of 'lab-a' went from \w+ back to \w+; rest"):
            read_journal(reseal_lines(path))


@pytest.mark.parametrize(
    ("before", "now", "is_fine"),
    [
        ("failed", "complete", True),
        ("failed", "abandoned", True),
        ("complete", "complete", True),
        ("pending", "abandoned", True),
        ("proposed", "pending", True),
        ("complete", "failed", False),
        ("abandoned", "complete", False),
        ("failed", "pending", False),
        ("stopped", "proposed", False),
    ],
)
def test_which_status_may_follow_which(before, now, is_fine):
    assert may_follow(Status(now), Status(before)) == is_fine


DAMAGES = {
    "another objective": lambda row: row | {"outcomes": {"z": {"mean": 1.0}}},
    "more coordinates": lambda row: row | {"proposed": [0.5] * 3, "executed": [0.5] * 3},
    "another site": lambda row: row | {"site": "lab-z"},
    "too few weights": lambda row: _in_answer(row, weights=[1.0]),
    "another leader": lambda row: _in_answer(row, leader="lab-z"),
    "others elsewhere": lambda row: _in_answer(row, others=[[0.5]]),
}


def _in_answer(row, **changes):
    return row | {"turn": row["turn"] | {"answer": row["turn"]["answer"] | changes}}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_row_that_no_site_of_the_study_wrote_is_damage(tmp_path, written, damage):
    place = max(k for k, line in enumerate(written) if status_of(line) == "complete" and "answer" in line)
    lines = [*written[:place], json.dumps(damage(json.loads(written[place]))), *written[place + 1 :]]
    with pytest.raises(CbocError, match=rf"journal\.jsonl, line {place + 1} is damaged"):
        read_journal(reseal_lines(put(tmp_path / "journal.jsonl", lines)))


def test_a_line_that_is_missing_doubled_or_elsewhere_is_damage(tmp_path, written):
    for k in (1, 4, len(written) - 3):
        changes = (
            written[:k] + written[k + 1 :],
            written[: k + 1] + written[k:],
            [*written[:k], written[k + 1], written[k], *written[k + 2 :]],
            [*written[:k], json.dumps({n: v for n, v in json.loads(written[k]).items() if n != "checksum"})],
        )
        for lines in changes:
            with pytest.raises(CbocError, match=r"journal\.jsonl, line \d+ is damaged; restore the file, or delete it"):
                read_journal(put(tmp_path / "journal.jsonl", lines))
        whole = read_journal(put(tmp_path / "journal.jsonl", written[:k]))  # what the sentence offers
        assert whole[2] == len("\n".join(written[:k])) + 1


def test_a_last_line_whose_end_was_changed_was_not_cut_off(tmp_path, written):
    path = put(tmp_path / "journal.jsonl", written)
    path.write_bytes(path.read_bytes()[:-1] + b"\x0b")
    with pytest.raises(CbocError, match="is damaged at the end of its last line"):
        read_journal(path)


def test_only_its_owner_may_read_a_new_journal(tmp_path):
    kept = os.umask(0o000)
    try:
        Journal(tmp_path / "new.jsonl", {}).close()
        (tmp_path / "old.jsonl").touch(0o640)
        Journal(tmp_path / "old.jsonl", {}).close()
    finally:
        os.umask(kept)
    assert stat.S_IMODE((tmp_path / "new.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "old.jsonl").stat().st_mode) == 0o640  # somebody has chosen that


def as_format_2(lines):
    """What the version before this one would have written."""
    rows = [{n: v for n, v in json.loads(line).items() if n != "checksum"} for line in lines]
    return [json.dumps(row | ({"format": 2} if "format" in row else {})) for row in rows]


@pytest.mark.parametrize("kept", [1, 5, 14])
def test_a_journal_of_format_2_goes_on_with_checksums_bit_for_bit(tmp_path, written, kept):
    path = put(tmp_path / "journal.jsonl", [*as_format_2(written[:kept]), '{"site": "lab-a", "num'])
    path.write_bytes(path.read_bytes()[:-1])  # a kill cut the last line
    assert run(path).trials == run().trials == run(path).trials  # from the file, and from it alone
    lines = path.read_text().splitlines()
    assert lines[:kept] == as_format_2(written[:kept]) and as_format_2(lines) == as_format_2(written)
    assert all("checksum" in json.loads(line) for line in lines[kept:])
    for k in (0, kept - 1, kept, len(lines) - 1):  # the checksums are of the old lines as well
        changed = [*lines[:k], lines[k].replace("0", "1", 1), *lines[k + 1 :]]
        with pytest.raises(CbocError, match=r"is damaged|is not a journal"):
            read_journal(put(tmp_path / "changed.jsonl", changed))


def test_a_frozen_journal_of_format_2_is_read_and_continued(tmp_path):
    frozen = FROZEN / "format2" / "journal.jsonl"
    header, trials, length = read_journal(frozen)
    assert (header["format"], len(trials), length) == (2, 12, frozen.stat().st_size)
    path, lines = tmp_path / "journal.jsonl", frozen.read_text().splitlines()
    put(path, lines[:-1])
    Journal(path, {name: value for name, value in header.items() if name != "format"}).close()
    with pytest.raises(CbocError, match="belongs to another study .it differs in: plate"):
        Journal(path, {name: value for name, value in header.items() if name != "format"} | {"plate": 2})
    assert path.read_text().splitlines() == lines[:-1]


def test_a_journal_cut_within_its_header_is_begun_again(tmp_path, written):
    header, expected = written[0].encode(), run().trials
    for cut in (0, 1, 40, len(header)):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(header[:cut])
        assert run(path).trials == expected and path.read_text().splitlines()[0] == written[0]


@pytest.mark.parametrize("content", [b"hello", b'{"format": 3, "study": {"name": "another"', b'{"format": 1'])
def test_a_line_that_is_not_the_beginning_of_ours_is_left_alone(tmp_path, content):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)
    with pytest.raises(CbocError, match="is not a journal of this version"):
        run(path)
    assert path.read_bytes() == content


def test_a_run_whose_journal_was_cut_within_its_header_goes_on(tmp_path):
    file = read(FROZEN / "study.toml")
    today = begin(tmp_path / "run", file, is_resumed=False, is_fresh=False)
    today.journal(TOGETHER, 0).write_text('{"format"')
    assert today.seeds(TOGETHER) == []
    assert [job.done for job in repetitions(file, today, seeds=1, with_alone=False)] == [0]


def test_what_is_written_reaches_the_disk_within_a_second_and_at_the_end(tmp_path, monkeypatch):
    now, synced = [0.0], []
    monkeypatch.setattr("cboc.storage.journal.monotonic", lambda: now[0])
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(now[0]))
    trials = run().trials
    book = Journal(tmp_path / "journal.jsonl", {})
    for k in range(8):
        now[0] = 0.4 * k
        book.append(trials[k])
    assert synced == pytest.approx([0.0, 1.2, 2.4])
    book.close()
    assert synced == pytest.approx([0.0, 1.2, 2.4, 2.8])


def test_an_old_journal_is_read_and_today_begins_in_the_same_way():
    """What a site thinks after its initial designs is of today: its surrogate is fitted in another way since then."""
    header, trials, length = read_journal(FROZEN / "journal.jsonl")
    assert header["format"] == 1 and length == (FROZEN / "journal.jsonl").stat().st_size
    assert len(trials) == 10 and {trial.status for trial in trials.values()} == {Status.COMPLETE}
    now = {(trial.site, trial.number): trial for trial in run(guide=Guide(patience=0.0)).trials}  # as it was then
    assert trials.keys() == now.keys()
    initial = [key for key, trial in trials.items() if trial.turn is None]
    assert len(initial) == 4 and all(trials[key].to_row() == now[key].to_row() for key in initial)


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
