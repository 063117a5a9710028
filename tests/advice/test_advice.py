from dataclasses import replace

import numpy as np
import pytest

from cboc import Counsel, Guide, Ledger, Measurement, Policy, Site, Study, collaborative
from cboc.advice.advice import Count, advise
from cboc.site.trial import Answer, Decision, Status, Trial, Turn
from cboc.strategy.bayesian import UTILITIES, Bayesian
from cboc.strategy.verdict import Note, Stance, Verdict
from cboc.utility.utility import Custom

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
STUDY = Study(SPACE, ("x", "y", "z"), 30)


def rng(seed=0):
    return np.random.default_rng(seed)


def trial(number, x, y, *, turn=None, decision=Decision.FOLLOWED, mix=None, others=(), pull=0.0):
    x = tuple(map(float, x))
    if turn is not None:
        verdict = Verdict(decision == Decision.FOLLOWED)
        turn = Turn(turn, Note(pull=pull), (), Answer(mix or x, (0.5, 0.5, 0.0), turn, verdict, None, others))
    decision = Decision.INITIAL if turn is None else decision
    return Trial("x", number, Status.COMPLETE, x, turn, decision, x, {"y": Measurement(y)})


def site(others, centre=0.5, n=24, turns=1, strategy=None):
    """One whose outcomes are best at a place, and that has heard where the others' are."""
    X = rng(1).random((n, 2))
    y = -((X - centre) ** 2).sum(axis=1)
    trials = [trial(k, x, value) for k, (x, value) in enumerate(zip(X, y, strict=True))]
    heard = () if others is None else tuple(tuple(point) for point in others.tolist())
    trials += [trial(n + t, X[0], y[0], turn=t, others=heard, pull=1.0) for t in range(turns)]
    policy = Policy(strategy or collaborative())
    return Site(STUDY, "x", Ledger(STUDY), direction="maximise", policy=policy, trials=trials)


def around(centre, count=8, spread=0.1):
    return np.clip(centre + spread * rng(9).standard_normal((count, 2)), 0.0, 1.0)


@pytest.mark.parametrize(
    ("others", "centre", "beginning"),
    [
        (
            None,
            0.5,
            "Go on with care: nobody's best design is known yet, so you run a shared design only if it",
        ),
        (around(0.5), 0.5, "Go on together: the sites' best designs lie together, and your own outcomes do not contra"),
        (
            rng(7).random((4, 2)),
            0.5,
            "Go on with care: the sites' best designs are not clearly close to each other yet",
        ),
        (around(np.array([0.8, 0.2])), np.array([0.1, 0.9]), "You work alone now, because your outcomes contradict"),
    ],
)
def test_the_sentence_says_what_the_site_does(others, centre, beginning):
    asked = site(others, centre)
    advice = advise(asked)
    assert advice.sentence.startswith(beginning)
    if others is not None:
        note = asked.propose().turn.note
        assert (note.stance is Stance.ALONE) == beginning.startswith("You work alone")
        assert (note.stance is Stance.DOUBT) == beginning.startswith("Go on with care")
        assert note.log_odds == pytest.approx(advice.log_odds)


def test_who_follows_no_mix_in_doubt_is_told_that_it_works_alone():
    def sentence(guide):
        return advise(site(rng(7).random((4, 2)), strategy=collaborative(guide=guide))).sentence

    assert sentence(Guide(doubt=2.0)).startswith("You work alone now, because the sites' best designs are not clearly")
    assert sentence(Guide(doubt=0.0)).startswith(
        "Go on: you run shared designs that promise enough, though the sites' best designs"
    )
    assert sentence(lambda utility, _: Counsel(utility)) == "Go on together: your guide says so."


UNDRAWN = {name: utility for name, utility in UTILITIES.items() if name not in ("log_ei", "noisy_ei")}
UNDRAWN["custom"] = lambda gp, _: Custom(lambda X: gp.moments(X)[1], anchors=gp.X)


@pytest.mark.parametrize("utility", UNDRAWN.values(), ids=UNDRAWN)
def test_who_cannot_be_drawn_is_told_why(utility):
    asked = site(around(0.5), strategy=collaborative(Bayesian(utility)))
    reason = "your utility is not a logarithm, so the others' best designs cannot draw it"
    assert advise(asked).sentence == f"Go on: you run shared designs that promise enough, though {reason}."
    note = asked.propose().turn.note
    assert (note.stance, note.reason, note.pull) == (Stance.TOGETHER, reason, 0.0)


