import numpy as np
import pytest
from scipy.special import comb

from cboc.errors import CbocError
from cboc.evidence.methods.accounting import epsilon, epsilon_rdp

RELEASES, DELTA = 60, 29**-1.1

# q, z, ε as published with DP-FTS-DE, ε of the same by fractional orders and today's bound
PUBLISHED = [
    (0.35, 1.0, 15.17, 12.56),
    (0.35, 1.6, 7.12, 5.66),
    (0.35, 2.0, 5.14, 4.00),
    (0.35, 3.0, 3.05, 2.20),
    (0.35, 4.0, 2.16, 1.46),
    (0.10, 1.0, 3.75, 2.72),
    (0.15, 1.0, 5.98, 4.45),
    (0.20, 1.0, 7.69, 6.31),
    (0.25, 1.0, 9.82, 8.29),
]


@pytest.mark.parametrize(("rate", "noise", "published", "modern"), PUBLISHED)
def test_the_nine_published_epsilons(rate, noise, published, modern):
    assert f"{epsilon(rate, noise, RELEASES, DELTA):.2f}" == f"{published:.2f}"
    assert f"{epsilon_rdp(rate, noise, RELEASES, DELTA):.2f}" == f"{modern:.2f}"


def test_without_sampling_it_is_the_gaussian_mechanism():
    """log E[(μ/μ₀)^α] = α(α-1)/2z², so that ε = min (λ+1)/2z² T + log(1/δ)/λ."""
    by_hand = min(5 * (moment + 1) / (2 * 2.0**2) - np.log(1e-5) / moment for moment in range(1, 33))
    assert epsilon(1.0, 2.0, 5, 1e-5) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("rate", [0.01, 0.35, 0.9])
def test_moments_are_the_binomial_sum(rate):
    """E_μ₀[(μ/μ₀)^α] = Σ_k C(α, k) (1-q)^(α-k) q^k exp((k²-k)/2z²) for whole α: the larger of the two directions."""
    noise = 2.5

    def log_moment(order):
        k = np.arange(order + 1)
        terms = comb(order, k) * (1 - rate) ** (order - k) * rate**k * np.exp((k**2 - k) / (2 * noise**2))
        return np.log(terms.sum())

    by_hand = min((10 * log_moment(moment + 1) - np.log(1e-3)) / moment for moment in range(1, 33))
    assert epsilon(rate, noise, 10, 1e-3) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("measure", [epsilon, epsilon_rdp])
def test_more_noise_hides_more_and_more_releases_tell_more(measure):
    base = measure(0.3, 1.5, 20, 1e-3)
    assert measure(0.3, 2.0, 20, 1e-3) < base < measure(0.3, 1.5, 40, 1e-3)
    assert measure(0.2, 1.5, 20, 1e-3) < base < measure(0.3, 1.5, 20, 1e-5)


@pytest.mark.parametrize("measure", [epsilon, epsilon_rdp])
@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ((0.0, 1.0, 1, 0.1), "rate"),
        ((1.1, 1.0, 1, 0.1), "rate"),
        ((0.5, 0.0, 1, 0.1), "noise"),
        ((0.5, np.nan, 1, 0.1), "noise"),
        ((0.5, 1.0, 0, 0.1), "releases"),
        ((0.5, 1.0, 1, 1.0), "delta"),
    ],
)
def test_impossible_settings_get_one_sentence(measure, setting, word):
    with pytest.raises(CbocError, match=word):
        measure(*setting)
