"""The lowest value of a function in a box, to 1e-6 of its range.

    look    at a Sobol' sample, and at the hints moved into the box
    climb   down from the hints and from the best of the sample, all at once, as the utilities climb up
    sweep   from the best ends one coordinate after the other over a grid: this suffices if f is separable
    polish  the best ends and what the sweeps have found, to a tight tolerance

`tests/problems/test_problem.py` compares it with differential evolution and L-BFGS-B from many starts.
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array
from cboc.problems.version import Function, slope_of
from cboc.search.ascent import ascend
from cboc.space.sobol import sobol
from cboc.utility.utility import Custom

SAMPLES = 4096
CLIMBED = 128  # with 24, one of the 842 optima of the evidence was missed
WITH_SLOPE = 4  # times as many where a slope makes steps cheap; without, 1 of 100 draws in 8-D was missed
SWEPT = 2
POLISHED = 3
GRID = np.linspace(0.0, 1.0, 1025)


def sample(low: Array, high: Array) -> Array:  # (SAMPLES, D)
    """Points that fill the box evenly, always the same."""
    return _in_box(sobol(SAMPLES, len(low), np.random.default_rng(0)), low, high)


def lowest(function: Function, low: Array, high: Array, hints: Array) -> float:
    """min f(x) over low <= x <= high, (D,) each; hints (m, D) are places near which it may be, inside or not.

    A coordinate with low = high is held there.
    """

    def f(U: Array) -> Array:  # at points of the unit cube
        return function(_in_box(U, low, high))

    near = ((hints.reshape(-1, len(low)) - low) / np.where(low < high, high - low, 1.0)).clip(0.0, 1.0)
    U = np.vstack([near, sobol(SAMPLES, len(low), np.random.default_rng(0))])
    y = f(U)
    order = np.argsort(y, kind="stable")
    depth = float(np.median(y) - y[order[0]])
    if not depth > 0.0:
        return float(y[order[0]])
    slope = slope_of(function)
    gradient = slope and (lambda U: -slope(_in_box(U, low, high)) * (high - low) / depth)
    uphill = Custom(lambda U: -f(U) / depth, gradient).with_gradient
    bounds = np.zeros(len(low)), np.ones(len(low))
    climbed = CLIMBED if gradient is None else WITH_SLOPE * CLIMBED
    ends, heights = ascend(uphill, np.vstack([near, U[order[:climbed]]]), *bounds, tolerance=1e-4)
    ends = ends[np.argsort(-heights, kind="stable")]
    candidates = np.vstack([_swept(f, ends[:SWEPT]), ends[:POLISHED]])
    polished, _ = ascend(uphill, candidates, *bounds, tolerance=1e-13, steps=200)
    return float(min(y[order[0]], f(polished).min()))


def _in_box(U: Array, low: Array, high: Array) -> Array:
    return np.where(low < high, (1 - U) * low + U * high, low)  # an option that is held stays exactly itself


def _swept(f: Function, U: Array) -> Array:  # (m, D)
    """Move every coordinate in turn to the best place of a grid, or leave it where it is."""
    m, D = U.shape
    for d in range(D):
        lines = np.repeat(U[:, None], len(GRID) + 1, axis=1)  # (m, G + 1, D)
        lines[:, 1:, d] = GRID
        best = f(lines.reshape(-1, D)).reshape(m, -1).argmin(axis=1)
        U = lines[np.arange(m), best]
    return U
