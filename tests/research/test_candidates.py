"""The candidates of research/mechanisms.py: all give designs, and the chosen one is what the library does."""

import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from cboc.evidence.case import Case
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.scenario import Scenario
from cboc.strategy.bayesian import default
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


class WithTheSitesRandomness(Case):
    def rng(self, site, round, _):
        return np.random.default_rng([self.seed, crc32(self.names[site].encode()), round])


@pytest.fixture(scope="module")
def case():
    case = SCENARIO.case(1000, default())
    return WithTheSitesRandomness(case.problems, case.initial, case.horizon, case.seed, case.strategy)


def test_the_chosen_one_is_the_librarys_default(candidates, case):
    ran = candidates.designs(case, candidates.CANDIDATES["chosen"])
    assert np.allclose(ran, METHODS["cboc"](case), atol=1e-6)  # a site rounds what it sends


def test_alone_is_alone(candidates, case):
    ran = candidates.designs(case, candidates.CANDIDATES["alone"])
    assert np.allclose(ran, METHODS["individual"](case), atol=1e-6)


def test_every_candidate_runs_designs_of_the_cube(candidates, case):
    for name, candidate in candidates.CANDIDATES.items():
        designs = candidates.designs(case, candidate)
        assert designs.shape == (4, 8, 2) and ((designs >= 0.0) & (designs <= 1.0)).all(), name


@pytest.mark.parametrize(("outcome", "counted"), [(-1e3, 0), (1e3, 1)])
def test_a_bandit_counts_who_has_helped(candidates, case, outcome, counted):
    """Every site had run its neighbour's best design, and what came was better, or worse, than all before."""
    whose, told = [1, 0, 3, 2], [own.with_point(own.X[0] / 2, outcome) for own in case.initial]
    gps = case.strategy.surrogates([Situation(own, case.space) for own in told])
    memory = {"ran": whose}
    candidates.bandit(candidates.Round(case, 1, told, gps, memory, np.empty((0, 2))), ratio=0.0)
    expected = np.ones((2, 4, 4))
    expected[counted, range(4), whose] = 2.0
    assert np.array_equal(memory["tally"], expected)
