"""Where the optima of the sites seem to lie: a density over designs, from the best design of each.

    p(x)   = ε + (1 - ε) mean_j b_j(x)              b_j = exp(-|x - z_j|²/2h²) / m(z_j, h)   (`background.py`)
    h, ε   maximise  √ε Π_k p_-k(z_k)               every best design z_k predicted from those of the others

If the best designs lie together, p is narrow around them; if they lie anywhere, ε is 1 and p says nothing. The
logarithm of the product, 0 for ε = 1, is the log odds that there is something to share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log

import numpy as np

from cboc.arrays import Array
from cboc.strategy.guide.background import Background, Box

WIDTHS = np.geomspace(0.03, 0.6, 12)  # h, in units of the cube
DOUBTS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7])  # ε; they have to beat ε = 1


@dataclass(frozen=True)
class OptimumDensity:
    """The density p of the sites' optima, given by the centres of its bumps."""

    centres: Array = field(repr=False)  # z, (m, D)
    width: float  # h
    doubt: float  # ε
    log_odds: float  # nats
    background: Background = field(default=Box(), repr=False)  # what p is measured against

    @property
    def log_heights(self) -> Array:
        """Log factors of the m bumps (m,): log of (1 - ε)/(ε m) over the mass of each."""
        masses = self.background.log_masses(self.centres, np.array([self.width]))[0]
        return log((1.0 - self.doubt) / self.doubt / len(self.centres)) - masses

    def log_ratio(self, X: Array) -> Array:
        """The log ratio l = log p/ε >= 0 at X (n, D): (n,)."""
        squared = ((X[:, None] - self.centres) ** 2).sum(axis=2)
        bumps = self.log_heights - 0.5 * squared / self.width**2
        ratio: Array = np.logaddexp.reduce(np.column_stack([np.zeros(len(X)), bumps]), axis=1)
        return ratio


def fit_density(own: Array, others: Array, background: Background = Box()) -> OptimumDensity | None:  # noqa: B008 - frozen
    """Fit p from a site's best design (D,) and the others' (m, D), the centres of bumps; None: they lie anywhere."""
    Z = np.vstack([own, others])
    squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)  # no site is predicted from itself
    bumps = -0.5 * squared / WIDTHS[:, None, None] ** 2 - background.log_masses(Z, WIDTHS)[:, None]  # (widths, k, j)
    top = bumps.max(axis=2)
    predicted = top + np.log(np.exp(bumps - top[:, :, None]).sum(axis=2) / len(others))  # log mean_j b_j(z_k)
    doubts = DOUBTS[:, None, None]
    scores = np.logaddexp(np.log(doubts), np.log1p(-doubts) + predicted).sum(axis=2) + 0.5 * np.log(doubts[:, 0])
    doubt, width = np.unravel_index(np.argmax(scores), scores.shape)
    log_odds = float(scores[doubt, width])
    if log_odds <= 0.0:
        return None
    return OptimumDensity(others, float(WIDTHS[width]), float(DOUBTS[doubt]), log_odds, background)
