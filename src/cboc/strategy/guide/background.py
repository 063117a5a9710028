"""Where a design may lie if nothing is known about it: u, uniform over what the space allows.

    mass of a bump around z   m(z, h) = ∫ exp(-|x - z|²/2h²) du(x)

In a box it is a product over the coordinates, where one that is continuous has √(2π) h (Φ((1 - z)/h) - Φ(-z/h)), one on
levels their mean, and the coordinates of a choice the mean over its options. Without this two sites that run one of
three options alike would seem to agree to as many digits as a number has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from cboc.arrays import Array


class Background(Protocol):
    """What a density of designs is measured against."""

    def log_masses(self, Z: Array, widths: Array) -> Array:
        """log m(z, h) for every width (w,) and centre (m, D): (w, m)."""
        ...


@dataclass(frozen=True)
class Box:
    """The unit cube, some of whose coordinates are on levels, and some blocks of which have a single 1."""

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
    """Where constraints couple the coordinates: points drawn from u. A bump between them counts as if it held one."""

    points: Array = field(repr=False)  # (n, D)

    def log_masses(self, Z: Array, widths: Array) -> Array:
        squared = ((Z[:, None] - self.points) ** 2).sum(axis=2)
        return _log_mean(squared, widths)


def _log_mean(squared: Array, widths: Array) -> Array:
    """log mean exp(-squared/2h²) over n places, at least log 1/n, for every width: (m, n) -> (w, m)."""
    means = np.exp(-0.5 * squared / widths[:, None, None] ** 2).mean(axis=2)
    logs: Array = np.log(np.maximum(means, 1.0 / squared.shape[1]))
    return logs
