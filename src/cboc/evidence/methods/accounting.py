"""The privacy cost ε of differentially private releases by the sampled Gaussian mechanism.

Every round each agent takes part with probability q, and Gaussian noise of z times the sensitivity is added. With
μ₀ = N(0, z²), the round without an agent, and μ = (1-q) N(0, z²) + q N(1, z²), the one where it may have been,

    A(α)  = max( log E_μ₀[(μ/μ₀)^α],  log E_μ[(μ₀/μ)^α] )
    ε     = min over λ = 1..32 of  (T A(λ+1) + log 1/δ) / λ                           Abadi et al., CCS 2016
    ε     = min over α of  (T A(α) + log 1/(αδ)) / (α-1) + log (1 - 1/α)              Balle et al., AISTATS 2020

The integrals are sums over an even grid, in logarithms: for Gaussian tails that converges exponentially, at any order.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from cboc.arrays import Array
from cboc.errors import CbocError

MOMENTS = np.arange(1, 33)  # λ of the original
ORDERS = np.concatenate([np.arange(1.1, 11.0, 0.1), np.arange(11.0, 65.0)])  # α of today's accountants
FINENESS = 16  # grid points per z
TAIL = 12.0  # in z


def epsilon(rate: float, noise: float, releases: int, delta: float) -> float:
    """ε after a number of releases, as the paper of DP-FTS-DE computes it: integer moments, Abadi's bound."""
    _check(rate, noise, releases, delta)
    moments = np.array([_log_moment(rate, noise, float(moment) + 1.0) for moment in MOMENTS])
    return float(((releases * moments - np.log(delta)) / MOMENTS).min())


def epsilon_rdp(rate: float, noise: float, releases: int, delta: float) -> float:
    """ε of the same mechanism by today's bound, which is tighter; not below 0."""
    _check(rate, noise, releases, delta)
    moments = np.array([_log_moment(rate, noise, order) for order in ORDERS])
    bounds = (releases * moments - np.log(ORDERS * delta)) / (ORDERS - 1.0) + np.log1p(-1.0 / ORDERS)
    return max(0.0, float(bounds.min()))


def _log_moment(rate: float, noise: float, order: float) -> float:
    """A(α), as ∫ μ₀ r^α and ∫ μ₀ r^(1-α) with r = μ/μ₀ = 1 - q + q exp((2x-1)/2z²)."""
    reach = order + TAIL * noise
    x, step = np.linspace(-reach, reach, int(2 * FINENESS * reach / noise) + 1, retstep=True)
    with np.errstate(divide="ignore"):  # rate 1
        log_ratio: Array = np.logaddexp(np.log1p(-rate), np.log(rate) + (2.0 * x - 1.0) / (2.0 * noise**2))
    log_density = -0.5 * (x / noise) ** 2 - np.log(noise * np.sqrt(2.0 * np.pi)) + np.log(step)
    return float(max(logsumexp(log_density + power * log_ratio) for power in (order, 1.0 - order)))


def _check(rate: float, noise: float, releases: int, delta: float) -> None:
    if not 0.0 < rate <= 1.0:
        raise CbocError(f"the rate is the probability of taking part, in (0, 1]; this is {rate!r}.")
    if not 0.0 < noise < np.inf:
        raise CbocError(f"the noise is a positive multiple of the sensitivity; this is {noise!r}.")
    if releases < 1:
        raise CbocError(f"releases are counted from 1; this is {releases!r}.")
    if not 0.0 < delta < 1.0:
        raise CbocError(f"delta is the probability that the guarantee fails, in (0, 1); this is {delta!r}.")
