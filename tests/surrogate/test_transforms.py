import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cboc.surrogate.transforms import Linear, compressed, raw, standardised

MAPS = pytest.mark.parametrize("fitted", [raw, standardised, compressed], ids=lambda fitted: fitted.__name__)
quick = settings(deadline=None, max_examples=100)


def outcomes(largest=1e6):
    return arrays(float, st.integers(1, 30), elements=st.floats(-largest, largest))


def measured():
    """Outcomes with heavy tails, no two of them equal."""
    seeds, sizes, scales = st.integers(0, 2**32 - 1), st.integers(3, 30), st.sampled_from([1e-9, 0.1, 1.0, 1e7])
    return st.builds(lambda seed, n, scale: scale * np.random.default_rng(seed).standard_t(2, n), seeds, sizes, scales)


# Known values


def test_raw_changes_nothing():
    y = np.array([3.0, -1.0, 7.5])
    assert (raw(y).forward(y) == y).all() and (raw(y).slope(y) == 1.0).all()


def test_standardised_by_hand():
    assert standardised(np.array([1.0, 2.0, 3.0])) == Linear(2.0, 1.0)
    assert standardised(np.array([1.0, 2.0, 3.0])).forward(np.array([4.0])) == 2.0


def test_compressed_by_hand():
    """Median 2 and MAD 1: the better half 0, 1, 2 is kept, the worse half -1, -2 becomes -log 2, -log 3."""
    y = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    bent = np.array([-np.log(3.0), -np.log(2.0), 0.0, 1.0, 2.0])
    assert compressed(y).forward(y) == pytest.approx((bent - bent.mean()) / bent.std(ddof=1), rel=1e-12)


# Invariants


@MAPS
@quick
@given(y=outcomes())
def test_forward_is_monotone_and_finite(fitted, y):
    w = fitted(y).forward(np.sort(y))
    assert np.isfinite(w).all() and (np.diff(w) >= 0.0).all()


@MAPS
@quick
@given(y=measured())
def test_backward_undoes_forward(fitted, y):
    there = fitted(y)
    assert there.backward(there.forward(y)) == pytest.approx(y, rel=1e-9, abs=1e-9 * np.abs(y).max())


@MAPS
@quick
@given(y=outcomes())
def test_backward_undoes_forward_roughly_whatever_the_outcomes(fitted, y):
    """Where the best are 1e12 deviations above the median, the logarithm's way back has 4 digits left."""
    there = fitted(y)
    assert there.backward(there.forward(y)) == pytest.approx(y, abs=1e-3 * max(1.0, np.abs(y).max()))


@MAPS
@quick
@given(y=measured(), share=st.floats(-1.0, 2.0))
def test_slope_is_the_derivative(fitted, y, share):
    there = fitted(y)
    at, h = y.min() + share * np.ptp(y), 1e-7 * np.median(np.abs(y - np.median(y)))
    numeric = (there.forward(np.array([at + h])) - there.forward(np.array([at - h]))) / (2 * h)
    assert there.slope(np.array([at])) == pytest.approx(numeric, rel=1e-3)


@pytest.mark.parametrize("fitted", [standardised, compressed])
@quick
@given(y=measured())
def test_standardised_to_mean_0_and_deviation_1(fitted, y):
    w = fitted(y).forward(y)
    assert w.mean() == pytest.approx(0.0, abs=1e-9) and w.std(ddof=1) == pytest.approx(1.0)


@pytest.mark.parametrize("fitted", [standardised, compressed])
@pytest.mark.parametrize("unit", [1e-280, 1e-12, 1e12, 1e280])
def test_the_unit_of_the_outcomes_does_not_matter(fitted, unit):
    y = np.array([0.3, -1.2, 2.5, 0.7, -4.0, 1.1])
    assert fitted(unit * y).forward(unit * y) == pytest.approx(fitted(y).forward(y), rel=1e-9)


def test_the_better_half_keeps_its_scale():
    y = np.array([-1e6, -40.0, 1.0, 2.0, 4.0])
    w = compressed(y).forward(y)
    assert (w[4] - w[3]) / (w[3] - w[2]) == pytest.approx(2.0)


# Degenerate outcomes


@MAPS
@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e12, 1e-300])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_equal_outcomes_stay_equal(fitted, value, n):
    y = np.full(n, value)
    w = fitted(y).forward(y)
    assert np.ptp(w) == 0.0 and np.isfinite(w).all()
    assert fitted(y).slope(y) == pytest.approx(np.ones(n))


def test_rounding_is_not_a_difference():
    y = 0.1 + 1e-17 * np.arange(5) + np.array([0.0, 1.4e-17, 0.0, 0.0, 1.4e-17])
    assert np.abs(standardised(y).forward(y)).max() < 1e-12
    assert np.abs(compressed(y).forward(y)).max() < 1e-12


@pytest.mark.parametrize("equal", [5, 6, 9])
def test_half_of_them_equal(equal):
    """MAD is 0 or nearly so; the others set the scale, and one wild outlier among them does not."""
    y = np.concatenate([np.zeros(equal), [1.0, 2.0, 3.0, -1e9]])
    w = compressed(y).forward(y)
    assert np.isfinite(w).all() and (np.diff(w[np.argsort(y, kind="stable")]) >= 0.0).all()
    assert w[equal + 1] - w[equal] > 0.05, "1 and 2 are still two different outcomes"


def test_one_huge_outlier_below_leaves_the_rest_apart():
    y = np.array([0.0, 1.0, 2.0, 3.0, 4.0, -1e12])
    assert np.diff(compressed(y).forward(y)[:5]).min() > 0.03
    assert np.diff(standardised(y).forward(y)[:5]).max() < 1e-10, "which is what compression is for"


@pytest.mark.parametrize("outlier", [-1e300, 1e300])
def test_predictions_far_from_anything_measured_are_numbers(outlier):
    there = compressed(np.array([0.0, 1.0, 2.0, 3.0, outlier]))
    y = there.backward(w := np.array([-50.0, -3.0, 0.0, 3.0, 50.0]))
    assert np.isfinite(y).all() and (np.diff(y) > 0.0).all() and np.isfinite(1.0 / there.slope(y)).all()
    assert there.forward(y) == pytest.approx(w)


def test_below_the_worst_outcome_the_map_is_straight():
    there = compressed(np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    assert np.diff(there.forward(np.array([0.0, -1.0, -2.0, -100.0])), 2)[0] == pytest.approx(0.0, abs=1e-12)
    assert there.slope(np.array([0.0, -5.0])) == pytest.approx(np.full(2, there.slope(np.zeros(1))[0]))
