"""Expected improvement and its relatives, on the standardised scale of the surrogate.

    z       = (μ(x) - f*) / σ(x)                      f* the best outcome so far
    h(z)    = φ(z) + z Φ(z)                           τ in the paper's appendix
    EI(x)   = σ h(z)                                  ∇EI    = φ ∇σ + Φ ∇μ
    LogEI   = log σ + log h(z)                        ∇LogEI = ∇σ/σ + h'/h (∇μ - z ∇σ)/σ,   h' = Φ
    PI(x)   = Φ(z)                                    ∇PI    = φ (∇μ - z ∇σ)/σ

Far from the incumbent h underflows; with Mills' ratio m = Φ/φ = √(π/2) erfcx(-z/√2) it is φ(z)(1 + z m), whose
logarithm does not (Ament et al., NeurIPS 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, pi, sqrt

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from cboc.arrays import Array
from cboc.surrogate.gp import GP
from cboc.utility.surrogated import Surrogated

HALF_LOG_TAU = 0.5 * log(2 * pi)


def phi(z: Array) -> Array:
    """The standard normal density φ."""
    density: Array = np.exp(-0.5 * z * z - HALF_LOG_TAU)
    return density


def log_h(z: Array) -> tuple[Array, Array]:
    """log h(z) and its derivative h'/h = Φ/h, for any z."""
    is_near = z > -1.0
    if is_near.all():
        return _log_h_near(z)
    if not is_near.any():
        return _log_h_far(z)
    near, far = _log_h_near(np.maximum(z, -1.0)), _log_h_far(np.minimum(z, -1.0))
    return np.where(is_near, near[0], far[0]), np.where(is_near, near[1], far[1])


def _log_h_near(z: Array) -> tuple[Array, Array]:
    cdf = ndtr(z)
    h = phi(z) + z * cdf
    return np.log(h), cdf / h


def _log_h_far(z: Array) -> tuple[Array, Array]:
    mills = sqrt(pi / 2) * erfcx(z * -sqrt(0.5))
    square = z * z
    # 1 + z m cancels like 1/z²; past z = -1e4 its expansion is exact to machine precision
    rest = np.where(z > -1e4, 1.0 + z * mills, (1.0 - 3.0 / square) / square)
    return -0.5 * square - HALF_LOG_TAU + np.log(rest), mills / rest


@dataclass(frozen=True)
class _Improvement(Surrogated):
    """What the improvement utilities share: a surrogate, and the outcome to beat."""

    gp: GP

    @cached_property
    def best(self) -> float:
        """f*, standardised."""
        return float(self.gp.y.max())

    def log_worth(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        value: Array = np.log(sd) + log_h((mean - self.best) / sd)[0]
        return value


class EI(_Improvement):
    """Expected improvement (Jones et al. 1998; Sec. 4.4.2)."""

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        z = (mean - self.best) / sd
        value: Array = sd * (phi(z) + z * ndtr(z))
        return value

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        z = (mean - self.best) / sd
        density, cdf = phi(z), ndtr(z)
        return sd * (density + z * cdf), density[:, None] * d_sd + cdf[:, None] * d_mean


class LogEI(_Improvement):
    """The logarithm of EI: the same maximiser, and a slope to follow where EI is flat zero."""

    def __call__(self, X: Array) -> Array:
        return self.log_worth(X)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        z = (mean - self.best) / sd
        value, rate = log_h(z)
        gradient = ((1.0 - rate * z) / sd)[:, None] * d_sd + (rate / sd)[:, None] * d_mean
        return np.log(sd) + value, gradient


class PI(_Improvement):
    """Probability of improvement (Kushner 1964)."""

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        value: Array = ndtr((mean - self.best) / sd)
        return value

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        z = (mean - self.best) / sd
        return ndtr(z), (phi(z) / sd)[:, None] * (d_mean - z[:, None] * d_sd)

    def log_worth(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        value: Array = log_ndtr((mean - self.best) / sd)
        return value
