"""The proposal of a site: x_k = argmax U_k(x) over the feasible set (eq. 3).

1. Look: at space-filling samples of the whole set, at others pushed out to its faces (where a utility that explores has
   its maxima), and at a cloud around the best designs so far (the anchors).
2. Climb: from the most promising of each, all at once (`ascent`), or by SLSQP where linear constraints couple them.
3. Where some coordinates are discrete: climb with them held fixed, from every combination if these are few, then try
   every neighbour (`discrete`); repeat until nothing improves. Where all are and the designs are few, look at each.

The answer is never worse than the best design that was looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.space import Space
from cboc.utility.ascent import ascend
from cboc.utility.discrete import count, is_fixed, neighbours, variations
from cboc.utility.utility import Utility

ANCHORS = 4  # designs around which the cloud is drawn
NEAREST, FARTHEST = 1e-3, 0.2  # the cloud's radii, log-uniform between
TOLERANCE = 1e-3  # of a climb, relative to the utility's scale
RACE = 15.0  # a climb is given up when so many times its promise would not reach the best one
COMBINATIONS = 64  # up to so many discrete combinations are each climbed from
ENUMERATED = 4096  # up to so many designs, where all parameters are discrete, are all looked at
SWEEPS = 10  # of alternating discrete moves


@dataclass(frozen=True)
class Effort:
    """How hard to look. The defaults are measured by benchmarks/step.py."""

    samples: int = 128  # of the whole set
    edges: int = 128  # on and near its faces
    cloud: int = 64  # around the best designs so far
    starts: int | None = None  # climbs from the best of each; None: 2 + D, at most 8


def maximise(
    utility: Utility, space: Space, rng: np.random.Generator, effort: Effort | None = None
) -> tuple[Array, float]:
    """The best design found (D,) and its utility."""
    effort = effort or Effort()
    if is_fixed(space).all() and count(space) <= ENUMERATED:
        return _best(everything := variations(np.zeros(space.dimension), space), utility(everything))
    pools = [
        space.sample(effort.samples, rng),
        _edges(effort.edges, space, rng),
        _cloud(utility.anchors[:ANCHORS], effort.cloud, space, rng),
    ]
    seen = np.vstack(pools)
    seen_values = utility(seen)
    scale = _scale(seen_values)
    split = np.split(seen_values, np.cumsum([len(pool) for pool in pools])[:-1])
    each = effort.starts or min(2 + space.dimension, 8)
    starts = np.vstack([_top(*pool, each) for pool in zip(pools, split, strict=True)])
    if not space.is_continuous and count(space) <= COMBINATIONS:
        starts = np.vstack([starts, variations(starts[0], space)])
    found, values = _climb(utility, starts, space, scale)
    if not space.is_continuous:
        found, values = _alternate(utility, found, values, space, scale)
    return _best(np.vstack([found, seen]), np.concatenate([values, seen_values]))


def _best(points: Array, values: Array) -> tuple[Array, float]:
    best = int(np.argmax(np.where(np.isnan(values), -np.inf, values)))
    return points[best], float(values[best])


def _top(points: Array, values: Array, count: int) -> Array:
    return points[np.argsort(-values, kind="stable")[:count]]


def _scale(values: Array) -> float:
    """How far the best value stands out, at most 1: the unit in which a climb may be called finished.

    Utilities that are logarithms stand out by more than 1; plain ones may be small all over and are climbed as well.
    """
    finite = values[np.isfinite(values)]
    return min(1.0, max(1e-100, float(finite.max() - np.median(finite)))) if len(finite) else 1.0


def _edges(count: int, space: Space, rng: np.random.Generator) -> Array:
    """Samples stretched to twice the box and cut off: each coordinate is at a bound with probability one half.

    Where linear constraints shape the set, samples lie near its faces anyway, and this would cost a projection each.
    """
    if not space.is_box:
        return np.empty((0, space.dimension))
    stretched = np.clip(2.0 * space.sample(count, rng) - 0.5, 0.0, 1.0)
    return stretched if space.is_continuous else _projected(stretched, space)


def _projected(points: Array, space: Space) -> Array:
    return np.array([space.project(x) for x in points]).reshape(-1, space.dimension)


def _cloud(anchors: Array, count: int, space: Space, rng: np.random.Generator) -> Array:
    """Feasible designs around the anchors, at all scales from NEAREST to FARTHEST."""
    if len(anchors) == 0:
        return np.empty((0, space.dimension))
    radii = np.exp(rng.uniform(np.log(NEAREST), np.log(FARTHEST), (count, 1)))
    cloud = np.resize(anchors, (count, space.dimension)) + radii * rng.standard_normal((count, space.dimension))
    if space.is_box and space.is_continuous:
        return np.clip(cloud, 0.0, 1.0)
    return _projected(cloud, space)


def _climb(utility: Utility, starts: Array, space: Space, scale: float) -> tuple[Array, Array]:
    """Ascend the continuous coordinates; the discrete ones stay where they are."""
    fixed = is_fixed(space)
    if fixed.all():
        return starts, utility(starts)
    lower, upper = np.zeros((1, len(fixed))), np.ones((1, len(fixed)))
    if fixed.any() or not space.is_box:
        lower, upper = np.where(fixed, starts, 0.0), np.where(fixed, starts, 1.0)
    if space.is_box:
        return ascend(utility.with_gradient, starts, lower, upper, tolerance=TOLERANCE * scale, race=RACE)
    boxes = zip(starts, lower, upper, strict=True)
    found = np.array([_climb_constrained(utility, *box, space, scale) for box in boxes])
    return found, utility(found)


def _climb_constrained(utility: Utility, start: Array, lower: Array, upper: Array, space: Space, scale: float) -> Array:
    from scipy.optimize import minimize  # here, because only constrained spaces need it

    A, b, E, e = space.linear
    constraints = [
        {"type": kind, "fun": lambda x, M=M, m=m: m - M @ x, "jac": lambda _, M=M: -M}
        for kind, M, m in (("ineq", A, b), ("eq", E, e))
        if len(M)
    ]

    def negative(x: Array) -> tuple[float, Array]:
        value, gradient = utility.with_gradient(x[None])
        return -float(value[0]) / scale, -gradient[0] / scale

    bounds = list(zip(lower, upper, strict=True))
    result = minimize(negative, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints)
    end = space.project(result.x) if np.isfinite(result.x).all() else start
    return end if utility(end[None])[0] > utility(start[None])[0] else start


def _alternate(utility: Utility, found: Array, values: Array, space: Space, scale: float) -> tuple[Array, Array]:
    """Discrete moves and continuous climbs in turn, from the best few, until neither helps."""
    order = np.argsort(-values, kind="stable")[:3]
    found, values = found[order], values[order]
    for _ in range(SWEEPS):
        moved = []
        for k, x in enumerate(found):
            around = neighbours(x, space)
            if len(around) == 0:
                continue
            best, value = _best(around, utility(around))
            if value > values[k] + 1e-9 * scale:
                moved.append((k, best))
        if not moved:
            break
        rows = [k for k, _ in moved]
        found[rows], values[rows] = _climb(utility, np.array([x for _, x in moved]), space, scale)
    return found, values