@pytest.mark.parametrize("utility", [UTILITIES["log_ei"], UTILITIES["noisy_ei"]], ids=["log_ei", "noisy_ei"])
def test_who_can_be_drawn_is(utility):
    asked = site(around(0.5), strategy=collaborative(Bayesian(utility)))
    assert advise(asked).sentence.startswith("Go on together: the sites' best designs lie together")
    assert asked.propose().turn.note.reason == ""


def test_a_strategy_without_a_guide_is_told_that_it_has_none():
    asked = site(around(0.5), strategy=Bayesian())
    assert advise(asked).sentence == "Your strategy has no guide, so the others' best designs change nothing for you."


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (Study(SPACE, ("x", "y"), 30, shares_best=False), "Your own judgement decides"),
        (Study(SPACE, ("x", "y"), 30, rule="identity", shares_best=False), "Everybody works alone in this study."),
        (Study(SPACE, ("x",), 30), "Everybody works alone in this study."),
        (STUDY, "Nothing to judge by yet: you have no outcome."),
    ],
)
def test_where_the_guide_is_not_asked_that_is_said(study, sentence):
    new = Site(study, "x", Ledger(study), direction="maximise")
    assert advise(new).sentence.startswith(sentence)


def test_a_model_that_predicts_nothing_says_nothing_of_the_gain():
    known = site(around(0.5))
    noise = [
        replace(trial, outcomes={"y": Measurement(y)})
        for trial, y in zip(known.trials, rng(4).standard_normal(99), strict=False)
    ]
    known = Site(STUDY, "x", Ledger(STUDY), direction="maximise", trials=noise)
    assert advise(known).fit <= 0.0 and advise(known).solo is None
    assert advise(site(around(0.5))).solo is not None


def test_experiments_are_counted_by_kind():
    plain = site(None, n=6, turns=0)
    best = plain.dataset.best.y
    plain.trials.extend(
        [
            trial(6, (0.1, 0.1), best + 1.0, turn=0, pull=1.0),
            trial(7, (0.2, 0.1), best, turn=1, mix=(0.3, 0.3)),
            trial(8, (0.3, 0.1), best + 2.0, turn=2, decision=Decision.CONTRADICTED, mix=(0.5, 0.5)),
            trial(9, (0.4, 0.1), best + 3.0, turn=3, decision=Decision.DECLINED, mix=(0.5, 0.5)),
            trial(10, (0.5, 0.1), best, turn=4),
        ]
    )
    advice = advise(plain)
    assert advice.shared == Count(2, 1) and advice.own == Count(3, 2)


def test_a_model_is_judged_from_a_few_outcomes_on():
    assert advise(site(None, n=2, turns=0)).fit is None
    assert 0.5 < advise(site(None, n=30, turns=0)).fit <= 1.0


def test_a_site_that_has_run_nothing_of_the_others_would_have_found_the_same_alone():
    one = site(around(0.5))
    last = one.trials[-1]
    own = replace(last, decision=Decision.DECLINED, turn=replace(last.turn, note=Note()))
    advice = advise(Site(STUDY, "x", Ledger(STUDY), direction="maximise", trials=[*one.trials[:-1], own]))
    assert advice.shared.trials == 0 and advice.own.trials > 0 and advice.solo is None
    assert advice.comparison == "So far nothing of the others was run, so you would have found the same alone."


def test_a_neighbour_whose_best_design_is_poor_here_is_named():
    here = site(np.array([[0.5, 0.45], [0.0, 1.0]]))  # of y and z; the own outcomes are best in the middle
    advice = advise(here)
    assert advice.contradicted == ("z",)
    assert advice.warning.startswith("What is best for 'z' is poor here")


@pytest.mark.parametrize("others", [None, np.array([[0.5, 0.45]]), np.array([[0.0, 1.0]])])
def test_nobody_is_named_if_it_is_not_known_whose_a_design_is(others):
    assert advise(site(others)).contradicted == () and advise(site(others)).warning == ""


def test_a_surrogate_that_predicts_nothing_contradicts_nobody():
    others = np.array([[0.5, 0.45], [0.0, 1.0]])
    noise = [
        replace(t, outcomes={"y": Measurement(y)})
        for t, y in zip(site(others).trials, rng(4).standard_normal(99), strict=False)
    ]
    known = Site(STUDY, "x", Ledger(STUDY), direction="maximise", trials=noise)
    assert advise(known).fit <= 0.0 and advise(known).contradicted == ()
