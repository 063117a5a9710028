"""Designs that differ in their discrete parameters: other levels of a grid, other options of a choice."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from cboc.arrays import Array
from cboc.space import Space

Move = tuple[slice, Array]  # coordinates of one discrete parameter, and what they become

NUDGE = (
    1.2  # an infeasible move is led back from a little beyond its level, or the nearest feasible design may be no move
)


def discrete(space: Space) -> list[tuple[slice, Array]]:
    """(coordinates, their values (m, size)), one entry per discrete parameter."""
    grids = [(slice(j, j + 1), levels[:, None]) for j, levels in enumerate(space.grid) if levels is not None]
    return grids + [(block, np.eye(block.stop - block.start)) for block in space.blocks]


def is_fixed(space: Space) -> Array:  # (D,) of booleans
    """Which coordinates are discrete?"""
    fixed = np.array([levels is not None for levels in space.grid])
    for block in space.blocks:
        fixed[block] = True
    return fixed


def count(space: Space) -> int:
    """How many combinations of discrete values there are."""
    return prod(len(values) for _, values in discrete(space))


def variations(x: Array, space: Space) -> Array:  # (m, D)
    """x with every combination of discrete values that is feasible."""
    parts = discrete(space)
    rows = np.tile(x, (count(space), 1))
    indices = np.indices([len(values) for _, values in parts]).reshape(len(parts), -1)
    for (where, values), index in zip(parts, indices, strict=True):
        rows[:, where] = values[index]
    return rows if space.is_box else rows[[space.contains(row) for row in rows]]


def neighbours(x: Array, space: Space) -> Array:  # (m, D)
    """x with one discrete parameter moved; where constraints couple parameters, also two, and the others make room."""
    moves = _moves(x, space)
    singles = [_moved(x, move) for move in moves]
    if space.is_box:
        return np.array(singles).reshape(-1, len(x))
    pairs = [_moved(_moved(x, one), other) for one, other in combinations(moves, 2) if one[0] != other[0]]
    feasible = [y for y in singles + pairs if space.contains(y)]
    if not is_fixed(space).all():
        feasible += _made_room(
            x, [move for move, y in zip(moves, singles, strict=True) if not space.contains(y)], space
        )
    return np.array(feasible).reshape(-1, len(x))


def _moves(x: Array, space: Space) -> list[Move]:
    """The next levels of every grid, the other options of every choice."""
    moves = []
    for where, values in discrete(space):
        here = int(np.argmin(np.abs(values - x[where]).sum(axis=1)))
        reach = 1 if where.stop - where.start == 1 else len(values)
        moves += [(where, values[k]) for k in range(len(values)) if 0 < abs(k - here) <= reach]
    return moves


def _moved(x: Array, move: Move) -> Array:
    y = x.copy()
    y[move[0]] = move[1]
    return y


def _made_room(x: Array, moves: list[Move], space: Space) -> list[Array]:
    """Moves that are infeasible as they are, with the other coordinates where the constraints leave them."""
    rows = []
    for where, value in moves:
        y = space.project(_moved(x, (where, x[where] + NUDGE * (value - x[where]))))
        if np.array_equal(y[where], value):
            rows.append(y)
    return rows
