import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cboc.surrogate.fitting import Model, fit
from cboc.surrogate.priors import Gamma, LogNormal, along_the_diagonal, dimension_scaled, gamma_3_6

CASES = [
    (LogNormal(-8.0, 2.0), stats.lognorm(s=2.0, scale=np.exp(-8.0))),
    (LogNormal(0.5, 0.3), stats.lognorm(s=0.3, scale=np.exp(0.5))),
    (Gamma(3.0, 6.0), stats.gamma(3.0, scale=1 / 6.0)),
    (Gamma(2.0, 0.15), stats.gamma(2.0, scale=1 / 0.15)),
    (Gamma(1.1, 0.05), stats.gamma(1.1, scale=1 / 0.05)),
]
PRIORS = pytest.mark.parametrize(
    ("prior", "reference"), CASES, ids=lambda case: repr(case) if "(" in repr(case) else ""
)


@PRIORS
def test_log_density_up_to_a_constant(prior, reference):
    theta = prior.mode * np.array([0.2, 0.7, 1.0, 3.0, 8.0])
    difference = prior(np.log(theta))[0] - reference.logpdf(theta)
    assert difference == pytest.approx(np.full(5, difference[0]), abs=1e-9)


@PRIORS
@given(shift=st.floats(-3.0, 3.0))
def test_derivative_is_with_respect_to_log_theta(prior, reference, shift):  # noqa: ARG001
    t, h = np.log(prior.mode) + shift, 1e-5
    numeric = (prior(t + h)[0] - prior(t - h)[0]) / (2 * h)
    assert prior(t)[1] == pytest.approx(numeric, rel=1e-6, abs=1e-6)


@PRIORS
@given(shift=st.floats(-3.0, 3.0))
def test_curvature_is_minus_the_second_derivative(prior, reference, shift):  # noqa: ARG001
    t, h = np.array([np.log(prior.mode) + shift]), 1e-5
    assert prior.curvature(t) == pytest.approx((prior(t - h)[1] - prior(t + h)[1]) / (2 * h), rel=1e-6, abs=1e-6)


@PRIORS
def test_mode_is_where_the_density_is_largest(prior, reference):
    around = prior.mode * np.array([0.99, 1.0, 1.01])
    assert np.argmax(reference.pdf(around)) == 1


def test_known_modes():
    assert LogNormal(0.0, 1.0).mode == pytest.approx(np.exp(-1.0))
    assert gamma_3_6(5).mode == pytest.approx(1 / 3)
    assert Gamma(1.1, 0.05).mode == pytest.approx(2.0)  # where BoTorch starts its noise


def test_a_density_without_a_mode_still_has_a_start():
    exponential = Gamma(1.0, 0.5)
    assert exponential.mode == 2.0
    gp = fit(np.array([[0.1], [0.8]]), np.array([0.0, 1.0]), model=Model(noise=exponential))
    assert np.isfinite(gp.log_posterior)


@pytest.mark.parametrize("prior", [dimension_scaled, along_the_diagonal])
def test_lengthscales_grow_with_the_root_of_the_dimension(prior):
    assert np.exp(prior(16).location - prior(4).location) == pytest.approx(2.0)
    assert prior(9).mode == pytest.approx(3.0 * prior(1).mode)


def test_known_priors_of_lengthscales():
    assert dimension_scaled(1) == LogNormal(np.sqrt(2.0), np.sqrt(3.0))  # as in BoTorch since 2024
    assert along_the_diagonal(1).mode == pytest.approx(0.3)
    bounds = along_the_diagonal(1).location + 1.96 * 0.8 * np.array([-1.0, 1.0])
    assert np.exp(bounds) == pytest.approx([0.12, 2.73], abs=0.01)
