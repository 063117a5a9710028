"""The trade-offs between several objectives that the turns of a study refer to, one after the other.

They depend on the number of objectives alone, so that every site derives the same ones. They spread over all weights
w >= 0 with Σ w = 1, each of which counts for something.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cboc.arrays import Array
from cboc.exchange.messages import MOST_BESTS

LEAST = 0.05  # the weight that every objective has, at least


@lru_cache(maxsize=16)
def tradeoffs(objectives: int) -> Array:  # (M, m)
    """The weights of each trade-off: the gaps between sorted points of an even sequence, which fill them evenly."""
    if objectives == 1:
        return np.ones((1, 1))
    root = _root(objectives - 1)
    steps = root ** -np.arange(1.0, objectives)
    cuts = np.sort(np.mod(0.5 + np.outer(np.arange(MOST_BESTS), steps), 1.0), axis=1)
    weights = np.diff(cuts, axis=1, prepend=0.0, append=1.0)
    found: Array = LEAST + (1.0 - objectives * LEAST) * weights
    found.setflags(write=False)
    return found


def _root(dimension: int) -> float:
    """The root of x^(d+1) = x + 1, whose powers are the steps of the R_d sequence; the golden ratio for d = 1."""
    x = 2.0
    for _ in range(60):
        x = (1.0 + x) ** (1.0 / (dimension + 1.0))
    return x
