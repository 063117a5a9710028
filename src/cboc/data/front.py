"""Pareto fronts: which outcomes are beaten by none, the room that is left above them, and the volume below them.

Every outcome is a row of a matrix, and more is better in every column. With a reference r, the least that is worth
anything,

    front    the rows above r that no other row beats: is at least as good in all columns, and better in one
    room     {z > r that no row of the front reaches}, cut into disjoint boxes (l, u]; some u are infinite
    volume   of {z > r that some row of the front reaches}
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array, Mask


def is_on_front(Y: Array) -> Mask:  # (n, m) -> (n,)
    """Which rows no other row beats; of equal rows, the first one."""
    order = np.lexsort(-Y.T[::-1])  # best first by the first column: a row is beaten by earlier ones only
    kept: list[int] = []
    for i in order.tolist():
        if not kept or not (Y[kept] >= Y[i]).all(axis=1).any():
            kept.append(i)
    found = np.zeros(len(Y), dtype=bool)
    found[kept] = True
    return found


def front(Y: Array, reference: Array) -> Array:  # (n, m), (m,) -> (f, m)
    """The rows above the reference that no other row beats."""
    above = Y[(reference < Y).all(axis=1)]
    return above[is_on_front(above)]


def room(Y: Array, reference: Array) -> tuple[Array, Array]:
    """The corners l and u, (b, m) each, of disjoint boxes that make up the room above a front Y (f, m).

    Slab by slab along the last column; a box that goes on in the next slab is prolonged, so that there are about
    2 f boxes for three columns.
    """
    lower, upper = _room(front(Y, reference), reference)
    return np.array(lower).reshape(-1, len(reference)), np.array(upper).reshape(-1, len(reference))


Corners = list[tuple[float, ...]]


def _room(Y: Array, reference: Array) -> tuple[Corners, Corners]:
    if Y.shape[1] == 2:  # a staircase
        steps = Y[Y[:, 0].argsort()]
        first, second = steps[:, 0].tolist(), steps[:, 1].tolist()
        lower = list(zip([float(reference[0]), *first], [*second, float(reference[1])], strict=True))
        return [*lower], [(end, np.inf) for end in (*first, np.inf)]
    levels = np.unique(Y[:, -1]).tolist()
    low_ends: Corners = []
    high_ends: Corners = []
    growing: dict[tuple[tuple[float, ...], tuple[float, ...]], float] = {}  # a box of the other columns: where it began
    floor = float(reference[-1])
    for level in (*levels, np.inf):
        rest = Y[Y[:, -1] >= level, :-1]
        slab = set(zip(*_room(rest[is_on_front(rest)], reference[:-1]), strict=True))
        for box in [box for box in growing if box not in slab]:
            low_ends.append((*box[0], growing.pop(box)))
            high_ends.append((*box[1], floor))
        growing |= {box: floor for box in slab if box not in growing}
        floor = level
    for (low, high), began in growing.items():
        low_ends.append((*low, began))
        high_ends.append((*high, np.inf))
    return low_ends, high_ends


def hypervolume(Y: Array, reference: Array) -> float:
    """The volume between the reference and the rows of Y (n, m)."""
    best = front(Y, reference)
    if len(reference) == 2:
        steps = best[best[:, 0].argsort()]
        return float(np.diff(steps[:, 0], prepend=reference[0]) @ (steps[:, 1] - reference[1]))
    levels = np.unique(best[:, -1])
    heights = np.diff(levels, prepend=reference[-1])
    areas = [hypervolume(best[best[:, -1] >= level, :-1], reference[:-1]) for level in levels]
    return float(heights @ np.array(areas))
