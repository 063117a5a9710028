"""Where the optima of the sites seem to lie: a density over designs, from the best design of each.

    p(x)   = ε + (1 - ε) mean_j b_j(x)              b_j = N(z_j, h² I), cut off at the unit cube and normalised in it
    h, ε   maximise  √ε Π_k p_-k(z_k)               every best design z_k predicted from those of the others

Where the best designs lie together p is narrow around them; where they lie anywhere ε is 1, and p says nothing. The
logarithm of the product, 0 for ε = 1, is the evidence that there is something to share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, pi, sqrt

import numpy as np
from scipy.special import logsumexp, ndtr

from cboc.arrays import Array

WIDTHS = np.geomspace(0.03, 0.6, 12)  # h, in units of the cube
DOUBTS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7])  # ε; 1 is what they have to beat
FLOOR = 1e-12  # of the mass of a bump inside the cube


@dataclass(frozen=True)
class Whereabouts:
    """p, by the centres of its bumps."""

    centres: Array = field(repr=False)  # z, (m, D)
    width: float  # h
    doubt: float  # ε
    evidence: float  # nats

    @property
    def log_heights(self) -> Array:
        """log of the bumps' factors, (1 - ε)/ε m⁻¹ over what normalises each: (m,)."""
        return log((1.0 - self.doubt) / self.doubt / len(self.centres)) - log_masses(self.centres, self.width)


def locate(own: Array, others: Array) -> Whereabouts | None:
    """From a site's best design (D,) and those of the others (m, D), around which the bumps are; None: anywhere."""
    Z = np.vstack([own, others])
    squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
    best: Whereabouts | None = None
    for width in WIDTHS.tolist():
        bumps = -0.5 * squared / width**2 - log_masses(Z, width)
        np.fill_diagonal(bumps, -np.inf)
        predicted = np.exp(logsumexp(bumps, axis=1)) / len(others)  # mean_j b_j(z_k), j other than k
        scores = np.log(DOUBTS[:, None] + (1.0 - DOUBTS[:, None]) * predicted).sum(axis=1) + 0.5 * np.log(DOUBTS)
        top = int(np.argmax(scores))
        if scores[top] > (best.evidence if best else 0.0):
            best = Whereabouts(others, width, float(DOUBTS[top]), float(scores[top]))
    return best


def log_masses(Z: Array, width: float) -> Array:
    """log ∫ exp(-|x - z|²/2h²) dx over the cube, for every centre (m, D): (m,)."""
    inside = np.maximum(ndtr((1.0 - Z) / width) - ndtr(-Z / width), FLOOR)
    masses: Array = np.log(inside).sum(axis=1) + Z.shape[1] * log(sqrt(2.0 * pi) * width)
    return masses
