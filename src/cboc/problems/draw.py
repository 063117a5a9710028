"""A function drawn from a Gaussian process with a Matérn-5/2 kernel, as a sum of waves.

    f(x) = √(2/M) Σ_j a_j cos(ω_j·x + φ_j),    a_j² ~ Exp(1),  φ_j ~ U(0, 2π),  ω_j ~ Student-t₅ / ℓ

A wave of such a height and phase is Gaussian at any points, so f is Gaussian given its frequencies; and their
distribution is the spectral density of the kernel, so over the seeds cov(f(x), f(x')) is the kernel exactly
(Rahimi and Recht 2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cboc.arrays import Array

WAVES = 256  # M
SMOOTHNESS = 2.5  # ν; the spectral density of a Matérn kernel is a t-distribution with 2ν degrees of freedom


@dataclass(frozen=True)
class Draw:
    """One function of all space; the seed decides which. Its mean is 0 and its variance 1."""

    seed: tuple[int, ...]
    dimension: int
    lengthscale: float  # ℓ

    def __call__(self, X: Array) -> Array:  # (n, D) -> (n,)
        frequencies, phases, heights = _waves(self)
        values: Array = np.cos(X @ frequencies + phases) @ heights
        return values

    def slope(self, X: Array) -> Array:  # (n, D)
        """f'(x)."""
        frequencies, phases, heights = _waves(self)
        slopes: Array = -np.sin(X @ frequencies + phases) @ (frequencies * heights).T
        return slopes


@lru_cache(maxsize=2**10)
def _waves(draw: Draw) -> tuple[Array, Array, Array]:  # (D, M), (M,), (M,)
    rng = np.random.default_rng(draw.seed)
    normal = rng.standard_normal((draw.dimension, WAVES))
    frequencies = normal / np.sqrt(rng.chisquare(2 * SMOOTHNESS, WAVES) / (2 * SMOOTHNESS)) / draw.lengthscale
    phases = rng.uniform(0.0, 2 * np.pi, WAVES)
    heights = np.sqrt(rng.exponential(size=WAVES) * 2 / WAVES)
    return frequencies, phases, heights
