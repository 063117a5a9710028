import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.kernels import squared_exponential
from cboc.surrogate.transforms import raw
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.normal import log_h

UTILITIES = pytest.mark.parametrize("kind", [EI, LogEI, PI], ids=lambda kind: kind.__name__)
quick = settings(deadline=None, max_examples=25)


def surrogate(n=10, dimension=2, seed=0, noise=1e-3):
    X = np.random.default_rng(seed).random((n, dimension))
    return build(X, np.sin(6.0 * X).sum(axis=1), np.log([*np.full(dimension, 0.3), noise]), Model(transform=raw))


def slopes(function, X, h=1e-6):
    return np.stack([(function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(X.shape[1])], axis=1)


# h(z) = φ(z) + z Φ(z)

LOG_H = {  # in 60 digits, from h = φ(z)(1 - t/(t + 1/(t + 2/(t + ...)))), t = -z: Mills' ratio as a continued fraction
    -1.0: -2.4851210257126413,
    -5.0: -16.74430116266099,
    -30.0: -457.72465376059796,
    -1e3: -500014.734452091,
    -1e4: -50000019.33961929,
    -1e5: -5000000023.944789,
    -1e8: -5000000000000037.76,
}


@pytest.mark.parametrize(("z", "expected"), LOG_H.items())
def test_log_h_in_the_tail(z, expected):
    assert log_h(np.array([z]))[0] == pytest.approx([expected], rel=1e-14)


def test_log_h_where_it_is_easy():
    assert log_h(np.zeros(1))[0] == pytest.approx([np.log(1.0 / np.sqrt(2.0 * np.pi))])
    assert log_h(np.array([5.0]))[0] == pytest.approx([np.log(norm.pdf(5.0) + 5.0 * norm.cdf(5.0))])
    assert log_h(np.array([1e10]))[0] == pytest.approx([np.log(1e10)])


@pytest.mark.parametrize("z", [3.0, 0.0, -0.9, -1.1, -4.0, -8.0])
def test_h_is_the_integral(z):
    """h(z) = ∫ Φ from -∞ to z."""
    assert np.exp(log_h(np.array([z]))[0]) == pytest.approx(
        [quad(ndtr, -40.0, z, epsabs=0.0, points=[z - 1.0])[0]], rel=1e-6
    )


@pytest.mark.parametrize("z", [-50.0, -1e3, -9e3, -2e4, -1e6])
def test_log_h_is_its_asymptotic_series(z):
    """h = φ(z)/z² (1 - 3/z² + 15/z⁴ - 105/z⁶ + ...)."""
    w = 1.0 / z**2
    series = norm.logpdf(z) + np.log(w) + np.log1p(-3.0 * w + 15.0 * w**2 - 105.0 * w**3)
    assert log_h(np.array([z]))[0] == pytest.approx([series], rel=1e-12)


@settings(max_examples=200)
@given(z=st.floats(-1e100, 1e100), gap=st.floats(1e-6, 10.0))
def test_log_h_is_finite_and_increasing(z, gap):
    value, rate = log_h(np.array([z, z + gap * max(1.0, abs(z))]))
    assert np.isfinite(value).all() and value[0] < value[1]
    assert np.isfinite(rate).all() and (rate > 0.0).all()


@settings(max_examples=100)
@given(z=st.floats(-1e5, 50.0))
def test_the_rate_of_log_h(z):
    """h'/h = Φ/h, taken in logarithms."""
    value, rate = log_h(np.array([z]))
    assert np.log(rate) == pytest.approx(log_ndtr(z) - value, abs=1e-8 + 1e-14 * z * z)


@pytest.mark.parametrize("seam", [-1.0, -1e4])
def test_log_h_has_no_step_at_its_seams(seam):
    (below, at, above), (rate, *_) = log_h(seam * (1.0 + np.array([1e-9, 0.0, -1e-9])))
    assert above - at == pytest.approx(at - below, rel=1e-2, abs=2e-8) and above - at == pytest.approx(
        rate * abs(seam) * 1e-9, rel=1e-2, abs=2e-8
    )


# Known values


def test_one_point_by_hand():
    """With one outcome z = 0 everywhere: EI = σ/√(2π), PI = ½."""
    model = Model(kernel=squared_exponential, transform=raw)
    gp, X = build(np.array([[0.5]]), np.array([3.0]), np.log([0.1, 0.25]), model), np.array([[0.7]])
    sd = np.sqrt(1.0 - np.exp(-4.0) / 1.25)
    assert EI(gp)(X) == pytest.approx([sd / np.sqrt(2.0 * np.pi)])
    assert LogEI(gp)(X) == pytest.approx([np.log(sd / np.sqrt(2.0 * np.pi))])
    assert PI(gp)(X) == pytest.approx([0.5])


def test_expected_improvement_is_an_expectation():
    gp, X = surrogate(), np.random.default_rng(1).random((5, 2))
    for value, mean, sd in zip(EI(gp)(X), *gp.moments(X), strict=True):
        gain = quad(lambda f, m=mean, s=sd: (f - gp.y.max()) * norm.pdf(f, m, s), gp.y.max(), mean + 12.0 * sd)[0]
        assert value == pytest.approx(gain, rel=1e-6, abs=1e-9)


def test_probability_of_improvement_is_a_probability():
    gp, X = surrogate(), np.random.default_rng(1).random((5, 2))
    mean, sd = gp.moments(X)
    assert PI(gp)(X) == pytest.approx(norm.sf(gp.y.max(), mean, sd))


# Equivalences and invariants


@quick
@given(seed=st.integers(0, 10**6))
def test_log_ei_is_the_logarithm_of_ei(seed):
    gp, X = surrogate(seed=seed), np.random.default_rng(seed).random((50, 2))
    value = EI(gp)(X)
    large = value > 1e-200
    assert LogEI(gp)(X)[large] == pytest.approx(np.log(value[large]), abs=1e-6)


@UTILITIES
@quick
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 4))
def test_gradients_are_the_derivatives(kind, seed, dimension):
    utility, X = kind(surrogate(8, dimension, seed)), np.random.default_rng(seed).random((6, dimension))
    value, gradient = utility.with_gradient(X)
    assert value == pytest.approx(utility(X), rel=1e-9, abs=1e-12)
    assert gradient == pytest.approx(slopes(utility, X), rel=1e-3, abs=1e-5 * max(1.0, np.abs(gradient).max()))


