from dataclasses import dataclass, replace
from math import log

import numpy as np
import pytest

from cboc import CbocError, Dataset, Gate, Space
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.collaborative import collaborative
from cboc.strategy.gate import Gated, GatedOpinion
from cboc.strategy.opinion import Heard
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Verdict


def test_a_gate_compares_utilities_by_ratio():
    gate = Gate(0.5)
    assert gate(log(0.5), log(1.0)) and not gate(log(0.49), log(1.0))


def test_ratio_zero_is_the_paper_and_above_one_is_alone():
    assert Gate(0.0)(-np.inf, 0.0)
    assert not Gate(1.01)(0.0, 0.0)
    assert Gate(1.0)(0.0, 0.0)


@pytest.mark.parametrize("ratio", [-0.1, float("nan"), float("inf"), "half", True, 10**400])
def test_a_gate_with_a_meaningless_ratio_is_refused(ratio):
    with pytest.raises(CbocError, match="ratio is 0"):
        Gate(ratio)


# ------------------------------------------------------------------------------------------------------- the wrapper


OWN, HALF = Note(log(1.0)), Gate(0.5)


@dataclass(frozen=True)
class Said:
    """An opinion that has made up its mind."""

    verdict: Verdict

    def judge(self, _):
        return self.verdict


def judged(verdict, note=OWN, gate=HALF):
    heard = Heard(np.array([0.2]), np.array([0.1]), note, np.empty((0, 1)))
    return GatedOpinion(Said(verdict), gate).judge(heard)


@pytest.mark.parametrize(("worth", "follows"), [(log(0.51), True), (log(0.49), False)])
def test_a_verdict_passes_the_gate_or_is_declined(worth, follows):
    verdict = Verdict(True, worth, memory=(1.0,))
    found = judged(verdict)
    assert found == (verdict if follows else replace(verdict, follows=False, reason="your gate declines it"))


def test_the_gate_compares_what_the_proposal_was_chosen_by():
    """The pull of the others counts on both sides."""
    assert judged(Verdict(True, log(0.3), pull=log(2.0))).follows
    assert not judged(Verdict(True, log(0.6)), Note(log(1.0), pull=log(2.0))).follows


def test_what_the_strategy_declines_no_gate_lets_through():
    declined = Verdict(False, 5.0, reason="the reactor is dirty")
    assert judged(declined, gate=Gate(0.0)) == declined


@pytest.mark.parametrize("answer", ["no", float("nan"), None, 0, 1.0])
def test_a_gate_answers_true_or_false(answer):
    with pytest.raises(CbocError, match=r"a gate answers True \(follow the mix\) or False; this one answered"):
        judged(Verdict(True, 0.0), gate=lambda *_: answer)
    assert judged(Verdict(True, 0.0), gate=lambda *_: np.bool_(True)).follows


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"gate": 0}, r"a gate is a function, such as Gate\(0.5\); 0 is not. Write Gate\(0\)"),
        ({"gate": 0.5}, r"Write Gate\(0.5\)"),
        ({"gate": False}, "a gate is a function, .* False is not"),
        ({"guide": 0}, r"a guide is a function, such as Guide\(\); 0 is not. Write Guide\(0\)"),
        ({"strategy": ""}, "a strategy is a function"),
        ({"strategy": 0}, "a strategy is a function"),
    ],
)
def test_the_default_takes_the_place_of_nothing_but_none(given, complaint):
    with pytest.raises(CbocError, match=complaint):
        collaborative(**given)
    assert collaborative(None, None, None) == collaborative()


def test_a_gate_changes_nothing_but_verdicts():
    space = Space({"a": (0.0, 1.0)})
    X = np.random.default_rng(0).random((6, 1))
    situation = Situation(Dataset(X, np.sin(5.0 * X[:, 0])), space)
    plain, gated = (kind(situation, np.random.default_rng(1)) for kind in (Bayesian(), Gated(Bayesian())))
    x = plain.propose()
    assert (gated.propose() == x).all() and gated.note(x) == plain.note(x)
    assert gated.with_utility(plain.utility).utility is plain.utility
    assert Gated(Bayesian()).can_batch and not Gated(lambda *_: plain).can_batch
    assert Gated(Bayesian()).surrogate(situation).theta.tolist() == Bayesian().surrogate(situation).theta.tolist()


@pytest.mark.parametrize("gate", [0.5, Gate, None])
def test_what_is_not_a_gate_is_refused(gate):
    with pytest.raises(CbocError, match=r"a gate is a function, such as Gate\(0.5\)"):
        Gated(Bayesian(), gate)
