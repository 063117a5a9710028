"""Stationary kernels as functions of the squared scaled distance  r² = Σ_d (x_d - x'_d)² / ℓ_d².

    Matern-5/2            κ(r²) = (1 + √5 r + 5r²/3) exp(-√5 r)      κ'(r²) = -5/6 (1 + √5 r) exp(-√5 r)
    squared exponential   κ(r²) = exp(-r²/2)                          κ'(r²) = -κ/2

Written in r², both are smooth at r = 0 and every gradient needs only κ' (the slope) beside κ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array

Profile = Callable[
    [Array, Array, Array], None
]  # the first, r², becomes κ in place; the second becomes κ'; the third is scratch


def from_side(X: Array) -> Array:
    """[-2x, |x|², 1] of the rows of X (..., n, D): their product with a `to_side` is the squared distances."""
    D = X.shape[-1]
    left = np.empty((*X.shape[:-1], D + 2))
    np.multiply(X, -2.0, out=left[..., :D])
    left[..., D] = np.einsum("...d,...d->...", X, X)
    left[..., D + 1] = 1.0
    return left


def to_side(X: Array) -> Array:
    """[x, 1, |x|²] of the rows of X (..., n, D)."""
    D = X.shape[-1]
    right = np.empty((*X.shape[:-1], D + 2))
    right[..., :D] = X
    right[..., D] = 1.0
    right[..., D + 1] = np.einsum("...d,...d->...", X, X)
    return right


def squared_distances(X: Array, out: Array | None = None) -> Array:
    """|x_i - x_j|² of all rows (..., n, n)."""
    squared = np.matmul(from_side(X), to_side(X).swapaxes(-1, -2), out=out)
    return np.maximum(squared, 0.0, out=squared)


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

    def within(self, X: Array, out: Array, slope: Array, scratch: Array) -> None:
        """κ and κ' among the rows of X/ℓ (..., n, D), into out and slope (..., n, n)."""
        self.profile(squared_distances(X, out=out), slope, scratch)

    def between(self, Q: Array, parts: Sequence[tuple[slice, Array]], size: int) -> tuple[Array, Array]:
        """κ and κ' between rows of Q/ℓ (b, D) and the `size` data that each part is paired with: (b, size).

        A part is the rows that belong to it and the transposed `to_side` of its data.
        """
        left = from_side(Q)
        squared = np.empty((len(Q), size))
        for rows, paired in parts:
            np.matmul(left[rows], paired, out=squared[rows])
        return self(np.maximum(squared, 0.0, out=squared))


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