def test_log_ei_has_a_slope_where_ei_has_none():
    X = np.linspace(0.0, 1.0, 9)[:, None]
    gp = build(X, -100.0 * (X[:, 0] - 0.5) ** 2, np.log([0.4, 1e-6]), Model(transform=raw))
    at = np.array([[0.03]])
    assert EI(gp).with_gradient(at)[1] == 0.0
    value, gradient = LogEI(gp).with_gradient(at)
    assert np.isfinite(value).all() and np.isfinite(gradient).all() and gradient != 0.0


@UTILITIES
def test_the_worth_is_the_logarithm_of_the_gain(kind):
    gp, X = surrogate(), np.random.default_rng(3).random((20, 2))
    gain = PI(gp)(X) if kind is PI else EI(gp)(X)
    assert kind(gp).log_worth(X) == pytest.approx(np.log(gain), abs=1e-6)


@UTILITIES
def test_on_and_anchors(kind):
    gp = surrogate()
    utility = kind.on(gp, np.random.default_rng(0))
    assert (utility.anchors[0] == gp.X[np.argmax(gp.y)]).all() and utility.anchors.shape == gp.X.shape
    X = np.random.default_rng(3).random((4, 2))
    assert (pickle.loads(pickle.dumps(utility))(X) == utility(X)).all()


def test_nothing_is_expected_from_repeating_a_bad_experiment():
    gp = surrogate(noise=1e-6)
    worst, elsewhere = gp.X[[np.argmin(gp.y)]], np.random.default_rng(1).random((30, 2))
    assert LogEI(gp)(worst) < LogEI(gp)(elsewhere).min()
