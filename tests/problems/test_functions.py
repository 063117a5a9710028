"""The test functions against published values, and against what their formulas promise."""

import numpy as np
import pytest

from cboc.problems import functions, more_functions

PUBLISHED = [  # the values of the Virtual Library of Simulation Experiments
    (functions.levy, [1, 1, 1, 1], 0.0),
    (functions.ackley, [0, 0, 0], 0.0),
    (functions.branin, [-np.pi, 12.275], 0.397887),
    (functions.branin, [np.pi, 2.275], 0.397887),
    (functions.branin, [9.42478, 2.475], 0.397887),
    (functions.shekel, [4, 4, 4, 4], -10.5363),
    (functions.hartmann, [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573], -3.32237),
    (more_functions.rosenbrock, [1, 1, 1], 0.0),
    (more_functions.rosenbrock, [0, 0, 0], 2.0),
    (more_functions.rosenbrock, [-1, 2], 104.0),
    (more_functions.styblinski_tang, [-2.903534, -2.903534], 2 * -39.16599),
    (more_functions.styblinski_tang, [1, 1, 1], -15.0),
    (more_functions.rastrigin, [0, 0, 0], 0.0),
    (more_functions.rastrigin, [1, -2, 3], 14.0),
    (more_functions.rastrigin, [0.5], 20.25),
    (more_functions.michalewicz, [2.20290552, 1.57079633], -1.8013),
    (more_functions.michalewicz, [0, 0, 0], 0.0),
]


@pytest.mark.parametrize(("function", "x", "value"), PUBLISHED)
def test_published_values(function, x, value):
    assert function(np.array([x], dtype=float))[0] == pytest.approx(value, rel=1e-4, abs=1e-9)


def test_levy_by_hand():
    """ω = (1.5, 1.25): sin²(1.5π) = 1, then ¼ [1 + 10 sin²(1.5π + 1)], then 1/16 [1 + sin²(2.5π)] = 1/8."""
    by_hand = 1 + 0.25 * (1 + 10 * np.cos(1.0) ** 2) + 0.125
    assert functions.levy(np.array([[3.0, 2.0]]))[0] == pytest.approx(by_hand)


ALL = [
    (functions.levy, 3),
    (functions.ackley, 3),
    (functions.branin, 2),
    (functions.shekel, 4),
    (functions.hartmann, 6),
    (more_functions.rosenbrock, 3),
    (more_functions.styblinski_tang, 3),
    (more_functions.rastrigin, 3),
    (more_functions.michalewicz, 3),
]


@pytest.mark.parametrize(("function", "dimension"), ALL)
def test_many_points_at_once_are_the_points_one_by_one(function, dimension):
    X = np.random.default_rng(0).uniform(0.0, 3.0, (20, dimension))
    np.testing.assert_allclose(function(X), [function(x[None])[0] for x in X], rtol=1e-12)


@pytest.mark.parametrize("function", [functions.ackley, more_functions.styblinski_tang, more_functions.rastrigin])
def test_dimensions_can_be_exchanged(function):
    X = np.random.default_rng(0).uniform(-4.0, 4.0, (50, 4))
    np.testing.assert_allclose(function(X[:, [2, 0, 3, 1]]), function(X), rtol=1e-12)


@pytest.mark.parametrize(
    "function", [functions.ackley, functions.levy, more_functions.rosenbrock, more_functions.rastrigin]
)
def test_what_is_a_sum_of_squares_is_nowhere_negative_on_the_whole_plane(function):
    assert function(np.random.default_rng(0).normal(0.0, 50.0, (5000, 4))).min() > 0.0


def test_the_valleys_of_michalewicz_are_narrow():
    """On most of the box a dimension contributes next to nothing."""
    X = np.random.default_rng(0).uniform(0.0, np.pi, (5000, 5))
    assert np.median(more_functions.michalewicz_terms(X)) > -0.01 > more_functions.michalewicz_terms(X).min() + 0.98
