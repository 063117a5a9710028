from dataclasses import replace

import numpy as np
import pytest

from cboc import Ledger, Site, Study
from cboc.advice.advice import Count, advise
from cboc.site.trial import Decision, Status, Trial
from cboc.strategy.guide.guide import ALONE, Counsel, Guide

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
STUDY = Study(SPACE, ("x", "y", "z"), 30)


def rng(seed=0):
    return np.random.default_rng(seed)


def trial(number, x, y, *, round=None, **more):
    x = tuple(map(float, x))
    decision = Decision.INITIAL if round is None else more.pop("decision", Decision.FOLLOWED)
    kept = {"proposed": x, "agreed": None if round is None else x, "executed": x, "y": float(y)} | more
    return Trial("x", number, Status.COMPLETE, round=round, decision=decision, **kept)


def site(others, centre=0.5, n=24, rounds=1):
    """One whose outcomes are best at a place, and that has heard where the others' are."""
    X = rng(1).random((n, 2))
    y = -((X - centre) ** 2).sum(axis=1)
    trials = [trial(k, x, value) for k, (x, value) in enumerate(zip(X, y, strict=True))]
    heard = None if others is None else tuple(tuple(point) for point in others.tolist())
    trials += [trial(n + t, X[0], y[0], round=t, others=heard, pull=1.0) for t in range(rounds)]
    return Site(STUDY, "x", Ledger(STUDY), direction="maximise", trials=trials)


def around(centre, count=8, spread=0.1):
    return np.clip(centre + spread * rng(9).standard_normal((count, 2)), 0.0, 1.0)


@pytest.mark.parametrize(
    ("others", "centre", "beginning"),
    [
        (None, 0.5, "In doubt, for nobody's best design is known yet. Go on: you run a mix only if it keeps 50 %"),
        (around(0.5), 0.5, "Go on together: the sites' best designs lie together, and your own outcomes do not contra"),
        (rng(7).random((4, 2)), 0.5, "In doubt, for there is too little evidence that the sites' best designs lie"),
        (around(np.array([0.8, 0.2])), np.array([0.1, 0.9]), "You work alone now, for your outcomes contradict"),
    ],
)
def test_the_sentence_says_what_the_site_does(others, centre, beginning):
    asked = site(others, centre)
    advice = advise(asked)
    assert advice.sentence.startswith(beginning)
    if others is not None:
        next_one = asked._proposed_trial()
        assert (next_one.pull is None) == beginning.startswith("You work alone")
        assert (next_one.keeps is not None) == beginning.startswith("In doubt")
        assert next_one.evidence == pytest.approx(advice.evidence)


def test_who_follows_no_mix_in_doubt_is_told_that_it_works_alone():
    asked = site(rng(7).random((4, 2)))
    asked.guide = Guide(doubt=ALONE)
    assert advise(asked).sentence.startswith("You work alone now, for there is too little evidence")
    asked.guide = Guide(doubt=0.0)
    assert advise(asked).sentence.startswith("You mix as far as your gate lets, though there is too little evidence")
    asked.guide = lambda utility, *_: Counsel(utility)
    assert advise(asked).sentence == "Go on together: your guide says so."


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (Study(SPACE, ("x", "y"), 30, shares_best=False), "Your gate alone decides"),
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
    noise = [replace(trial, y=float(y)) for trial, y in zip(known.trials, rng(4).standard_normal(99), strict=False)]
    known = Site(STUDY, "x", Ledger(STUDY), direction="maximise", trials=noise)
    assert advise(known).fit <= 0.0 and advise(known).solo is None
    assert advise(site(around(0.5))).solo is not None


def test_experiments_are_counted_by_kind():
    plain = site(None, n=6, rounds=0)
    best = plain.dataset.best.y
    plain.trials.extend(
        [
            trial(6, (0.1, 0.1), best + 1.0, round=0, pull=1.0),
            trial(7, (0.2, 0.1), best, round=1, agreed=(0.3, 0.3)),
            trial(8, (0.3, 0.1), best + 2.0, round=2, decision=Decision.ALONE, agreed=(0.5, 0.5)),
            trial(9, (0.4, 0.1), best + 3.0, round=3, decision=Decision.DECLINED, agreed=(0.5, 0.5)),
            trial(10, (0.5, 0.1), best, round=4),
        ]
    )
    advice = advise(plain)
    assert advice.shared == Count(2, 1) and advice.own == Count(3, 2)


def test_a_model_is_judged_from_a_few_outcomes_on():
    assert advise(site(None, n=2, rounds=0)).fit is None
    assert 0.5 < advise(site(None, n=30, rounds=0)).fit <= 1.0
