import numpy as np
import pytest

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.kernels import squared_exponential
from cboc.surrogate.transforms import raw
from cboc.utility.confidence import UCB


def surrogate():
    X = np.random.default_rng(0).random((10, 2))
    return build(X, np.sin(6.0 * X).sum(axis=1), np.log([0.3, 0.3, 1e-3]), Model(transform=raw))


def test_one_point_by_hand():
    """μ = 3 and σ² = 1 - exp(-4)/1.25; β = 4 is two deviations."""
    model = Model(kernel=squared_exponential, transform=raw)
    gp = build(np.array([[0.5]]), np.array([3.0]), np.log([0.1, 0.25]), model)
    assert UCB(gp)(np.array([[0.7]])) == pytest.approx([3.0 + 2.0 * np.sqrt(1.0 - np.exp(-4.0) / 1.25)])


def test_beta_is_the_square_of_the_deviations():
    gp, X = surrogate(), np.random.default_rng(1).random((5, 2))
    mean, sd = gp.moments(X)
    assert UCB(gp, beta=0.0)(X) == pytest.approx(mean)
    assert UCB(gp, beta=9.0)(X) == pytest.approx(mean + 3.0 * sd)


def test_gradients_are_the_derivatives():
    utility, X, h = UCB.on(surrogate(), np.random.default_rng(0)), np.random.default_rng(1).random((5, 2)), 1e-6
    numeric = np.stack([(utility(X + h * e) - utility(X - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    value, gradient = utility.with_gradient(X)
    assert value == pytest.approx(utility(X)) and gradient == pytest.approx(numeric, abs=1e-5)


def test_the_worth_is_what_exceeds_the_best_mean():
    gp, X = surrogate(), np.random.default_rng(1).random((50, 2))
    utility = UCB(gp, beta=0.1)
    gain = utility(X) - gp.moments(gp.X)[0].max()
    assert (gain < 0.0).any() and (gain > 0.0).any()
    assert (utility.log_worth(X)[gain < 0.0] == -np.inf).all()
    assert utility.log_worth(X)[gain > 0.0] == pytest.approx(np.log(gain[gain > 0.0]))
