"""Where only the most thorough experiments count: a utility of these, and how thorough an experiment has to be.

    U(x)        of the design at the level that counts, whatever its own level
    told(z)     = c²/((v_z + noise) v_1)        the share of the variance at that level that one at level z explains

The cheapest level that tells enough is run, unless an improvement is so likely that it is time to see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.data.fidelity import Fidelity
from cboc.search.landscape import units_of
from cboc.surrogate.gp import GP
from cboc.utility.utility import Utility

ENOUGH = 0.5  # of the variance
LIKELY = 1.0  # standard deviations that the expected outcome lies above the best one


@dataclass(frozen=True)
class AtTarget:
    """A utility at the level that counts; the last coordinate of a design has no effect."""

    utility: Utility

    @property
    def is_log(self) -> bool:
        """Whether it is a logarithm, to which nats can be added."""
        return bool(getattr(self.utility, "is_log", False))

    @property
    def anchors(self) -> Array:
        """Those of the utility."""
        return self.utility.anchors

    @property
    def units(self) -> Array:
        """The lengths over which it changes."""
        return units_of(self.utility, self.utility.anchors.shape[1])

    def __call__(self, X: Array) -> Array:
        return self.utility(at_target(X))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        value, slope = self.utility.with_gradient(at_target(X))
        slope = slope.copy()
        slope[:, -1] = 0.0
        return value, slope

    def log_worth(self, X: Array) -> Array:
        return self.utility.log_worth(at_target(X))


def at_target(X: Array) -> Array:
    """The designs (n, D) at the level that counts."""
    moved = X.copy()
    moved[:, -1] = 1.0
    return moved


def level_for(x: Array, fidelity: Fidelity, gps: Sequence[GP], bests: Array) -> float:
    """The last coordinate with which to run a design x (D,): the cheapest level that still tells enough about it.

    `bests` are the outcomes to beat, (m,), standardised; -inf where there is none yet.
    """
    there = at_target(x[None])
    moments = [gp.moments(there) for gp in gps]
    ahead = [(mean[0] - best) / sd[0] for (mean, sd), best in zip(moments, bests, strict=True)]
    if min(ahead) >= LIKELY:
        return 1.0
    for place in fidelity.places[:-1].tolist():
        here = x[None].copy()
        here[:, -1] = place
        if np.mean([_told(gp, here, there) for gp in gps]) >= ENOUGH:
            return place
    return 1.0


def _told(gp: GP, here: Array, there: Array) -> float:
    c = float(gp.covariance(here, there)[0, 0])
    v_here, v_there = (float(gp.moments(X)[1][0]) ** 2 for X in (here, there))
    return c * c / ((v_here + gp.noise) * v_there)
