"""Consensus matrices: what makes one valid, and the consensus step  x_new = (W ⊗ I_D) x  (eq. 3).

The step is computed in whole numbers, so one process, a coordinator and peers agree on every design to the last bit,
whatever the order in which the terms are added: designs have 32 fractional bits, weights 30, and the products fit
into 64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cboc.arrays import Array, Mask
from cboc.errors import CbocError

Whole = NDArray[np.int64]

DESIGN_ONE = 2**32
WEIGHT_ONE = 2**30


def is_doubly_stochastic(W: Array, tolerance: float = 1e-9) -> bool:
    """Whether W is square and not negative, and every row and column sums to 1."""
    W = np.asarray(W, dtype=float)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not np.isfinite(W).all():
        return False
    sums = np.concatenate([W.sum(axis=0), W.sum(axis=1)])
    return bool((-tolerance <= W).all() and np.abs(sums - 1.0).max() <= tolerance)


def checked(given: object, sites: int | None = None) -> Array:
    """The matrix as an array; raises one sentence if it is not valid."""
    try:
        W = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise CbocError(
            f"a consensus matrix is a list of rows of numbers, one row for each site; {given!r} is not."
        ) from None
    sites = len(np.atleast_1d(W)) if sites is None else sites
    if W.shape != (sites, sites):
        raise CbocError(f"a consensus matrix for {sites} sites is {sites} x {sites}; this one has shape {W.shape}.")
    if not np.isfinite(W).all():
        raise CbocError("a consensus matrix needs finite weights; this one holds NaN or infinity.")
    if (W < -1e-9).any():
        i, j = np.unravel_index(int(np.argmin(W)), W.shape)
        raise CbocError(f"a consensus matrix has no negative weights; W[{i}, {j}] = {W[i, j]:.4g}.")
    for axis, name in ((1, "row"), (0, "column")):
        sums = W.sum(axis=axis)
        worst = int(np.argmax(np.abs(sums - 1.0)))
        if abs(sums[worst] - 1.0) > 1e-9:
            raise CbocError(
                f"a consensus matrix is doubly stochastic; {name} {worst} sums to {sums[worst]:.6g} instead of 1. "
                "Divide by the sums, or give the missing weight to the diagonal."
            )
    return W


def rebalance(W: Array, links: Mask) -> Array:
    """Cut the pairs that are not linked; each end keeps the weight it would have given (Sec. 4.3).

    w_ij = w_ji = 0 and w_ii += w_ij, w_jj += w_ji: rows and columns still sum to 1 because W is symmetric. If there
    is anything to cut, an asymmetric matrix is first replaced by (W + Wᵀ)/2.
    """
    cut = ~links & ~np.eye(len(W), dtype=bool)
    if not cut.any() or not (W[cut] != 0.0).any():  # the first is cheap, and usual
        return W
    kept = np.where(cut, 0.0, (W + W.T) / 2)
    kept.flat[:: len(W) + 1] += 1.0 - kept.sum(axis=1)
    return kept


def quantise(x: Array) -> Array:
    """Round x to the grid of 2⁻³² that proposals use."""
    rounded: Array = np.rint(np.asarray(x, dtype=float) * DESIGN_ONE) / DESIGN_ONE
    return rounded


def whole_weights(W: Array) -> Whole:
    """W in units of 2⁻³⁰, rounded down off the diagonal; the diagonal takes the rest, so rows sum to exactly 1."""
    weights = np.floor(np.maximum(W, 0.0) * WEIGHT_ONE).astype(np.int64)
    np.fill_diagonal(weights, 0)
    np.fill_diagonal(weights, WEIGHT_ONE - weights.sum(axis=1))
    return weights


def mix(weights: Whole, X: Array) -> Array:
    """The exact Σ_j w_j x_j of one site, from its row of `whole_weights` (K,) and all designs (K, D)."""
    designs = np.rint(X * DESIGN_ONE).astype(np.int64)
    total = (weights[:, None] * designs).sum(axis=0)  # < 2⁶², whatever K: the weights sum to 2³⁰
    mixed: Array = np.rint(total / WEIGHT_ONE) / DESIGN_ONE
    return mixed
