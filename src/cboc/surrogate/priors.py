"""Priors of positive hyper-parameters θ: log density up to a constant, and its derivatives with respect to log θ."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from cboc.arrays import Array


@dataclass(frozen=True)
class LogNormal:
    """log θ ~ N(location, scale²), as a density of θ:  log p = -log θ - (log θ - location)² / (2 scale²)."""

    location: float
    scale: float

    def __call__(self, log_theta: Array) -> tuple[Array, Array]:
        z = (log_theta - self.location) / self.scale
        return -log_theta - 0.5 * z * z, -1.0 - z / self.scale

    def curvature(self, log_theta: Array) -> float:  # noqa: ARG002 - the same everywhere
        """Minus the second derivative."""
        return self.scale**-2

    @property
    def mode(self) -> float:
        return exp(self.location - self.scale**2)


@dataclass(frozen=True)
class Gamma:
    """log p = (shape - 1) log θ - rate θ."""

    shape: float
    rate: float

    def __call__(self, log_theta: Array) -> tuple[Array, Array]:
        theta = np.exp(log_theta)
        return (self.shape - 1.0) * log_theta - self.rate * theta, (self.shape - 1.0) - self.rate * theta

    def curvature(self, log_theta: Array) -> Array:
        """Minus the second derivative."""
        bend: Array = self.rate * np.exp(log_theta)
        return bend

    @property
    def mode(self) -> float:
        """The mode of the density; its mean where the density is largest at 0, where a fit cannot start."""
        return (self.shape - 1.0 if self.shape > 1.0 else self.shape) / self.rate


Prior = LogNormal | Gamma


@dataclass(frozen=True)
class HyperPriors:
    """The priors of θ = log [ℓ, (s²), v²] together."""

    sides: Prior
    signal: Prior | None
    noise: Prior
    log_widths: Array  # (D,), added to log ℓ where lengthscales are judged in natural units

    def __call__(self, thetas: Array) -> tuple[Array, Array]:
        """The log density of every row of θ (b, p), and its derivative (b, p)."""
        D = len(self.log_widths)
        derivative = np.empty_like(thetas)
        sides, derivative[:, :D] = self.sides(thetas[:, :D] + self.log_widths)
        noise, derivative[:, -1] = self.noise(thetas[:, -1])
        density: Array = sides.sum(axis=1) + noise
        if self.signal is not None:
            signal, derivative[:, -2] = self.signal(thetas[:, -2])
            density += signal
        return density, derivative

    def curvature(self, thetas: Array) -> Array:
        """Minus the second derivatives (b, p)."""
        D = len(self.log_widths)
        bends = np.empty_like(thetas)
        bends[:, :D] = self.sides.curvature(thetas[:, :D] + self.log_widths)
        bends[:, -1] = self.noise.curvature(thetas[:, -1])
        if self.signal is not None:
            bends[:, -2] = self.signal.curvature(thetas[:, -2])
        return bends

    @property
    def mode(self) -> Array:
        """The mode of the priors: where a cold fit starts."""
        signal = [] if self.signal is None else [log(self.signal.mode)]
        return np.array([*(log(self.sides.mode) - self.log_widths), *signal, log(self.noise.mode)])


def dimension_scaled(dimension: int) -> LogNormal:
    """Lengthscales grow with √D so that the prior's complexity does not (Hvarfner, Hellsten and Nardi, ICML 2024)."""
    return LogNormal(sqrt(2.0) + 0.5 * log(dimension), sqrt(3.0))


def along_the_diagonal(dimension: int) -> LogNormal:
    """Lengthscales are a good part of the cube's diagonal √D: mode 0.3 √D, 95 % from 0.12 to 2.7 √D.

    The prior above leaves them free over three orders of magnitude, and a fit to few experiments uses that.
    """
    return LogNormal(log(0.3) + 0.8**2 + 0.5 * log(dimension), 0.8)


def gamma_3_6(dimension: int) -> Gamma:  # noqa: ARG001 - the same for every dimension
    """BoTorch's lengthscale prior until 2024."""
    return Gamma(3.0, 6.0)
