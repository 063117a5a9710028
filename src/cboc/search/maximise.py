"""The proposal of a site: x_k = argmax U_k(x) over the feasible set (eq. 3).

1. Look: at space-filling samples of the whole set, at others pushed out to its faces (where a utility that explores has
   its maxima), and at a cloud around the best designs so far (the anchors).
2. Climb: from the most promising of each, all at once (`ascent`), or by SLSQP where linear constraints couple them.
3. Where some coordinates are discrete: climb with them held fixed, from every combination if these are few, then try
   every neighbour (`discrete`); repeat until nothing improves. If all are discrete and designs few, look at each.

The answer is never worse than the best design that was looked at. Sites of one process search together: their arrays
have a leading axis K, which is 1 wherever a space is more than a box of continuous parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array, median
from cboc.errors import CbocError
from cboc.search.ascent import ascend_all
from cboc.search.discrete import ENUMERATED, count, is_fixed, neighbours, variations
from cboc.search.grouping import by_group
from cboc.search.joint import Joint, join, likeness
from cboc.search.landscape import Landscape, units_of
from cboc.space.space import Space

ANCHORS = 4  # designs around which the cloud is drawn
NEAREST, FARTHEST = 1e-3, 0.2  # the cloud's radii, log-uniform between
TOLERANCE = 2e-3  # of a climb, relative to the utility's scale
RACE = 4.0  # a climb is given up when this many times its promise would not reach the best one
COMBINATIONS = 64  # up to this many discrete combinations, each is climbed from
SWEEPS = 10  # most sweeps of alternating discrete moves


@dataclass(frozen=True)
class Effort:
    """How hard to search. The defaults are measured by benchmarks/step.py."""

    samples: int = 128  # of the whole set
    edges: int = 128  # on and near its faces
    cloud: int = 64  # around the best designs so far
    starts: int | None = None  # climbs from the best of each; None: 2 + D, at most 8


def maximise(
    utility: Landscape, space: Space, rng: np.random.Generator, effort: Effort | None = None
) -> tuple[Array, float]:
    """The best design found (D,) and its utility."""
    return maximise_all([utility], space, [rng], effort)[0]


def maximise_all(
    utilities: Sequence[Landscape], space: Space, rngs: Sequence[np.random.Generator], effort: Effort | None = None
) -> list[tuple[Array, float]]:
    """The best design of each landscape; similar landscapes are searched together, bit for bit as alone."""
    is_plain = space.is_box and space.is_continuous

    def key(search: tuple[Landscape, np.random.Generator]) -> object:
        return likeness(search[0]) if is_plain else object()  # object(): equal to no other key

    def function(searches: list[tuple[Landscape, np.random.Generator]]) -> list[tuple[Array, float]]:
        return _maximise_alike([utility for utility, _ in searches], space, [rng for _, rng in searches], effort)

    return by_group(function, list(zip(utilities, rngs, strict=True)), key)


def _maximise_alike(
    utilities: Sequence[Landscape], space: Space, rngs: Sequence[np.random.Generator], effort: Effort | None
) -> list[tuple[Array, float]]:
    effort = effort or Effort()
    if space.listed is not None:
        return [_best(space.listed.X, utility(space.listed.X)) for utility in utilities]
    if is_fixed(space).all() and count(space) <= ENUMERATED:
        everything = variations(np.zeros(space.dimension), space)
        return [_best(everything, utility(everything)) for utility in utilities]
    joint = join(utilities)
    pools = [_pools(utility, space, rng, effort) for utility, rng in zip(utilities, rngs, strict=True)]
    seen = np.array([np.vstack(of_site) for of_site in pools])  # (K, S, D)
    seen_values = joint(seen)
    scales = np.array([_scale(values) for values in seen_values])
    units = np.array([units_of(utility, space.dimension) for utility in utilities])
    each = effort.starts or min(2 + space.dimension, 8)
    ends = np.cumsum([len(pool) for pool in pools[0]])[:-1]
    split = zip(np.split(seen, ends, axis=1), np.split(seen_values, ends, axis=1), strict=True)
    starts = np.concatenate([_top(*pool, each) for pool in split], axis=1)
    if not space.is_continuous and count(space) <= COMBINATIONS:
        starts = np.concatenate([starts, variations(starts[0, 0], space)[None]], axis=1)
    found, values = _climb(joint, starts, space, scales, units)
    if not space.is_continuous:
        found, values = _alternate(joint, found, values, space, scales, units)
    results = zip(found, seen, values, seen_values, strict=True)
    return [_best(np.vstack([f, s]), np.concatenate([v, w])) for f, s, v, w in results]


def _pools(utility: Landscape, space: Space, rng: np.random.Generator, effort: Effort) -> list[Array]:
    return [
        space.sample(effort.samples, rng),
        _edges(effort.edges, space, rng),
        _cloud(utility.anchors[:ANCHORS], effort.cloud, space, rng),
    ]


def _best(points: Array, values: Array) -> tuple[Array, float]:
    best = int(np.argmax(np.where(np.isnan(values), -np.inf, values)))
    return points[best], float(values[best])


def _top(points: Array, values: Array, count: int) -> Array:
    """The best points of every row, (K, S, D) -> (K, count, D)."""
    order = np.argsort(-values, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(points, order[:, :, None], axis=1)


def _scale(values: Array) -> float:
    """How far the best value stands out, at most 1: the unit in which a climb may be called finished.

    Logarithmic utilities stand out by more than 1; plain ones may be small everywhere and are climbed as well.
    """
    finite = values[np.isfinite(values)]
    return min(1.0, max(1e-100, float(finite.max()) - median(finite))) if len(finite) else 1.0


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
    if len(anchors) > 0 and anchors.shape[1:] != (space.dimension,):
        raise CbocError(f"a utility's anchors are designs of {space.dimension} coordinates; these are {anchors!r}.")
    if len(anchors) == 0:
        return np.empty((0, space.dimension))
    radii = np.exp(rng.uniform(np.log(NEAREST), np.log(FARTHEST), (count, 1)))
    cloud = np.resize(anchors, (count, space.dimension)) + radii * rng.standard_normal((count, space.dimension))
    if space.is_box and space.is_continuous:
        return np.clip(cloud, 0.0, 1.0)
    return _projected(cloud, space)


def _climb(joint: Joint, starts: Array, space: Space, scales: Array, units: Array) -> tuple[Array, Array]:
    """Ascend the continuous coordinates of starts (K, S, D); the discrete ones stay where they are."""
    fixed = is_fixed(space)
    if fixed.all():
        return starts, joint(starts)
    lower, upper = np.where(fixed, starts, 0.0), np.where(fixed, starts, 1.0)
    if not space.is_box:
        boxes = zip(starts[0], lower[0], upper[0], strict=True)
        found = np.array([[_climb_constrained(joint, *box, space, float(scales[0])) for box in boxes]])
        return found, joint(found)
    sites, count, D = starts.shape
    owners = np.repeat(np.arange(sites), count)
    rows, values = ascend_all(
        joint.with_gradient,
        starts.reshape(-1, D),
        lower.reshape(-1, D),
        upper.reshape(-1, D),
        owners=owners,
        tolerance=TOLERANCE * scales[owners],
        race=RACE,
        units=units[owners],
    )
    return rows.reshape(starts.shape), values.reshape(sites, count)


def _climb_constrained(joint: Joint, start: Array, lower: Array, upper: Array, space: Space, scale: float) -> Array:
    from scipy.optimize import minimize  # here, because only constrained spaces need it

    A, b, E, e = space.linear
    constraints = [
        {"type": kind, "fun": lambda x, M=M, m=m: m - M @ x, "jac": lambda _, M=M: -M}
        for kind, M, m in (("ineq", A, b), ("eq", E, e))
        if len(M)
    ]

    def negative(x: Array) -> tuple[float, Array]:
        value, gradient = joint.with_gradient(x[None], np.zeros(1, dtype=int))
        return -float(value[0]) / scale, -gradient[0] / scale

    bounds = list(zip(lower, upper, strict=True))
    result = minimize(negative, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints)
    end = space.project(result.x) if np.isfinite(result.x).all() else start
    at_end, at_start = (float(joint(x[None, None])[0, 0]) for x in (end, start))
    return end if at_end > at_start else start


def _alternate(
    joint: Joint, found: Array, values: Array, space: Space, scales: Array, units: Array
) -> tuple[Array, Array]:
    """Alternate discrete moves and continuous climbs, from the best few (1, S, D), until neither helps."""
    order = np.argsort(-values[0], kind="stable")[:3]
    found, values = found[:, order], values[:, order]
    for _ in range(SWEEPS):
        moved = []
        for k, x in enumerate(found[0]):
            around = neighbours(x, space)
            if len(around) == 0:
                continue
            best, value = _best(around, joint(around[None])[0])
            if value > values[0, k] + 1e-9 * scales[0]:
                moved.append((k, best))
        if not moved:
            break
        rows = [k for k, _ in moved]
        found[:, rows], values[:, rows] = _climb(joint, np.array([[x for _, x in moved]]), space, scales, units)
    return found, values
