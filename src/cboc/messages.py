"""All that ever crosses a wire: a proposal goes out, a design comes back. There is no field for an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import quantise
from cboc.errors import CbocError


@dataclass(frozen=True)
class Proposal:
    """What a site would run if it were alone: the maximiser of its utility, x_k(t), in the unit cube."""

    site: str
    round: int
    x: tuple[float, ...]
    reward: float | None = None  # S_k, only where the rule asks for it

    def __post_init__(self) -> None:
        x = np.asarray(self.x, dtype=float)
        for d in np.flatnonzero(~((x >= 0.0) & (x <= 1.0))):
            raise CbocError(
                f"designs live in the unit cube; site '{self.site}' sent x[{d}] = {x[d]:g}. "
                "Did you forget space.to_unit?"
            )
        if self.reward is not None and not isfinite(self.reward):
            raise CbocError(f"a reward is a finite number; site '{self.site}' sent {self.reward}.")
        object.__setattr__(self, "x", tuple(quantise(x).tolist()))


@dataclass(frozen=True)
class Design:
    """The answer to a proposal: where the consensus puts this site, x_k_new(t), and why."""

    site: str
    round: int
    x: tuple[float, ...]
    weights: tuple[float, ...]  # the site's row of W, in the order of study.sites
    leader: str | None = None

    @property
    def array(self) -> Array:
        return np.array(self.x)
