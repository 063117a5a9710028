"""The candidates of research/mechanisms.py are said with the library's seams, and the chosen one is its default."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cboc.evidence.methods.registry import METHODS
from cboc.evidence.scenario import Scenario
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.opinion import Heard
from cboc.strategy.situation import Situation

SCENARIO = Scenario("levy-2", 4, is_displaced=True, rounds=8)


@pytest.fixture(scope="module")
def candidates():
    folder = str(Path(__file__).parents[2] / "research")
    sys.path.insert(0, folder)
    try:
        import candidates
    finally:
        sys.path.remove(folder)
    return candidates


@pytest.fixture(scope="module")
def case():
    return SCENARIO.case(1000, Bayesian())


@pytest.mark.parametrize(
    ("candidate", "method"), [("chosen", "cboc"), ("alone", "individual"), ("mix, gate 0 (the paper)", "cboc-u")]
)
def test_what_the_library_has_is_the_same_bit_for_bit(candidates, case, candidate, method):
    ran = candidates.designs(case, candidates.CANDIDATES[candidate])
    assert np.array_equal(ran, METHODS[method](case))


def test_every_candidate_runs_designs_of_the_cube_and_most_of_them_its_own(candidates, case):
    seen = set()
    for name, candidate in candidates.CANDIDATES.items():
        designs = candidates.designs(case, candidate)
        assert designs.shape == (4, 8, 2) and ((designs >= 0.0) & (designs <= 1.0)).all(), name
        seen.add(designs.tobytes())
    assert len(seen) > 20  # some differ only where a site is drawn, or declines, which eight rounds seldom show


def test_a_candidate_is_the_same_again(candidates, case):
    for name in (
        "mix, gate adaptive",
        "exchange, gate 0.1",
        "visits by a bandit",
        "chosen, checked by a played search",
    ):
        one, other = (candidates.designs(case, candidates.CANDIDATES[name]) for _ in range(2))
        assert np.array_equal(one, other), name


@pytest.mark.parametrize(("outcome", "counted"), [(-1e3, 0), (1e3, 1)])
def test_a_bandit_counts_who_has_helped(candidates, case, outcome, counted):
    """The site had run its neighbour's best design, and what came was better, or worse, than all before."""
    own, whose = case.initial[0], 2
    told = own.with_point(own.X[0] / 2, outcome)
    strategy = candidates.bandit(case, ratio=0.0).strategy
    memory = (*np.ones(8), float(whose))
    opinion = strategy(Situation(told, case.space, memory=memory, others=np.empty((0, 2))), np.random.default_rng(0))
    x = opinion.propose()
    heard = Heard(x, x, opinion.note(x), np.random.default_rng(1).random((3, 2)))
    tally = np.array(opinion.judge(heard).memory[:8]).reshape(2, 4)
    expected = np.ones((2, 4))
    expected[counted, whose] = 2.0
    assert np.array_equal(tally, expected)
