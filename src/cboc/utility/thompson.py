"""Thompson sampling: maximise one draw of f from the posterior, as a function with a gradient.

Pathwise conditioning (Wilson et al., ICML 2020): a draw from the prior by random Fourier features, bent to the data,

    f(x)  = m + φ(x)ᵀw + k(x)ᵀ K⁻¹(y - m - Φw - ε)       w ~ N(0, I),  ε ~ N(0, noise)
    φ(x)  = √(2s²/M) cos(Ωx + b)                          Ω from the kernel's spectral density, b ~ U[0, 2π)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from cboc.arrays import Array
from cboc.surrogate.gp import GP
from cboc.utility.surrogated import Surrogated, log_gain

FEATURES = 1024  # M


@dataclass(frozen=True)
class Thompson(Surrogated):
    """One sample path of the posterior. Its worth is how far it exceeds its own best at the data."""

    gp: GP
    frequencies: Array = field(repr=False)  # Ω, (M, D)
    phases: Array = field(repr=False)  # b, (M,)
    weights: Array = field(repr=False)  # √(2s²/M) w, (M,)
    residual: Array = field(repr=False)  # K⁻¹(y - m - Φw - ε), (n,)

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Self:
        """A fresh draw."""
        frequencies = gp.kernel.frequencies(FEATURES, gp.X.shape[1], rng) / gp.lengthscales
        phases = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
        weights = np.sqrt(2.0 * gp.signal / FEATURES) * rng.standard_normal(FEATURES)
        prior = np.cos(gp.X @ frequencies.T + phases) @ weights
        noise = np.sqrt(gp.noises) * rng.standard_normal(len(gp.y))
        white = gp.inverse_root @ (gp.y - gp.mean - prior - noise)
        return cls(gp, frequencies, phases, weights, gp.inverse_root.T @ white)

    @cached_property
    def best(self) -> float:
        return float(self(self.gp.X).max())

    def __call__(self, X: Array) -> Array:
        prior = np.cos(X @ self.frequencies.T + self.phases) @ self.weights
        value: Array = self.gp.mean + prior + self.gp.cross(X) @ self.residual
        return value

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        angles = X @ self.frequencies.T + self.phases
        k, pull = self.gp.cross_with_gradient(X, self.residual)
        value = self.gp.mean + np.cos(angles) @ self.weights + k
        return value, pull - (np.sin(angles) * self.weights) @ self.frequencies

    def log_worth(self, X: Array) -> Array:
        return log_gain(self(X) - self.best)
