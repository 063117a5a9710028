"""All that ever crosses a wire: a proposal goes out, an answer comes back. There is no field for an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import quantise
from cboc.errors import CbocError


@dataclass(frozen=True)
class Proposal:
    """What a site would run by itself: the maximiser of its utility, x_k(t), in the unit cube."""

    site: str
    round: int
    x: tuple[float, ...]
    reward: float | None = None  # S_k, only where the rule asks for it
    best: tuple[float, ...] | None = None  # the site's best design so far, only where the study shares it

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", self._checked("x", self.x))
        if self.best is not None:
            object.__setattr__(self, "best", self._checked("best", self.best))
        if self.reward is not None and not isfinite(self.reward):
            raise CbocError(f"a reward is a finite number; site '{self.site}' sent {self.reward}.")

    def _checked(self, name: str, point: tuple[float, ...]) -> tuple[float, ...]:
        x = np.asarray(point, dtype=float)
        for d in np.flatnonzero(~((x >= 0.0) & (x <= 1.0))):
            raise CbocError(
                f"designs live in the unit cube; site '{self.site}' sent {name}[{d}] = {x[d]:g}. "
                "Did you forget space.to_unit?"
            )
        return tuple(quantise(x).tolist())


@dataclass(frozen=True)
class Design:
    """The answer to a proposal: where the consensus puts this site, x_k_new(t), and why."""

    site: str
    round: int
    x: tuple[float, ...]
    weights: tuple[float, ...]  # the site's row of W, in the order of study.sites
    leader: str | None = None
    others: tuple[tuple[float, ...], ...] = ()  # the best designs of the others, in their order, where they are shared

    @property
    def array(self) -> Array:
        return np.array(self.x)
