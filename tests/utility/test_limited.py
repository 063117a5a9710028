import numpy as np
import pytest
from scipy.stats import norm

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.transforms import raw
from cboc.utility.improvement import LogEI
from cboc.utility.limited import Limited


def surrogate(seed, dimension=3, n=10):
    X = np.random.default_rng(0).random((n, dimension))
    y = np.random.default_rng(seed).standard_normal(n)
    return build(X, y, np.log([*np.full(dimension, 0.5), 1e-3]), Model(transform=raw))


def test_it_is_the_utility_times_the_probability_that_all_limits_are_kept():
    base, margins, least = LogEI(surrogate(1)), [surrogate(2), surrogate(3)], np.array([0.0, 0.3])
    X = np.random.default_rng(4).random((5, 3))
    expected = base(X)
    for gp, zero in zip(margins, least, strict=True):
        mean, sd = gp.moments(X)
        expected += norm.logsf(zero, mean, sd)
    assert Limited(base, margins, least)(X) == pytest.approx(expected)


@pytest.mark.parametrize("base", [None, LogEI(surrogate(1))])
def test_the_gradient_is_that_of_the_function(base):
    found = Limited(base, [surrogate(2), surrogate(3)], np.array([0.0, 2.5]))
    X, h = np.random.default_rng(5).random((6, 3)), 1e-6
    value, slope = found.with_gradient(X)
    assert value == pytest.approx(found(X))
    for j, e in enumerate(np.eye(3)):
        assert slope[:, j] == pytest.approx((found(X + h * e) - found(X - h * e)) / (2.0 * h), rel=1e-4, abs=1e-5)


def test_where_limits_are_hopeless_there_is_still_a_slope():
    found = Limited(None, [surrogate(2)], np.array([80.0]))
    value, slope = found.with_gradient(np.random.default_rng(0).random((5, 3)))
    assert np.isfinite(value).all() and np.isfinite(slope).all() and (np.abs(slope) > 0.0).any()


def test_the_search_begins_at_what_keeps_to_the_limits_best():
    gp = surrogate(2)
    assert Limited(None, [gp], np.array([9.0])).anchors[0].tolist() == gp.X[np.argmax(gp.y)].tolist()
