import numpy as np
import pytest

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.kernels import matern52, squared_exponential
from cboc.surrogate.priors import Gamma
from cboc.surrogate.transforms import raw
from cboc.utility.thompson import Thompson

KERNELS = pytest.mark.parametrize("kernel", [matern52, squared_exponential], ids=lambda kernel: kernel.name)


def surrogate(noise=0.05, kernel=matern52, dimension=2):
    X = np.random.default_rng(0).random((8, dimension))
    theta = np.log([*np.full(dimension, 0.4), 1.7, noise])
    model = Model(kernel=kernel, transform=raw, outputscale=Gamma(2.0, 0.15))
    return build(X, np.sin(6.0 * X).sum(axis=1), theta, model)


@KERNELS
def test_paths_have_the_posteriors_mean_and_covariance(kernel):
    gp, rng = surrogate(kernel=kernel), np.random.default_rng(1)
    X = rng.random((5, 2))
    draws = np.array([Thompson.on(gp, rng)(X) for _ in range(1500)])
    mean, sd = gp.moments(X)
    assert draws.mean(axis=0) == pytest.approx(mean, abs=4.0 * sd.max() / np.sqrt(1500))
    assert draws.std(axis=0) == pytest.approx(sd, rel=4.0 / np.sqrt(2 * 1500))
    assert np.cov(draws.T) == pytest.approx(gp.covariance(X, X), abs=0.12)


def test_paths_pass_through_the_data_without_noise():
    gp = surrogate(noise=1e-8)
    for seed in range(3):
        assert Thompson.on(gp, np.random.default_rng(seed))(gp.X) == pytest.approx(gp.y, abs=1e-3)


def test_paths_differ_between_draws_and_not_between_calls():
    gp, X = surrogate(), np.random.default_rng(1).random((5, 2))
    one, other = (Thompson.on(gp, np.random.default_rng(seed)) for seed in (0, 1))
    assert (one(X) == one(X)).all() and (one(X) == Thompson.on(gp, np.random.default_rng(0))(X)).all()
    assert np.abs(one(X) - other(X)).min() > 1e-6


@KERNELS
@pytest.mark.parametrize("dimension", [1, 3])
def test_gradients_are_the_derivatives(kernel, dimension):
    path = Thompson.on(surrogate(kernel=kernel, dimension=dimension), np.random.default_rng(2))
    X, h = np.random.default_rng(1).random((6, dimension)), 1e-3
    numeric = np.stack([(path(X + h * e) - path(X - h * e)) / (2 * h) for e in np.eye(dimension)], axis=1)
    value, gradient = path.with_gradient(X)
    assert value == pytest.approx(path(X), abs=1e-5) and gradient == pytest.approx(numeric, abs=0.02)


def test_the_worth_is_what_exceeds_the_paths_own_best():
    gp = surrogate()
    path, X = Thompson.on(gp, np.random.default_rng(2)), np.random.default_rng(1).random((200, 2))
    gain = path(X) - path(gp.X).max()
    assert (gain > 0.0).any() and path.log_worth(X)[gain > 0.0] == pytest.approx(np.log(gain[gain > 0.0]))
    assert (path.log_worth(gp.X) == -np.inf).all()
