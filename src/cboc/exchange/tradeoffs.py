"""The trade-offs between several objectives that the turns of a study refer to, one after the other.

They depend on the number of objectives alone, so that every site derives the same ones: equal weights first, and then
always the weights that are farthest from all before, on a lattice of w >= 0 with Σ w = 1.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from cboc.arrays import Array
from cboc.exchange.messages import MOST_BESTS

LEAST = 0.05  # the weight that every objective has, at least
PARTS = 8  # into which the lattice divides the whole


@lru_cache(maxsize=16)
def tradeoffs(objectives: int) -> Array:  # (M, m)
    """The weights of each trade-off."""
    if objectives == 1:
        return np.ones((1, 1))
    lattice = _lattice(objectives)
    chosen = [np.full(objectives, 1.0 / objectives)]
    while len(chosen) < MOST_BESTS:
        nearest = np.abs(lattice[:, None] - np.array(chosen)).max(axis=2).min(axis=1)
        chosen.append(lattice[nearest.argmax()])
    found: Array = LEAST + (1.0 - objectives * LEAST) * np.array(chosen)
    found.setflags(write=False)
    return found


def _lattice(objectives: int) -> Array:
    """All weights that are multiples of a part: where to put m - 1 bars between the parts."""
    places = combinations(range(PARTS + objectives - 1), objectives - 1)
    bars = np.array([(-1, *each, PARTS + objectives - 1) for each in places])
    return (np.diff(bars, axis=1) - 1) / PARTS
