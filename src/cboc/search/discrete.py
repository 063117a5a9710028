"""Designs that differ in their discrete parameters: other levels of a grid, other options of a choice."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from cboc.arrays import Array, Mask
from cboc.space.polytope import nearest_point, orthonormal
from cboc.space.space import Space

ENUMERATED = 4096  # up to this many designs, if all parameters are discrete, each is looked at
Move = tuple[slice, Array]  # coordinates of one discrete parameter, and their new values


def discrete(space: Space) -> list[tuple[slice, Array]]:
    """The discrete parameters of a space: for each, its coordinates and their possible values (m, size)."""
    grids = [(slice(j, j + 1), levels[:, None]) for j, levels in enumerate(space.grid) if levels is not None]
    return grids + list(space.choices)


def is_fixed(space: Space) -> Mask:  # (D,)
    """Which coordinates are discrete?"""
    fixed = np.array([levels is not None for levels in space.grid])
    for block in space.blocks:
        fixed[block] = True
    return fixed


def count(space: Space) -> int:
    """How many combinations of discrete values there are."""
    return prod(len(values) for _, values in discrete(space))


def most_designs(space: Space) -> int | None:
    """How many designs a space has; an upper bound if they are very many, None if a parameter is continuous."""
    most = space.most_designs
    if most is None or space.is_box or most > ENUMERATED:
        return most
    return len(variations(np.zeros(space.dimension), space))


def variations(x: Array, space: Space) -> Array:  # (m, D)
    """x with every combination of discrete values that is feasible after the continuous ones are moved."""
    parts = discrete(space)
    rows = np.tile(x, (count(space), 1))
    indices = np.indices([len(values) for _, values in parts]).reshape(len(parts), len(rows))
    for (where, values), index in zip(parts, indices, strict=True):
        rows[:, where] = values[index]
    if space.is_box:
        return rows
    if not is_fixed(space).all():
        rows = np.array([row if space.contains(row) else _make_room(row, space) for row in rows])
    return rows[[space.contains(row) for row in rows]]


def neighbours(x: Array, space: Space) -> Array:  # (m, D)
    """x with one discrete parameter moved; under constraints also two, or one with the continuous ones moved."""
    moves = _moves(x, space)
    rows = [_moved(x, move) for move in moves]
    if not space.is_box:
        pairs = [_moved(_moved(x, one), other) for one, other in combinations(moves, 2) if one[0] != other[0]]
        roomy = [_make_room(y, space) for y in rows if not space.contains(y)]
        rows = [y for y in rows + pairs + roomy if space.contains(y)]
    return np.array(rows).reshape(-1, len(x))


def _moves(x: Array, space: Space) -> list[Move]:
    """The next levels of every grid, the other options of every choice."""
    moves = []
    for where, values in discrete(space):
        here = int(np.argmin(np.abs(values - x[where]).sum(axis=1)))
        reach = len(values) if where in space.blocks else 1
        moves += [(where, values[k]) for k in range(len(values)) if 0 < abs(k - here) <= reach]
    return moves


def _moved(x: Array, move: Move) -> Array:
    y = x.copy()
    y[move[0]] = move[1]
    return y


def _make_room(y: Array, space: Space) -> Array:
    """y with its continuous coordinates moved to the nearest values that the constraints allow, if any."""
    fixed = is_fixed(space)
    A, b, E, e = space.linear
    one = np.eye(int((~fixed).sum()))
    faces = np.vstack([A[:, ~fixed], one, -one])
    bounds = np.concatenate([b - A[:, fixed] @ y[fixed], np.ones(len(one)), np.zeros(len(one))])
    room = nearest_point(y[~fixed], faces, bounds, *orthonormal(E[:, ~fixed], e - E[:, fixed] @ y[fixed]))
    made = y.copy()
    if room is not None:
        made[~fixed] = room.clip(0.0, 1.0)
    return made
