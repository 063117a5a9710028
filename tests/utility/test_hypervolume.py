import numpy as np
import pytest

from cboc.data.front import hypervolume
from cboc.surrogate.fitting import Model, build
from cboc.surrogate.transforms import raw
from cboc.utility.hypervolume import LogEHVI, usual_reference
from cboc.utility.improvement import LogEI


def surrogates(m, n=12, dimension=3, seed=0):
    """Surrogates with some uncertainty left, as in the middle of a search."""
    X = np.random.default_rng(seed).random((n, dimension))
    theta = np.log([*np.full(dimension, 0.4), 1e-3])
    Y = [np.sin(5.0 * X[:, i % dimension] + i) - X[:, (i + 1) % dimension] for i in range(m)]
    return [build(X, y, theta, Model(transform=raw)) for y in Y]


def utility(m, **more):
    gps = surrogates(m)
    return LogEHVI(gps, usual_reference(np.column_stack([gp.y for gp in gps])), **more)


@pytest.mark.parametrize("m", [2, 3])
def test_it_is_what_draws_add_to_the_volume_on_average(m):
    found = utility(m)
    X, rng = np.random.default_rng(1).random((4, 3)), np.random.default_rng(2)
    before = hypervolume(found.outcomes, found.reference)
    for x, value in zip(X, np.exp(found(X)), strict=True):
        moments = [gp.moments(x[None]) for gp in found.gps]
        draws = np.column_stack([mean + sd * rng.standard_normal(4000) for mean, sd in moments])
        gains = [hypervolume(np.vstack([found.outcomes, y]), found.reference) - before for y in draws]
        assert value == pytest.approx(np.mean(gains), abs=1e-4 + 4.0 * np.std(gains) / np.sqrt(len(gains)))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_gradient_is_that_of_the_function(m):
    found = utility(m)
    X = np.random.default_rng(3).random((6, 3))
    value, slope = found.with_gradient(X)
    assert value == pytest.approx(found(X))
    h = 1e-6
    for j, e in enumerate(np.eye(3)):
        assert slope[:, j] == pytest.approx((found(X + h * e) - found(X - h * e)) / (2.0 * h), rel=1e-4, abs=1e-4)


def test_far_from_the_front_there_is_still_a_slope():
    gps = surrogates(2)
    found = LogEHVI(gps, np.array([50.0, 50.0]))
    value, slope = found.with_gradient(np.random.default_rng(0).random((5, 3)))
    assert np.isfinite(value).all() and (value < -1e3).all() and np.isfinite(slope).all() and (slope != 0.0).any()


def test_with_an_objective_that_is_certain_it_is_expected_improvement():
    """The volume grows by a strip of constant width, and so by as much as the other objective improves."""
    gps = surrogates(2)
    ceiling = 0.0
    flat = build(gps[0].X, np.full(12, ceiling), np.log([1e3, 1e3, 1e3, 1e-6]), Model(transform=raw))
    best = float(gps[0].y.max())
    found, single = LogEHVI([gps[0], flat], np.array([best, ceiling - 1.0])), LogEI(gps[0])
    X = np.random.default_rng(5).random((6, 3))
    assert found(X) == pytest.approx(single(X), abs=2e-3)


def test_a_result_that_does_not_count_is_not_on_the_front():
    counts = np.ones(12, dtype=bool)
    whole = utility(2)
    counts[np.argmax(whole.outcomes[:, 0])] = False
    X = np.random.default_rng(6).random((20, 3))
    assert (LogEHVI(whole.gps, whole.reference, counts)(X) >= whole(X)).all()
    assert not np.array_equal(LogEHVI(whole.gps, whole.reference, counts)(X), whole(X))


def test_the_usual_reference_leaves_room_below_the_front():
    Y = np.array([[0.0, 10.0], [1.0, 0.0], [-5.0, -5.0]])
    assert usual_reference(Y).tolist() == pytest.approx([-0.1, -1.0])
    assert usual_reference(np.array([[2.0, 3.0], [1.0, 1.0]])).tolist() == pytest.approx([1.0, 2.0])
