import numpy as np
import pytest

from cboc import Choice, Float, Int, Space
from cboc.strategy.guide.background import ZONES, Box, Cloud
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


PLACES = {  # where the best designs of sites that have nothing in common may lie
    "anywhere": lambda U: U,
    "away from bounds": lambda U: 0.1 + 0.8 * U,
    "in corners": np.round,
    "on a bound of one coordinate": lambda U: np.column_stack([np.round(U[:, :1]), U[:, 1:]]),
    "on bounds, half of the time": lambda U: np.where(U < 0.25, 0.0, np.where(U > 0.75, 1.0, 2.0 * U - 0.5)),
}


def is_evidence(Z):
    where = fit_density(Z[0], Z[1:], Box().fitted(Z))
    return where is not None and where.log_odds >= Guide().least


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("sites", "dimension"), [(3, 2), (5, 4), (10, 2), (10, 4), (10, 8)])
def test_wherever_best_designs_tend_to_lie_that_is_seldom_evidence(place, sites, dimension):
    source = rng(8)
    alarms = np.mean([is_evidence(PLACES[place](source.random((sites, dimension)))) for _ in range(200)])
    assert alarms <= 0.12  # uniform: up to 1.0 in corners, 0.3 away from bounds


@pytest.mark.parametrize(("sites", "dimension"), [(3, 4), (5, 2), (10, 8)])
@pytest.mark.parametrize("is_corner", [True, False])
def test_one_place_for_all_is_evidence_even_if_it_is_a_corner(sites, dimension, is_corner):
    source = rng(9)
    centre = source.random(dimension)
    Z = np.clip(np.round(centre) if is_corner else centre + 0.03 * source.standard_normal((sites, dimension)), 0, 1)
    assert is_evidence(np.broadcast_to(Z, (sites, dimension)))


def test_the_background_is_a_density_that_follows_the_best_designs_of_every_coordinate():
    box = Box(levels=((2, np.array([0.0, 0.5, 1.0])),))
    Z = np.array([[0.0, 0.3, 1.0], [1.0, 0.4, 0.5], [0.0, 0.6, 0.0], [1.0, 0.0, 0.0]])
    fitted = box.fitted(Z)
    np.testing.assert_allclose(fitted.densities @ ZONES, 1.0)
    at_bound, inside = fitted.densities[:, 0], fitted.densities[:, -1]
    assert at_bound[0] > at_bound[1] > 1.0 and inside[0] < inside[1]
    assert (fitted.densities == box.fitted(Z + np.array([0.0, 0.0, 0.1])).densities)[:2].all()  # levels do not count


def test_without_best_designs_the_background_is_uniform():
    Z = rng(10).random((5, 3))
    (even, plain) = (box.log_masses(Z, WIDTHS) for box in (Box().fitted(np.empty((0, 3))), Box()))
    np.testing.assert_allclose(even, plain)
