"""The background u: where a design lies if nothing is known about it, uniform over what the space allows.

    mass of a bump around z   m(z, h) = ∫ exp(-|x - z|²/2h²) du(x)

In a box m is a product over the coordinates: √(2π) h (Φ((1 - z)/h) - Φ(-z/h)) if continuous, the mean over its levels
if on levels, and the mean over its options for the block of a choice. Without this, two sites that pick the same one of
three options would seem to agree to every digit of a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from cboc.arrays import Array


class Background(Protocol):
    """The distribution that a density of designs is measured against."""

    def log_masses(self, Z: Array, widths: Array) -> Array:
        """log m(z, h) for every width (w,) and centre (m, D): (w, m)."""
        ...


@dataclass(frozen=True)
class Box:
    """The unit cube; some coordinates may be on levels, and some blocks may be one-hot."""

    levels: tuple[tuple[int, Array], ...] = field(default=(), repr=False)
    blocks: tuple[slice, ...] = ()

    def log_masses(self, Z: Array, widths: Array) -> Array:
        h = widths[:, None, None]
        inside = ndtr((1.0 - Z) / h) - ndtr(-Z / h)
        parts = np.log(sqrt(2.0 * pi) * h * inside)  # (w, m, D)
        for j, levels in self.levels:
            parts[:, :, j] = _log_mean((Z[:, j, None] - levels) ** 2, widths)
        for block in self.blocks:
            options = np.eye(block.stop - block.start)
            parts[:, :, block] = 0.0
            parts[:, :, block.start] = _log_mean(((Z[:, None, block] - options) ** 2).sum(axis=2), widths)
        masses: Array = parts.sum(axis=2)
        return masses


@dataclass(frozen=True)
class Cloud:
    """Points drawn from u, for constraints that couple coordinates. A bump between points counts as one point."""

    points: Array = field(repr=False)  # (n, D)

    def log_masses(self, Z: Array, widths: Array) -> Array:
        squared = ((Z[:, None] - self.points) ** 2).sum(axis=2)
        return _log_mean(squared, widths)


def _log_mean(squared: Array, widths: Array) -> Array:
    """log mean exp(-squared/2h²) over n places, at least log 1/n, for every width: (m, n) -> (w, m)."""
    means = np.exp(-0.5 * squared / widths[:, None, None] ** 2).mean(axis=2)
    logs: Array = np.log(np.maximum(means, 1.0 / squared.shape[1]))
    return logs
