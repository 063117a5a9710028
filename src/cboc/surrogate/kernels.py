"""Stationary kernels as functions of the squared scaled distance  r² = Σ_d (x_d - x'_d)² / ℓ_d².

    Matern-5/2            κ(r²) = (1 + √5 r + 5r²/3) exp(-√5 r)      κ'(r²) = -5/6 (1 + √5 r) exp(-√5 r)
    squared exponential   κ(r²) = exp(-r²/2)                          κ'(r²) = -κ/2

Written in r², both are smooth at r = 0 and every gradient needs only κ' (the slope) beside κ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array

Profile = Callable[[Array, Array, Array], None]  # r² becomes κ in place, the second κ', the third is scratch


@dataclass(frozen=True)
class Kernel:
    """A correlation function: its value and slope in r², and the law of its spectral frequencies (for sample paths)."""

    name: str
    profile: Profile
    frequencies: Callable[[int, int, np.random.Generator], Array]  # (count, D, rng) -> (count, D), for ℓ = 1

    def __call__(self, squared: Array) -> tuple[Array, Array]:
        """κ and κ' of r²; the array r² is used up."""
        slope = np.empty_like(squared)
        self.profile(squared, slope, np.empty_like(squared))
        return squared, slope


def _matern52(squared: Array, slope: Array, decay: Array) -> None:
    np.multiply(squared, 5.0, out=slope)
    np.sqrt(slope, out=slope)  # √5 r
    np.negative(slope, out=decay)
    np.exp(decay, out=decay)
    slope += 1.0
    slope *= decay  # (1 + √5 r) exp(-√5 r)
    squared *= 5.0 / 3.0
    squared *= decay
    squared += slope
    slope *= -5.0 / 6.0


def _student_frequencies(count: int, dimension: int, rng: np.random.Generator) -> Array:
    """The spectral density of Matern-ν is a multivariate Student t with 2ν degrees of freedom."""
    return rng.standard_normal((count, dimension)) * np.sqrt(5.0 / rng.chisquare(5.0, (count, 1)))


def _squared_exponential(squared: Array, slope: Array, scratch: Array) -> None:  # noqa: ARG001
    squared *= -0.5
    np.exp(squared, out=squared)
    np.multiply(squared, -0.5, out=slope)


def _normal_frequencies(count: int, dimension: int, rng: np.random.Generator) -> Array:
    return rng.standard_normal((count, dimension))


matern52 = Kernel("matern52", _matern52, _student_frequencies)
squared_exponential = Kernel("squared_exponential", _squared_exponential, _normal_frequencies)
