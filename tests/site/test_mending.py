"""What was told can be taken back, and a person can write beside it; nothing of that leaves."""

import numpy as np
import pytest

from cboc import CbocError, Ledger, Policy, Site, Space, Study
from cboc.site.remark import LONGEST, as_remark
from cboc.site.trial import Status, Trial

SPACE = Space({"a": (0.0, 1.0), "b": (-5.0, 5.0)})


def pair(**options):
    study = Study(SPACE, ("x", "y"), 6, **options)
    ledger = Ledger(study)
    return [Site(study, name, ledger, direction="minimise", policy=Policy(initial=2, seed=1)) for name in study.sites]


def lab():
    return pair()[0]


TOLD = {
    "an outcome": lambda site, trial: site.tell(trial, 89.0, cost=2.0),
    "a failure": lambda site, trial: site.fail(trial, "the column clogged", cost=2.0),
    "nothing": lambda site, trial: site.abandon(trial, cost=2.0),
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_a_trial_that_is_reopened_is_as_if_nothing_had_been_told(told):
    site, untouched = lab(), lab()
    for each in (site, untouched):
        each.tell(each.ask(), 0.5)
    before = site.ask()
    told(site, before)
    reopened = site.reopen(site.trial(1))
    assert reopened.status is Status.PENDING and "taken back, it was" in reopened.note
    assert site.ask() == reopened and site.cost == 0.0
    assert len(site.dataset) == 1 and len(site.dataset.failures) == 0
    site.tell(reopened, 0.25)
    untouched.tell(untouched.ask(), 0.25)
    assert site.trials == untouched.trials and site.ask() == untouched.ask()


def test_a_reopened_trial_of_a_finished_study_may_be_told_anew():
    site = lab()
    for _ in range(8):
        site.tell(site.ask(), 0.5)
    assert site.is_finished
    last = site.reopen(site.trials[-1])
    assert not site.is_finished and site.ask() == last
    site.tell(last, 0.25)
    assert site.is_finished and site.best.y == 0.25


def test_what_was_shared_stays_shared():
    x, y = pair()
    for site in (x, y):
        for y_ in (0.5, 0.25):
            site.tell(site.ask(), y_)
    proposed = x.propose()
    handed_in = x.proposal(proposed)
    x.reopen(x.trial(1))
    assert x.proposal(x.trial(proposed.number)) == handed_in
    assert x.network.news("y").others == handed_in.bests
    assert x.best.y == 0.5


def test_what_cannot_be_taken_back_is_named():
    site = lab()
    trial = site.ask()
    with pytest.raises(CbocError, match="trial 0 of 'x' has no result yet; there is nothing to take back"):
        site.reopen(trial)
    for _ in range(2):
        site.tell(site.ask(), 0.5)
    proposed = site.propose()
    with pytest.raises(CbocError, match="has no design to run yet; ask"):
        site.reopen(proposed)


def test_a_turn_that_was_given_up_before_it_was_answered_stays_so():
    x, _ = pair(pace="rounds")
    for _ in range(2):
        x.tell(x.ask(), 0.5)
    x._hand_in = lambda _: (_ for _ in ()).throw(CbocError("stopped here"))
    with pytest.raises(CbocError, match="stopped here"):
        x.propose()
    x.abandon(x.trials[-1])
    with pytest.raises(CbocError, match="was abandoned before it had a design to run; ask"):
        x.reopen(x.trials[-1])


def test_a_remark_stays_with_its_trial_whatever_is_told():
    site = lab()
    trial = site.annotate(site.ask(), "new batch of buffer")
    told = site.tell(trial, 0.5)
    assert told.remark == "new batch of buffer" and told.note == ""
    corrected = site.tell(told, 0.25, is_correction=True)
    assert site.reopen(corrected).remark == "new batch of buffer"
    assert site.annotate(site.trial(0), "").remark == ""
    assert Trial.from_row(told.to_row()) == told


def test_a_remark_changes_no_design():
    plain, remarked = lab(), lab()
    for _ in range(4):
        for site in (plain, remarked):
            trial = site.ask()
            site.tell(trial, float(np.sum(trial.x**2)))
        remarked.annotate(remarked.trials[-1], "windy")
    assert [trial.proposed for trial in plain.trials] == [trial.proposed for trial in remarked.trials]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("  two\r\nlines\r", "two\nlines"),
        ("a\ttab and a\u00a0blank", "a tab and a blank"),
        ("Ü, 日本, 🧪", "Ü, 日本, 🧪"),
        ("", ""),
    ],
)
def test_a_remark_is_kept_as_people_see_it(written, kept):
    assert as_remark(written) == kept


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x" * (LONGEST + 1), f"trial 0 of 'x': a remark has at most {LONGEST} characters; this one has {LONGEST + 1}"),
        ("bell\x07", r"is none of them: leave it out"),
        ("\u202eback to front", r"'\\u202e' is none of them"),
        ("half \ud800", r"'\\ud800' is none of them"),
        (7, "a remark is a text"),
    ],
)
def test_what_is_no_remark_is_refused_in_a_sentence(text, complaint):
    site = lab()
    trial = site.ask()
    with pytest.raises(CbocError, match=complaint):
        site.annotate(trial, text)
    assert site.trials == [trial]


def test_a_reason_is_kept_as_it_can_be_read():
    """A program may say anything, and pages, terminals and tables show it."""
    site = lab()
    failed = site.fail(site.ask(), "a\x1b[2J\u202eb\nline 2")
    assert failed.note == "a\\x1b[2J\\u202eb\nline 2"
    failed = site.fail(site.ask(), "long " * LONGEST)
    assert len(failed.note) == LONGEST and failed.note.endswith(" …")


def test_a_remark_takes_signs_that_are_joined():
    assert as_remark("👩‍🔬 می‌خواهم") == "👩‍🔬 می‌خواهم"
