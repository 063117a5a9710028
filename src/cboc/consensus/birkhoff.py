"""A doubly stochastic matrix as an average of permutations: W = Σ η_l P_l  (Birkhoff and von Neumann; Sec. 4.2).

Each permutation is an allocation of the K proposals to the K sites, and η_l is its share in the consensus.
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import checked


def decompose(W: Array, tolerance: float = 1e-9) -> list[tuple[float, Array]]:
    """Decompose W into [(η_l, P_l)], the largest share first; the shares sum to 1 and Σ η_l P_l = W.

    Greedy: assign the largest log weights, subtract as much of that permutation as its smallest weight allows, repeat.
    Every step empties an entry, so there are at most (K - 1)² + 1 permutations.
    """
    from scipy.optimize import linear_sum_assignment  # a slow import, only needed for analysis

    rest = checked(W).copy()
    parts: list[tuple[float, Array]] = []
    while rest.max() > tolerance:
        cost = np.where(rest > tolerance / len(W) ** 2, -np.log(np.maximum(rest, 1e-300)), 1e6)
        rows, columns = linear_sum_assignment(cost)
        share = float(rest[rows, columns].min())
        if share <= 0.0:
            break
        permutation = np.zeros_like(rest)
        permutation[rows, columns] = 1.0
        parts.append((share, permutation))
        rest[rows, columns] -= share
    total = sum(share for share, _ in parts)
    return sorted(((share / total, permutation) for share, permutation in parts), key=lambda part: -part[0])
