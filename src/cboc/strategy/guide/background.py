"""The background u: where best designs lie if they have nothing in common, within what the space allows.

    mass of a bump around z   m(z, h) = ∫ exp(-|x - z|²/2h²) du(x)

In a box m is a product over the coordinates: the mean over its levels if on levels, the mean over its options for the
block of a choice, and if continuous

    √(2π) h Σ_i u_i (Φ((b_i+1 - z)/h) - Φ((b_i - z)/h))      u_i the density of u between the borders b_i and b_i+1

Without this, two sites that pick the same one of three options would seem to agree to every digit of a number. Nor does
it say much that two best designs lie at a bound, or that neither does, if that is where best designs of this study tend
to lie. So u_i is learned from them for every coordinate: how many are as far from the nearest bound, shrunk towards
that of all coordinates, and this towards the uniform one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import pi, sqrt
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from cboc.arrays import Array


class Background(Protocol):
    """The distribution that a density of designs is measured against."""

    def fitted(self, Z: Array) -> Background:
        """The background that knows how far from the bounds the best designs Z (m, D) of this study lie."""
        ...

    def log_masses(self, Z: Array, widths: Array) -> Array:
        """log m(z, h) for every width (w,) and centre (m, D): (w, m)."""
        ...


DEPTHS = np.array([0.0, 0.005, 0.1, 0.5])  # distances from the nearest bound, between which u is constant
BORDERS = np.append(DEPTHS, 1.0 - DEPTHS[-2::-1])  # b
ZONES = 2.0 * np.diff(DEPTHS)  # their widths, on both sides
UNIFORM = 4.0  # so many coordinates is the uniform background worth; so many designs, for a coordinate, are all others


@dataclass(frozen=True)
class Box:
    """The unit cube; some coordinates may be on levels, and some blocks may be at the points of options."""

    levels: tuple[tuple[int, Array], ...] = field(default=(), repr=False)
    choices: tuple[tuple[slice, Array], ...] = field(default=(), repr=False)
    densities: Array = field(default_factory=lambda: np.ones((1, len(ZONES))), repr=False, compare=False)  # u_i (D, i)

    def fitted(self, Z: Array) -> Box:
        taken = [j for j, _ in self.levels] + [j for block, _ in self.choices for j in range(block.start, block.stop)]
        zones = np.searchsorted(DEPTHS[1:-1], np.minimum(Z, 1.0 - Z), side="right")  # (m, D)
        counts = (zones[:, :, None] == np.arange(len(ZONES))).sum(axis=0) / ZONES  # (D, i)
        free = np.delete(counts, taken, axis=0)
        of_all = (free.sum(axis=0) + UNIFORM) / (len(Z) * len(free) + UNIFORM)
        return replace(self, densities=(counts + UNIFORM * of_all) / (len(Z) + UNIFORM))

    def log_masses(self, Z: Array, widths: Array) -> Array:
        h, u = widths[:, None, None], self.densities
        below = ndtr((BORDERS - Z[:, :, None]) / h[:, :, :, None])  # (w, m, D, borders)
        inside = (np.diff(below) * np.hstack([u, u[:, ::-1]])).sum(axis=3)
        parts = np.log(sqrt(2.0 * pi) * h * inside)  # (w, m, D)
        for j, levels in self.levels:
            parts[:, :, j] = _log_mean((Z[:, j, None] - levels) ** 2, widths)
        for block, points in self.choices:
            parts[:, :, block] = 0.0
            parts[:, :, block.start] = _log_mean(((Z[:, None, block] - points) ** 2).sum(axis=2), widths)
        masses: Array = parts.sum(axis=2)
        return masses


@dataclass(frozen=True)
class Cloud:
    """Points drawn from u, for constraints that couple coordinates. A bump between points counts as one point."""

    points: Array = field(repr=False)  # (n, D)

    def fitted(self, Z: Array) -> Cloud:  # noqa: ARG002 - constraints say where designs lie
        return self

    def log_masses(self, Z: Array, widths: Array) -> Array:
        squared = ((Z[:, None] - self.points) ** 2).sum(axis=2)
        return _log_mean(squared, widths)


def _log_mean(squared: Array, widths: Array) -> Array:
    """log mean exp(-squared/2h²) over n places, at least log 1/n, for every width: (m, n) -> (w, m)."""
    means = np.exp(-0.5 * squared / widths[:, None, None] ** 2).mean(axis=2)
    logs: Array = np.log(np.maximum(means, 1.0 / squared.shape[1]))
    return logs
