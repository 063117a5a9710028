"""Worlds with a dial: what sites have in common is what was asked for, and their optima are right."""

import pickle

import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.problems.draw import Draw
from cboc.problems.worlds import OPTIONS, WORLDS, dial, groups, mixed, rotated, shifted
from cboc.search.ascent import ascend

AMOUNTS = {"dial": 0.5, "shifted": 0.1, "rotated": 20.0, "mixed": 0.5, "groups": 0.8}


def rng(seed=0):
    return np.random.default_rng(seed)


def values_at(problems, X):  # (K, n)
    return np.array([problem.values(X) for problem in problems])


# ------------------------------------------------------------------------------------------------------------- draws


def matern(distance, lengthscale):
    s = np.sqrt(5.0) * distance / lengthscale
    return (1 + s + s**2 / 3) * np.exp(-s)


def test_draws_have_the_covariance_of_a_matern_kernel():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.2], [0.0, 0.6], [1.0, 1.0]])
    Y = np.array([Draw((seed, 5), 2, 0.4)(X) for seed in range(6000)])
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    assert np.abs(Y.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(np.cov(Y.T), matern(distances, 0.4), atol=0.06)


def test_draws_are_gaussian():
    y = np.array([Draw((seed, 5), 3, 0.4)(np.full((1, 3), 0.5))[0] for seed in range(6000)])
    assert np.mean(y**4) == pytest.approx(3.0, abs=0.35)  # the kurtosis
    assert np.mean(np.abs(y) > 1.959964) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("kind", WORLDS)
def test_the_slope_is_that_of_the_function(kind):
    problem = WORLDS[kind](AMOUNTS[kind], 3, 2, 1)[1]
    X, step = problem.space.array_from_unit(problem.space.sample(20, rng())), 1e-6
    for d in range(2):
        side = step * np.eye(3)[d]
        change = (problem.function(X + side) - problem.function(X - side)) / (2 * step)
        np.testing.assert_allclose(problem.function.slope(X)[:, d], change, atol=1e-6)


# ------------------------------------------------------------------------------------------------- what is in common


@pytest.mark.parametrize("r", [0.0, 0.3, 0.9])
def test_the_dial_is_the_share_of_the_variance_that_sites_have_in_common(r):
    x = np.full((1, 2), 0.3)
    pairs = np.array([values_at(dial(r, 2, 2, seed), x)[:, 0] for seed in range(3000)])
    covariance = np.cov(pairs.T)
    np.testing.assert_allclose(covariance, [[1.0, r], [r, 1.0]], atol=0.09)


def test_with_the_dial_at_one_all_sites_have_the_same_function():
    Y = values_at(dial(1.0, 4, 3, 5), rng().random((100, 4)))
    np.testing.assert_array_equal(Y, Y[[0, 0, 0]])


@pytest.mark.parametrize("kind", WORLDS)
def test_a_site_is_the_same_in_a_larger_study(kind):
    few, many = (WORLDS[kind](AMOUNTS[kind], 3, sites, 7) for sites in (2, 5))
    assert [p.function for p in few] == [p.function for p in many[:2]]
    assert len({p.name for p in many}) == 5


def test_every_shifted_site_has_its_optimum_elsewhere_by_its_own_vector():
    problems = shifted(0.1, 2, 4, 3)
    shifts = np.array([p.function.shift for p in problems])
    X = 0.5 + 0.1 * rng().random((50, 2))
    moved = [p.function(X - shift) for p, shift in zip(problems, shifts, strict=True)]
    np.testing.assert_allclose(moved, [moved[0]] * 4, rtol=1e-9)
    assert len(np.unique(shifts)) == 8  # axis by axis
    sds = np.array([p.function.shift for seed in range(200) for p in shifted(0.1, 2, 2, seed)]).std()
    assert sds == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("dimension", [2, 5])
def test_rotated_sites_are_turned_by_the_angle_about_the_centre(dimension):
    for problem in rotated(20.0, dimension, 3, 3):
        R = np.array(problem.function.rotation)
        np.testing.assert_allclose(R @ R.T, np.eye(dimension), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert np.trace(R) == pytest.approx(dimension - 2 + 2 * np.cos(np.radians(20.0)))
        centre = np.full((1, dimension), 0.5)
        assert problem.function(centre) == pytest.approx(problem.function.common(centre))


def test_groups_have_a_function_of_their_own_each():
    Y = values_at(groups(1.0, 3, 5, 2), rng().random((200, 3)))
    np.testing.assert_array_equal(Y[[2, 4, 3]], Y[[0, 0, 1]])
    assert np.abs(Y[0] - Y[1]).max() > 0.5


def test_options_have_an_effect_that_depends_on_the_numbers_and_is_shared_by_the_dial():
    same, other = mixed(1.0, 3, 2, 4)
    X = same.space.sample(400, rng())
    np.testing.assert_array_equal(same.values(X), other.values(X))
    natural = same.space.array_from_unit(X)
    by_option = np.array([same.function(np.hstack([natural[:, :2], np.full((400, 1), c)])) for c in range(4)])
    assert (by_option - by_option[0])[1:].std(axis=1).min() > 0.1  # an interaction, not only an offset
    design = same.space.from_unit(X[0])
    assert design["option"] in OPTIONS and same(design) == pytest.approx(same.values(X[:1])[0])


# ------------------------------------------------------------------------------------------------------------ optima


def climbed(problem, held=(), low=0.0, high=1.0):
    """The lowest value over numbers, from other starts than the library's, with what is held appended."""
    d = len(problem.space.names) - len(held)
    starts = np.vstack([rng(8).random((300, d)), rng(9).integers(0, 2, (60, d))])

    def uphill(U):
        X = np.hstack([U, np.tile(held, (len(U), 1))])
        return -problem.function(X), -problem.function.slope(X)[:, :d]

    _, heights = ascend(uphill, starts, np.full(d, low), np.full(d, high), tolerance=1e-9, steps=200)
    return -heights.max()


@pytest.mark.parametrize("dimension", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", WORLDS)
def test_nothing_beats_the_optimum(kind, dimension):
    if dimension == 1 and kind in ("rotated", "mixed"):
        pytest.skip("at least two parameters")
    for problem in WORLDS[kind](AMOUNTS[kind], dimension, 2, 11):
        X = problem.space.sample(20_000, rng(1))
        assert problem.values(X).min() >= problem.optimum
        options = [(c,) for c in range(4)] if kind == "mixed" else [()]
        best = min(climbed(problem, held) for held in options)
        assert problem.optimum == pytest.approx(best, abs=1e-6) or problem.optimum < best
        assert problem.depth == pytest.approx(np.median(problem.values(X)) - problem.optimum, rel=0.05)


def test_with_four_parameters_most_optima_lie_on_an_edge():
    """The page says so: a function is lower than its optimum just outside of the box."""
    wider = [dial(0.0, 4, 1, seed)[0] for seed in range(20)]
    beyond = [climbed(problem, low=-0.02, high=1.02) < problem.optimum - 1e-6 for problem in wider]
    assert 12 <= sum(beyond) <= 19


# ------------------------------------------------------------------------------------------------------------- rules


def test_the_seed_decides_everything_and_travels_to_a_worker():
    X = rng().random((20, 3))
    again = pickle.loads(pickle.dumps(dial(0.5, 3, 2, 9)))
    np.testing.assert_array_equal(values_at(dial(0.5, 3, 2, 9), X), values_at(again, X))
    assert np.abs(values_at(dial(0.5, 3, 2, 10), X) - values_at(again, X)).min() > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: dial(1.5, 2, 3, 0),
            "r, the share that sites have in common, is a number from 0 to 1; this is 1.5.",
        ),
        (
            lambda: rotated(10.0, 1, 3, 0),
            "the number of parameters of this world is a whole number from 2 to 8; this is 1.",
        ),
        (lambda: groups(0.5, 2, 0, 0), "the number of sites is a whole number from 1; this is 0."),
        (lambda: shifted(0.1, 2, 2, -1), "a seed is a whole number from 0; this is -1."),
    ],
)
def test_what_no_world_has_is_said_in_one_sentence(make, message):
    with pytest.raises(CbocError) as told:
        make()
    assert str(told.value) == message
