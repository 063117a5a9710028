import numpy as np
import pytest

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.transforms import raw
from cboc.utility.improvement import LogEI
from cboc.utility.pending import PendingEI


def surrogate(noise=1e-4):
    X = np.random.default_rng(0).random((8, 2))
    return build(X, np.sin(6.0 * X).sum(axis=1), np.log([0.4, 0.4, noise]), Model(transform=raw))


def pending(count):
    return np.random.default_rng(5).random((count, 2))


@pytest.mark.parametrize("noise", [1e-4, 0.1])
def test_it_is_what_one_more_adds_to_the_expected_improvement_of_a_plate(noise):
    """qEI(x_1, x_2, x) - qEI(x_1, x_2), by brute force over joint draws of the outcomes; outcomes are noisy."""
    gp, rng, under_way = surrogate(noise), np.random.default_rng(1), pending(2)
    X = rng.random((3, 2))
    every = np.vstack([under_way, X])
    covariance = gp.covariance(every, every) + np.diag([noise, noise, 1e-9, 1e-9, 1e-9])
    y = gp.moments(every)[0] + rng.standard_normal((400_000, 5)) @ np.linalg.cholesky(covariance).T
    best = np.maximum(gp.y.max(), y[:, :2].max(axis=1, keepdims=True))
    brute = np.maximum(y[:, 2:] - best, 0.0).mean(axis=0)
    believing = gp.believe(under_way)
    found = np.mean([np.exp(PendingEI.on(believing, rng)(X)) for _ in range(60)], axis=0)
    assert found == pytest.approx(brute, rel=0.05, abs=1e-5)


def test_every_draw_goes_through_its_own_outcomes():
    gp = surrogate(1e-8).believe(pending(3))
    utility = PendingEI.on(gp, np.random.default_rng(0))
    through = gp.mean + gp.cross(pending(3)) @ utility.alphas  # (3, S)
    assert np.maximum(gp.y[:-3].max(), through.max(axis=0)) == pytest.approx(utility.bests, abs=1e-6)
    assert through.std(axis=1).min() > 0.01, "outcomes that are not known differ from draw to draw"


def test_a_surrogate_that_believes_in_nothing_has_plain_expected_improvement():
    gp = surrogate()
    assert type(LogEI.on(gp, np.random.default_rng(0))) is LogEI
    assert type(LogEI.on(gp.believe(pending(1)), np.random.default_rng(0))) is PendingEI


def test_gradients_are_the_derivatives():
    utility = PendingEI.on(surrogate().believe(pending(4)), np.random.default_rng(0))
    X, h = np.random.default_rng(1).random((8, 2)), 1e-6
    numeric = np.stack([(utility(X + h * e) - utility(X - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    value, gradient = utility.with_gradient(X)
    assert value == pytest.approx(utility(X), abs=1e-8)
    assert gradient == pytest.approx(numeric, rel=1e-3, abs=1e-4 * np.abs(gradient).max())


def test_it_keeps_away_from_what_is_under_way():
    gp = surrogate()
    Q = np.random.default_rng(2).random((2000, 2))
    first = Q[np.argmax(LogEI(gp)(Q))]
    second = Q[np.argmax(PendingEI.on(gp.believe(first[None]), np.random.default_rng(0))(Q))]
    assert np.linalg.norm(second - first) > 0.05


def test_the_same_design_under_way_many_times_stays_finite():
    gp = surrogate(1e-6).believe(np.repeat(pending(1), 30, axis=0))
    value, gradient = PendingEI.on(gp, np.random.default_rng(0)).with_gradient(np.vstack([pending(1), pending(5)]))
    assert np.isfinite(value).all() and np.isfinite(gradient).all()
