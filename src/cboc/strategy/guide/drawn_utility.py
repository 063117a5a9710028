"""A utility with a bonus near the others' best designs.

    V(x)   = log U(x) + c tanh(w l(x) / c)          l(x) = log p(x)/ε >= 0     (`density.py`)

The bonus is between 0 and c, so the maximiser of V has at least e^-c of the largest utility: a design that the site
would hardly refuse, whatever the others say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cboc.arrays import Array, Owners
from cboc.search.joint import Joint, join, likeness
from cboc.search.landscape import units_of
from cboc.strategy.guide.density import OptimumDensity
from cboc.utility.utility import Utility

ANCHORS = 2  # from the site itself, and as many from the others


@dataclass(frozen=True)
class Drawn:
    """A utility plus the bonus of the others. Its worth is that of the utility alone."""

    base: Utility
    where: OptimumDensity
    weight: float  # w
    most: float  # c

    is_log = True

    @property
    def anchors(self) -> Array:
        own, centres = self.base.anchors[:ANCHORS], self.where.centres[:ANCHORS]
        rest = np.tile(own[:1, centres.shape[1] :], (len(centres), 1))  # parameters that only this site has
        return np.vstack([own, np.hstack([centres, rest])])

    @property
    def units(self) -> Array:
        """The lengths over which it changes: those of the utility, or the width of a bump where that is less, (D,)."""
        units = units_of(self.base, self.base.anchors.shape[1]).copy()
        shared = units[: self.where.centres.shape[1]]
        np.minimum(shared, self.where.width, out=shared)
        return units

    def __call__(self, X: Array) -> Array:
        return self.batch([self])(X[None])[0]

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.batch([self]).with_gradient(X, np.zeros(len(X), dtype=int))

    def log_worth(self, X: Array) -> Array:
        return self.base.log_worth(X)

    def bonus(self, X: Array) -> Array:  # (n,)
        """The bonus that the others add at X (n, D), in nats."""
        return self.batch([self]).bonus(X, np.zeros(len(X), dtype=int))[0]

    @property
    def likeness(self) -> object:
        """Equal for utilities that can be batched."""
        return Drawn, likeness(self.base), self.where.centres.shape

    @staticmethod
    def batch(utilities: Sequence[Drawn]) -> AllDrawn:
        where = [utility.where for utility in utilities]
        return AllDrawn(
            join([utility.base for utility in utilities]),
            np.array([place.centres for place in where]),
            np.array([place.log_heights for place in where]),
            np.array([place.width for place in where]),
            np.array([utility.weight for utility in utilities]),
            np.array([utility.most for utility in utilities]),
        )


@dataclass(frozen=True)
class AllDrawn:
    """The drawn utilities of K sites. Every sum runs within one row, independent of the other rows."""

    base: Joint
    centres: Array = field(repr=False)  # (K, m, D)
    log_heights: Array = field(repr=False)  # (K, m)
    widths: Array  # (K,)
    weights: Array  # (K,)
    most: Array  # (K,)

    def __call__(self, X: Array) -> Array:
        sites, count, D = X.shape
        bonus = self.bonus(X.reshape(-1, D), np.repeat(np.arange(sites), count))[0]
        return self.base(X) + bonus.reshape(sites, count)

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        value, gradient = self.base.with_gradient(X, owners)
        bonus, slope = self.bonus(X, owners)
        return value + bonus, gradient + slope

    def bonus(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        """The bonus c tanh(w l / c) (b,) and its gradient (b, D)."""
        shared = self.centres.shape[2]  # the first coordinates, which the others have, too
        steps = (self.centres[owners] - X[:, None, :shared]) / self.widths[owners, None, None]  # (b, m, S)
        logs = self.log_heights[owners] - 0.5 * (steps * steps).sum(axis=2)
        top = np.maximum(logs.max(axis=1), 0.0)
        bumps = np.exp(logs - top[:, None])
        total = np.exp(-top) + bumps.sum(axis=1)  # p/ε, times e^-top
        weight, most = self.weights[owners], self.most[owners]
        saturated = np.tanh(weight * (top + np.log(total)) / most)
        pull = (bumps[:, :, None] * steps).sum(axis=1) / (total * self.widths[owners])[:, None]  # ∇l
        slope = np.zeros(X.shape)
        slope[:, :shared] = (weight * (1.0 - saturated**2))[:, None] * pull
        return most * saturated, slope
