"""Expected improvement and its relatives, on the standardised scale of the surrogate.

z       = (μ(x) - f*) / σ(x)                      f* the best outcome so far
h(z)    = φ(z) + z Φ(z)                           τ in the paper's appendix
EI(x)   = σ h(z)                                  ∂EI/∂μ    = Φ             ∂EI/∂σ    = φ
LogEI   = log σ + log h(z)                        ∂LogEI/∂μ = (h'/h)/σ      ∂LogEI/∂σ = (1 - z h'/h)/σ,   h' = Φ
PI(x)   = Φ(z)                                    ∂PI/∂μ    = φ/σ           ∂PI/∂σ    = -z φ/σ
∇U      = ∂U/∂σ ∇σ + ∂U/∂μ ∇μ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import log_ndtr, ndtr

from cboc.arrays import Array, Owners
from cboc.surrogate.gp import GP, Stack
from cboc.utility.gp_based import Surrogated
from cboc.utility.normal import log_h, phi
from cboc.utility.pending import PendingEI
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Improvement(Surrogated):
    """A utility that is a function of μ(x), σ(x) and the outcome to beat."""

    gp: GP
    to_beat: float | None = None  # f*, standardised; None: the best outcome of all

    @cached_property
    def best(self) -> float:
        """f*, standardised."""
        return float(self.gp.y.max()) if self.to_beat is None else self.to_beat

    @staticmethod
    def worth(mean: Array, sd: Array, best: float | Array) -> Array:
        """The utility."""
        raise NotImplementedError

    @staticmethod
    def slopes(mean: Array, sd: Array, best: float | Array) -> tuple[Array, Array, Array]:
        """The utility, and its derivatives with respect to μ and σ."""
        raise NotImplementedError

    def __call__(self, X: Array) -> Array:
        return self.worth(*self.gp.moments(X), self.best)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.batch([self]).with_gradient(X, np.zeros(len(X), dtype=int))

    def log_worth(self, X: Array) -> Array:
        return LogEI.worth(*self.gp.moments(X), self.best)

    @property
    def likeness(self) -> object:
        """Utilities with equal likeness can be maximised together."""
        return type(self), self.gp.kernel, self.gp.X.shape

    @classmethod
    def batch(cls, utilities: Sequence[Self]) -> Improvements:
        """Several utilities of equal likeness as one."""
        return Improvements(cls, Stack([utility.gp for utility in utilities]), np.array([u.best for u in utilities]))


@dataclass(frozen=True)
class Improvements:
    """One utility for K sites, on the surrogate of each."""

    kind: type[Improvement]
    stack: Stack
    bests: Array  # f* of each, (K,)

    def __call__(self, X: Array) -> Array:
        return self.kind.worth(*self.stack.moments(X), self.bests[:, None])

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.stack.moments_with_gradient(X, owners)
        value, by_mean, by_sd = self.kind.slopes(mean, sd, self.bests[owners])
        return value, by_sd[:, None] * d_sd + by_mean[:, None] * d_mean


class EI(Improvement):
    """Expected improvement (Jones et al. 1998; Sec. 4.4.2)."""

    @staticmethod
    def worth(mean: Array, sd: Array, best: float | Array) -> Array:
        return EI.slopes(mean, sd, best)[0]

    @staticmethod
    def slopes(mean: Array, sd: Array, best: float | Array) -> tuple[Array, Array, Array]:
        z = (mean - best) / sd
        density, cdf = phi(z), ndtr(z)
        return sd * (density + z * cdf), cdf, density


class LogEI(Improvement):
    """The logarithm of EI: the same maximiser, and a slope to follow where EI is flat zero."""

    is_log = True

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Utility:  # type: ignore[override]
        """Build the utility on a surrogate; with experiments under way, its mean over what they may give."""
        return PendingEI.on(gp, rng) if gp.believed else cls(gp)

    @staticmethod
    def worth(mean: Array, sd: Array, best: float | Array) -> Array:
        value: Array = np.log(sd) + log_h((mean - best) / sd)[0]
        return value

    @staticmethod
    def slopes(mean: Array, sd: Array, best: float | Array) -> tuple[Array, Array, Array]:
        z = (mean - best) / sd
        value, rate = log_h(z)
        return np.log(sd) + value, rate / sd, (1.0 - rate * z) / sd


class PI(Improvement):
    """Probability of improvement (Kushner 1964)."""

    @staticmethod
    def worth(mean: Array, sd: Array, best: float | Array) -> Array:
        value: Array = ndtr((mean - best) / sd)
        return value

    @staticmethod
    def slopes(mean: Array, sd: Array, best: float | Array) -> tuple[Array, Array, Array]:
        z = (mean - best) / sd
        density = phi(z) / sd
        return ndtr(z), density, -z * density

    def log_worth(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        value: Array = log_ndtr((mean - self.best) / sd)
        return value
