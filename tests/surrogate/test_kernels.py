import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gamma, kv

from cboc.surrogate.kernels import matern52, squared_exponential

KERNELS = pytest.mark.parametrize("kernel", [matern52, squared_exponential], ids=lambda kernel: kernel.name)
quick = settings(deadline=None, max_examples=50)


def value(kernel, squared):
    return kernel(np.array(squared, dtype=float))[0]


def slope(kernel, squared):
    return kernel(np.array(squared, dtype=float))[1]


def test_matern_at_distance_one():
    assert value(matern52, [1.0]) == pytest.approx((1 + np.sqrt(5) + 5 / 3) * np.exp(-np.sqrt(5)), rel=1e-14)
    assert value(matern52, [1.0]) == pytest.approx(0.52399411, abs=1e-8)


def test_matern_is_the_bessel_form():
    """2^(1-ν)/Γ(ν) (√(2ν) r)^ν K_ν(√(2ν) r) with ν = 5/2 (Rasmussen and Williams 2006, eq. 4.14)."""
    r, nu = np.linspace(0.05, 6.0, 40), 2.5
    s = np.sqrt(2 * nu) * r
    assert value(matern52, r**2) == pytest.approx(2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s), rel=1e-12)


def test_squared_exponential():
    assert value(squared_exponential, [0.0, 1.0, 4.0]) == pytest.approx([1.0, np.exp(-0.5), np.exp(-2.0)], rel=1e-15)


def test_at_no_distance():
    assert value(matern52, [0.0]) == 1.0 and slope(matern52, [0.0]) == pytest.approx(-5 / 6)
    assert value(squared_exponential, [0.0]) == 1.0 and slope(squared_exponential, [0.0]) == -0.5


@KERNELS
def test_far_away_is_zero_and_a_number(kernel):
    assert (value(kernel, [1e6, 1e100, 1e300]) == 0.0).all()
    assert (slope(kernel, [1e6, 1e100, 1e300]) == 0.0).all()


@KERNELS
@quick
@given(squared=st.floats(1e-3, 50.0))
def test_slope_is_the_derivative(kernel, squared):
    h = 1e-5 * squared
    numeric = (value(kernel, [squared + h]) - value(kernel, [squared - h])) / (2 * h)
    assert slope(kernel, [squared]) == pytest.approx(numeric, rel=1e-5, abs=1e-12)


@KERNELS
@quick
@given(seed=st.integers(0, 2**32 - 1), dimension=st.integers(1, 6))
def test_correlation_matrices_are_positive_semidefinite(kernel, seed, dimension):
    X = np.random.default_rng(seed).random((12, dimension)) * 3
    K = value(kernel, ((X[:, None] - X) ** 2).sum(axis=2))
    assert np.linalg.eigvalsh(K).min() > -1e-12


@KERNELS
@pytest.mark.parametrize("dimension", [1, 3])
def test_frequencies_reproduce_the_kernel(kernel, dimension):
    """Bochner: κ(|τ|²) = E cos(ω·τ)."""
    rng = np.random.default_rng(0)
    frequencies = kernel.frequencies(200_000, dimension, rng)
    for length in (0.3, 1.0, 2.5):
        tau = rng.standard_normal(dimension)
        tau *= length / np.linalg.norm(tau)
        assert np.cos(frequencies @ tau).mean() == pytest.approx(value(kernel, [length**2])[0], abs=6e-3)
