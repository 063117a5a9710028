"""Points that fill the unit cube evenly: one Sobol' sequence, shifted at random."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cboc.arrays import Array


def sobol(n: int, dimension: int, rng: np.random.Generator) -> Array:  # (n, D)
    """n evenly spread points x_i = (s_i + shift) mod 1, with shift ~ U[0, 1)^D; every single point is uniform.

    The rotation of Cranley and Patterson (1976) makes a fresh design of a cached sequence at the price of one addition.
    """
    points = _sequence((max(n, 1) - 1).bit_length(), dimension)[:n] + rng.random(dimension)
    points -= points >= 1
    return points


@lru_cache(maxsize=64)
def _sequence(log2_n: int, dimension: int) -> Array:  # (2^log2_n, D)
    from scipy.stats import qmc  # here, because importing scipy.stats takes longer than importing all of cboc

    # Always scrambled in the same way: cut by a diagonal, the plain sequence is less even than random points.
    points: Array = qmc.Sobol(dimension, scramble=True, seed=0).random_base2(log2_n)
    points.setflags(write=False)
    return points
