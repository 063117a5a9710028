"""Exploring apart: a site leaves a well to its neighbours when enough of them are there, and looks elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from cboc.arrays import Array
from cboc.search.landscape import units_of
from cboc.strategy.guide.decision import Counsel, Guide
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Stance
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Pushed:
    """A utility minus a bump of so many nats around one place."""

    base: Utility
    centre: Array = field(repr=False)
    radius: float
    push: float
    is_log = True

    @property
    def anchors(self) -> Array:
        return self.base.anchors

    @property
    def units(self) -> Array:
        return np.minimum(units_of(self.base, len(self.centre)), self.radius)

    def _bump(self, X: Array) -> tuple[Array, Array]:
        steps = (self.centre - X) / self.radius
        bump = self.push * np.exp(-0.5 * (steps * steps).sum(axis=1))
        return bump, bump[:, None] * steps / self.radius

    def __call__(self, X: Array) -> Array:
        return self.base(X) - self._bump(X)[0]

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        value, gradient = self.base.with_gradient(X)
        bump, slope = self._bump(X)
        return value - bump, gradient - slope

    def log_worth(self, X: Array) -> Array:
        return self.base.log_worth(X)


@dataclass(frozen=True)
class Leaving:
    """A guide that sends a site elsewhere, now and then, if others' best designs are near its own."""

    guide: Guide
    enough: int = 2  # others in the well
    radius: float = 0.1  # of a well, in units of the root of D
    share: float = 0.5  # of the turns in which a site is elsewhere
    push: float = 8.0

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        counsel = self.guide(utility, situation)
        others, data = situation.others, situation.dataset
        if others is None or not len(others) or not len(data) or utility is None:
            return counsel
        own, radius = data.best.x, self.radius * np.sqrt(situation.common.dimension)
        here = np.sum(np.linalg.norm(others - own[: others.shape[1]], axis=1) < radius)
        coin = crc32(data.X.tobytes()) / 2**32
        if here < self.enough or coin >= self.share:
            return counsel
        return Counsel(Pushed(utility, own, radius, self.push), Stance.ALONE, reason="others are in the same well")


@dataclass(frozen=True)
class LeavingStale(Leaving):
    """The same, only if the own best has not improved for a while."""

    patience: int = 5

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        data = situation.dataset
        if len(data) and np.argmax(data.score) >= len(data) - self.patience:
            return self.guide(utility, situation)
        return super().__call__(utility, situation)
