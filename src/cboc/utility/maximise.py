"""The proposal of a site: x_k = argmax U_k(x) over the feasible set (eq. 3).

1. Look: space-filling samples of the whole set, and a cloud around the best designs so far (the anchors).
2. Climb: from the most promising of both, all at once (`ascent`), or by SLSQP where linear constraints couple coordinates.
3. Where some coordinates are discrete: climb with them held fixed, then try every neighbour or, if they are few, every
   combination; repeat until nothing improves.

The answer is never worse than the best design that was looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from cboc.arrays import Array
from cboc.space import Space
from cboc.utility.ascent import ascend
from cboc.utility.utility import Utility

ANCHORS = 4  # designs around which the cloud is drawn
CLOUD = 16  # samples around each
NEAREST, FARTHEST = 1e-3, 0.2  # the cloud's radii, log-uniform between
COMBINATIONS = 64  # up to so many discrete combinations are enumerated
SWEEPS = 10  # of alternating discrete moves


@dataclass(frozen=True)
class Effort:
    """How hard to look. The defaults are measured by benchmarks/step.py."""

    samples: int = 512
    global_starts: int = 6
    local_starts: int = 4


def maximise(utility: Utility, space: Space, rng: np.random.Generator, effort: Effort | None = None) -> tuple[Array, float]:
    """The best design found (D,) and its utility."""
    effort = effort or Effort()
    wide = space.sample(effort.samples, rng)
    near = _cloud(utility.anchors[:ANCHORS], space, rng)
    wide_values, near_values = utility(wide), utility(near) if len(near) else np.empty(0)
    starts = np.vstack([_top(wide, wide_values, effort.global_starts), _top(near, near_values, effort.local_starts)])
    if not space.is_continuous:
        starts = np.vstack([starts, *_combinations(starts, space)])
    found, values = _climb(utility, starts, space)
    if not space.is_continuous:
        found, values = _alternate(utility, found, values, space)
    found = np.vstack([found, _top(wide, wide_values, 1), _top(near, near_values, 1)])
    values = np.concatenate([values, np.sort(wide_values)[-1:], np.sort(near_values)[-1:]])
    best = int(np.argmax(np.nan_to_num(values, nan=-np.inf)))
    return found[best], float(values[best])


def _top(points: Array, values: Array, count: int) -> Array:
    return points[np.argsort(-values, kind="stable")[:count]]


def _cloud(anchors: Array, space: Space, rng: np.random.Generator) -> Array:
    """Feasible designs around the anchors, at all scales from NEAREST to FARTHEST."""
    count = CLOUD * len(anchors)
    if count == 0:
        return np.empty((0, space.dimension))
    radii = np.exp(rng.uniform(np.log(NEAREST), np.log(FARTHEST), (count, 1)))
    cloud = np.repeat(anchors, CLOUD, axis=0) + radii * rng.standard_normal((count, space.dimension))
    if space.is_box and space.is_continuous:
        return np.clip(cloud, 0.0, 1.0)
    return np.array([space.project(x) for x in cloud])


def _climb(utility: Utility, starts: Array, space: Space) -> tuple[Array, Array]:
    """Ascend the continuous coordinates; the discrete ones stay where they are."""
    fixed = np.array([levels is not None for levels in space.grid])
    for block in space.blocks:
        fixed[block] = True
    lower, upper = np.where(fixed, starts, 0.0), np.where(fixed, starts, 1.0)
    if space.is_box:
        return ascend(utility.with_gradient, starts, lower, upper)
    found = np.array([_climb_constrained(utility, *each, space) for each in zip(starts, lower, upper, strict=True)])
    return found, utility(found)


def _climb_constrained(utility: Utility, start: Array, lower: Array, upper: Array, space: Space) -> Array:
    from scipy.optimize import minimize  # here, because only constrained spaces need it

    A, b, E, e = space.linear
    constraints = [
        {"type": kind, "fun": lambda x, M=M, m=m: m - M @ x, "jac": lambda _, M=M: -M}
        for kind, M, m in (("ineq", A, b), ("eq", E, e))
        if len(M)
    ]

    def negative(x: Array) -> tuple[float, Array]:
        value, gradient = utility.with_gradient(x[None])
        return -float(value[0]), -gradient[0]

    bounds = list(zip(lower, upper, strict=True))
    result = minimize(negative, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints)
    end = space.project(result.x) if np.isfinite(result.x).all() else start
    return end if utility(end[None])[0] > utility(start[None])[0] else start


def _combinations(starts: Array, space: Space) -> list[Array]:
    """Every discrete combination at the best start, if they are few."""
    moves = _discrete_moves(space)
    if np.prod([float(len(options)) for _, options in moves]) > COMBINATIONS:
        return []
    rows = []
    for choice in product(*(options for _, options in moves)):
        x = starts[0].copy()
        for (where, _), option in zip(moves, choice, strict=True):
            x[where] = option
        if space.contains(x):
            rows.append(x)
    return [np.array(rows)] if rows else []


def _discrete_moves(space: Space) -> list[tuple[object, list[Array]]]:
    """(coordinates, the values they may take), one entry per discrete parameter."""
    grids: list[tuple[object, list[Array]]] = [
        (index, list(levels)) for index, levels in enumerate(space.grid) if levels is not None
    ]
    return grids + [(block, list(np.eye(len(np.arange(space.dimension)[block])))) for block in space.blocks]


def _neighbours(x: Array, space: Space) -> Array:
    """Designs that differ in one discrete parameter: the next levels of a grid, the other options of a choice."""
    rows = []
    for where, options in _discrete_moves(space):
        if isinstance(where, int):
            level = int(np.argmin(np.abs(np.array(options) - x[where])))
            options = options[max(level - 1, 0) : level + 2]
        for option in options:
            y = x.copy()
            y[where] = option
            if not np.array_equal(x, y) and space.contains(y):
                rows.append(y)
    return np.array(rows).reshape(-1, len(x))


def _alternate(utility: Utility, found: Array, values: Array, space: Space) -> tuple[Array, Array]:
    """Discrete moves and continuous climbs in turn, from the best few, until neither helps."""
    order = np.argsort(-values, kind="stable")[:3]
    found, values = found[order], values[order]
    for _ in range(SWEEPS):
        moved = []
        for k, x in enumerate(found):
            around = _neighbours(x, space)
            if len(around) == 0:
                continue
            around_values = utility(around)
            if around_values.max() > values[k] + 1e-9:
                moved.append((k, around[int(np.argmax(around_values))]))
        if not moved:
            break
        rows = [k for k, _ in moved]
        found[rows], values[rows] = _climb(utility, np.array([x for _, x in moved]), space)
    return found, values
