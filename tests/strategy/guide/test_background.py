import numpy as np
import pytest

from cboc import Choice, Float, Int, Space
from cboc.strategy.guide.background import Box, Cloud
from cboc.strategy.guide.decision import Guide, background
from cboc.strategy.guide.density import WIDTHS, fit_density

FLOATS = dict.fromkeys("abc", (0.0, 1.0))
SPACES = {
    "continuous": Space(FLOATS),
    "mixed": Space({"a": (0.0, 1.0), "n": Int(1, 12), "s": Choice(["water", "ethanol", "dmso"])}),
    "options": Space({"s": Choice(["x", "y"]), "t": Choice(["x", "y", "z"]), "n": Int(1, 6)}),
    "steps": Space({"a": Float(0.0, 1.0, step=0.1), "b": Float(1.0, 100.0, log=True)}),
    "corner": Space(FLOATS, constraints=["a + b + c <= 1"]),
    "mixture": Space(FLOATS, constraints=["a + b + c == 1"]),
}


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("sites", [2, 5, 10])
def test_designs_at_random_are_seldom_evidence_in_any_space(name, sites):
    space, draws = SPACES[name], 300
    X = rng(2).permutation(space.sample(draws * sites, rng(1), "uniform")).reshape(draws, sites, -1)
    found = [fit_density(Z[0], Z[1:], background(space)) for Z in X]
    alarms = np.mean([where is not None and where.log_odds >= Guide().least for where in found])
    assert alarms <= 0.06  # 1 in 40, and what 300 draws scatter


@pytest.mark.parametrize("name", SPACES)
def test_designs_that_lie_together_are_found_in_any_space(name):
    space = SPACES[name]
    centre = space.sample(1, rng(3))[0]
    Z = np.array([space.project(np.clip(centre + 0.02 * rng(k).standard_normal(len(centre)), 0, 1)) for k in range(10)])
    where = fit_density(Z[0], Z[1:], background(space))
    assert where.log_odds > Guide().least and where.log_ratio(centre[None])[0] > 1.0


def test_levels_and_options_count_as_often_as_they_are_there():
    space = SPACES["mixed"]
    Z, h = space.sample(7, rng(4)), np.array([0.1, 0.5])
    points = space.sample(2**14, rng(5))
    np.testing.assert_allclose(background(space).log_masses(Z, h), Cloud(points).log_masses(Z, h), atol=0.1)


def test_a_bump_is_never_narrower_than_a_point_is_wide():
    cloud = Cloud(rng(6).random((100, 5)))
    assert cloud.log_masses(rng(7).random((3, 5)), WIDTHS).min() >= -np.log(100)
    assert Box().log_masses(rng(7).random((3, 5)), WIDTHS).min() < -np.log(100)
