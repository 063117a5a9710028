"""Transforms from measured outcomes to the standardised scale of the surrogate, and back.

Better outcomes are larger here (`Dataset.score`). The default is `compressed`:

    z = (y - median) / MAD,   w = z above the median,  -log(1 - z) below,   then standardised

The better half keeps its scale, so improvements keep their size; the worse half, whose extremes would stretch the
surrogate over ground where nobody wants to experiment, is compressed. `benchmarks/solo.py` measures the benefit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cboc.arrays import Array, median

ROUNDING = 1e-12  # relative differences below this are ignored
SMALLEST = 1e-290  # outcomes below this count as zero


class OutputTransform(Protocol):
    """A monotone map of y, fitted to the outcomes so far."""

    def forward(self, y: Array) -> Array: ...

    def backward(self, w: Array) -> Array: ...

    def slope(self, y: Array) -> Array:
        """d forward / dy, which turns a standard error of y into one on the surrogate's scale."""


@dataclass(frozen=True)
class Linear:
    """w = (y - centre) / scale."""

    centre: float = 0.0
    scale: float = 1.0

    def forward(self, y: Array) -> Array:
        return (y - self.centre) / self.scale

    def backward(self, w: Array) -> Array:
        return self.centre + self.scale * w

    def slope(self, y: Array) -> Array:
        return np.full_like(y, 1.0 / self.scale)


@dataclass(frozen=True)
class TailLog:
    """Linear in the better half, logarithmic in the worse half, linear again below the worst outcome; smooth.

    Without the last piece, `backward` would be exponential in predictions that are worse than all outcomes.
    """

    robust: Linear  # by median and MAD
    worst: float  # z of the worst outcome
    standard: Linear  # standardises the result

    def forward(self, y: Array) -> Array:
        z = self.robust.forward(y)
        inside = np.maximum(z, self.worst)
        return self.standard.forward(_draw_in(inside) + (z - inside) / (1.0 - self.worst))

    def backward(self, w: Array) -> Array:
        bent = self.standard.backward(w)
        inside = np.maximum(bent, -np.log1p(-self.worst))
        z = np.where(inside < 0.0, -np.expm1(-np.minimum(inside, 0.0)), inside) + (bent - inside) * (1.0 - self.worst)
        return self.robust.backward(z)

    def slope(self, y: Array) -> Array:
        z = self.robust.forward(y)
        return 1.0 / (1.0 - np.clip(z, self.worst, 0.0)) / (self.robust.scale * self.standard.scale)


def _draw_in(z: Array) -> Array:
    bent: Array = np.where(z < 0.0, -np.log1p(-np.minimum(z, 0.0)), z)
    return bent


def raw(y: Array) -> Linear:  # noqa: ARG001
    """No change at all, as in the paper's experiments."""
    return Linear()


def standardised(y: Array) -> Linear:
    """Mean 0 and standard deviation 1; all-equal outcomes are only centred."""
    largest = float(np.abs(y).max())
    if largest < SMALLEST:
        return Linear()
    unit = y / largest  # whose squares neither overflow nor vanish
    spread = float(unit.std(ddof=1)) if len(y) > 1 else 0.0
    return Linear(largest * float(unit.mean()), largest * spread if spread > ROUNDING else 1.0)


def compressed(y: Array) -> TailLog:
    """Standardised, with the worse half compressed; all-equal outcomes are only centred."""
    centre = median(y)
    deviation = _deviation(y, centre)
    if deviation == 0.0:
        return TailLog(Linear(centre), 0.0, Linear())
    z = Linear(centre, deviation).forward(y)
    return TailLog(Linear(centre, deviation), float(z.min()), standardised(_draw_in(z)))


def _deviation(y: Array, centre: float) -> float:
    """MAD; if half of the outcomes are equal, the MAD of the others; if all are equal, 0."""
    deviations = np.abs(y - centre)
    nothing = max(ROUNDING * abs(centre), ROUNDING * float(y.max() - centre), SMALLEST)
    others = deviations[deviations > nothing]
    if len(others) == 0:
        return 0.0
    return median(deviations if 2 * len(others) > len(y) else others)
