"""The wrapper that has a strategy drawn to the others' best designs."""

from dataclasses import dataclass
from math import log

import numpy as np
import pytest

from cboc import CbocError, Counsel, Dataset, Guide, Guided, Space
from cboc.search.maximise import maximise
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.strategy.guide.guided import GuidedOpinion
from cboc.strategy.opinion import Heard
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Stance, Verdict

SPACE = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})
OTHERS = np.clip(0.7 + 0.03 * np.random.default_rng(9).standard_normal((8, 2)), 0.0, 1.0)


def rng(seed=0):
    return np.random.default_rng(seed)


def data(n=12, seed=0):
    X = rng(seed).random((n, 2))
    return Dataset(X, -((X - 0.65) ** 2).sum(axis=1))


def situation(others=OTHERS, **more):
    return Situation(more.pop("dataset", data()), SPACE, others=others, **more)


def test_where_no_best_designs_are_shared_it_is_the_strategy_alone():
    plain, guided = (kind(situation(None), rng(1)) for kind in (Bayesian(), Guided(Bayesian())))
    x = plain.propose()
    assert type(guided) is type(plain) and (guided.propose() == x).all() and guided.note(x) == plain.note(x)


def test_a_proposal_is_the_maximum_of_what_is_drawn_and_its_worth_that_of_the_own_utility():
    plain, guided = (kind(situation(), rng(1)) for kind in (Bayesian(), Guided(Bayesian())))
    assert isinstance(guided.utility, Drawn)
    x = guided.propose()
    assert (x == maximise(guided.utility, SPACE, rng(1))[0]).all() and (x != plain.propose()).any()
    note = guided.note(x)
    assert note.log_worth == plain.note(x).log_worth == plain.utility.log_worth(x[None])[0]
    assert note.pull == guided.utility.bonus(x[None])[0] > 0.0
    assert note.memory == plain.note(x).memory
    assert (note.stance, note.keeps, note.reason) == (Stance.TOGETHER, 0.0, "")
    assert note.log_odds == guided.counsel.log_odds and note.consistency == guided.counsel.consistency


def test_several_at_once_are_each_as_alone():
    situations = [situation(dataset=data(12, seed)) for seed in range(3)]
    together = Guided(Bayesian()).batch(situations, [rng(k) for k in range(3)])
    for k, (opinion, each) in enumerate(zip(together, situations, strict=True)):
        alone = Guided(Bayesian())(each, rng(k))
        x = alone.propose()
        assert (opinion.propose() == x).all() and opinion.note(x) == alone.note(x)
    assert Guided(Bayesian()).can_batch


def test_what_it_knows_of_a_surrogate_is_what_the_strategy_knows():
    found, expected = (kind.surrogate(situation()).theta.tolist() for kind in (Guided(Bayesian()), Bayesian()))
    assert found == expected
    assert Guided(lambda *_: None).surrogate(situation()) is None


# --------------------------------------------------------------------------------------------------------- verdicts


@dataclass(frozen=True)
class Said:
    verdict: Verdict

    def judge(self, _):
        return self.verdict


def judged(counsel, verdict):
    heard = Heard(np.array([0.2, 0.2]), np.array([0.1, 0.1]), Note(log(1.0)), OTHERS)
    return GuidedOpinion(Said(verdict), Said(verdict), counsel, situation()).judge(heard)


def test_alone_nothing_is_followed_and_the_reason_is_the_guides():
    counsel = Counsel(None, Stance.ALONE, reason="your outcomes contradict them")
    assert judged(counsel, Verdict(True, 9.0)) == Verdict(False, 9.0, reason="your outcomes contradict them")


@pytest.mark.parametrize(("worth", "follows"), [(log(0.51), True), (log(0.49), False)])
def test_in_doubt_what_keeps_its_share_is_followed(worth, follows):
    verdict = judged(Counsel(None, Stance.DOUBT, 0.5), Verdict(True, worth))
    assert verdict.follows is follows
    assert verdict.reason == ("" if follows else "it keeps less than 50 % of what your own promises")


def test_together_the_verdict_is_the_strategys():
    for verdict in (Verdict(True, -9.0), Verdict(False, 9.0, reason="no")):
        assert judged(Counsel(None), verdict) == verdict


def test_the_pull_at_the_mix_is_kept_with_the_verdict():
    opinion = Guided(Bayesian())(situation(), rng(1))
    x = opinion.propose()
    heard = Heard(np.array([0.7, 0.7]), x, opinion.note(x), OTHERS)
    verdict = opinion.judge(heard)
    assert verdict.pull == opinion.utility.bonus(heard.mix[None])[0] > 1.0
    assert verdict.log_worth == opinion.own.utility.log_worth(heard.mix[None])[0]


def borrowed(share, others):
    """What is run in doubt, of these best designs of the others; and what they promise, as shares of the own."""
    plain = Bayesian()(situation(), rng(1))
    x = plain.propose()
    heard = Heard(x, x, plain.note(x), others)
    counsel = Counsel(plain.utility, Stance.DOUBT, 0.5, borrows=share)
    verdict = GuidedOpinion(plain, plain, counsel, situation()).judge(heard)
    return verdict.instead, np.exp(plain.utility.log_worth(others) - heard.note.log_worth)


def test_in_doubt_the_most_promising_design_of_the_others_is_run_if_it_promises_enough():
    others = np.array([[0.1, 0.2], [0.7, 0.6], [0.9, 0.1]])
    instead, promised = borrowed(0.0, others)
    best = int(np.argmax(promised))
    assert instead == tuple(others[best].tolist()) and 0.0 < promised[best] < 1.0
    assert borrowed(0.99 * promised[best], others)[0] == instead
    assert borrowed(1.01 * promised[best], others)[0] is None  # the own outcomes speak against an optimum there
    assert borrowed(None, others)[0] is None


# --------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("guide", [0.5, Guide, None])
def test_what_is_not_a_guide_is_refused(guide):
    with pytest.raises(CbocError, match=r"a guide is a function, such as Guide\(\)"):
        Guided(Bayesian(), guide)


def test_a_guide_of_ones_own_that_returns_no_counsel_is_named():
    with pytest.raises(CbocError, match="a guide has to return a Counsel"):
        Guided(Bayesian(), lambda utility, _: utility)(situation(), rng())


def test_a_guide_of_ones_own_that_returns_no_utility_is_named():
    with pytest.raises(CbocError, match="has to return a utility, with with_gradient"):
        Guided(Bayesian(), lambda *_: Counsel(np.sin))(situation(), rng())
