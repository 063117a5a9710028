import numpy as np
import pytest

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.transforms import raw
from cboc.utility.improvement import LogEI
from cboc.utility.noisy import NoisyEI


def surrogate(noise):
    X = np.random.default_rng(0).random((8, 2))
    return build(X, np.sin(6.0 * X).sum(axis=1), np.log([0.4, 0.4, noise]), Model(transform=raw))


def test_it_is_the_expected_improvement_over_the_true_best():
    """E max(f(x) - max_i f(x_i), 0) over joint draws of f; the mean of many NEI, each of 32 draws."""
    gp, rng = surrogate(0.1), np.random.default_rng(1)
    X = rng.random((4, 2))[1:]  # the first has a gain of 1e-4, too rare for so few draws
    every = np.vstack([gp.X, X])
    root = np.linalg.cholesky(gp.covariance(every, every) + 1e-9 * np.eye(11))
    f = gp.moments(every)[0] + rng.standard_normal((200_000, 11)) @ root.T
    brute = np.maximum(f[:, 8:] - f[:, :8].max(axis=1, keepdims=True), 0.0).mean(axis=0)
    assert np.mean([np.exp(NoisyEI.on(gp, rng)(X)) for _ in range(60)], axis=0) == pytest.approx(brute, rel=0.05)


def test_without_noise_it_is_expected_improvement():
    gp, X = surrogate(1e-8), np.random.default_rng(1).random((40, 2))
    utility = NoisyEI.on(gp, np.random.default_rng(0))
    likely = LogEI(gp)(X) > -10.0
    assert likely.sum() > 10
    assert utility(X)[likely] == pytest.approx(LogEI(gp)(X)[likely], abs=0.02)


def test_one_lucky_measurement_is_not_believed():
    """An outlier among much noise: EI holds it for the best, NEI does not and still hopes for something better."""
    X = np.linspace(0.0, 1.0, 9)[:, None]
    y = np.append(np.zeros(8), 5.0)
    gp, Q = build(X, y, np.log([0.4, 1.0]), Model(transform=raw)), np.linspace(0.0, 1.0, 101)[:, None]
    utility = NoisyEI.on(gp, np.random.default_rng(0))
    assert (utility.bests < 5.0).all() and utility(Q).max() > LogEI(gp)(Q).max() + 1.0


@pytest.mark.parametrize("noise", [1e-6, 0.1])
def test_gradients_are_the_derivatives(noise):
    utility = NoisyEI.on(surrogate(noise), np.random.default_rng(0))
    X, h = np.random.default_rng(1).random((8, 2)), 1e-6
    numeric = np.stack([(utility(X + h * e) - utility(X - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    value, gradient = utility.with_gradient(X)
    assert value == pytest.approx(utility(X), abs=1e-8)
    assert gradient == pytest.approx(numeric, rel=1e-3, abs=1e-4 * np.abs(gradient).max())


def test_repeated_designs_and_a_far_away_optimum_stay_finite():
    X = np.repeat(np.random.default_rng(0).random((3, 2)), 20, axis=0)
    gp = build(X, np.repeat([0.0, 1.0, 50.0], 20), np.log([1.0, 1.0, 1e-6]), Model(transform=raw))
    utility, Q = NoisyEI.on(gp, np.random.default_rng(0)), np.vstack([X[::20], np.random.default_rng(1).random((9, 2))])
    value, gradient = utility.with_gradient(Q)
    assert np.isfinite(value).all() and np.isfinite(gradient).all()
    assert utility.log_worth(Q) == pytest.approx(value)
