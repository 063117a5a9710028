"""Designs that differ from other ones in some parameters, as far as the constraints allow.

The other parameters stay. Where that cannot be, because an equality such as "a + b + c == 1" binds them, they move as
little as it asks: x' = x + E⁺(e - Ex), over the coordinates that may move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cboc.arrays import Array, Mask
from cboc.space.fixed import Parameter
from cboc.space.space import Space

ROUNDING = 1e-7  # so far outside its constraints a design may lie


@dataclass(frozen=True)
class Steps:
    """Some values of a parameter, evenly spread: in unit coordinates, and where they lie on its axis."""

    name: str
    units: Array  # (m, size)
    places: Array  # (m,) natural values, or numbers of options

    @classmethod
    def of(cls, name: str, parameter: Parameter, most: int, *, at_edges: bool = True) -> Steps:
        """At most so many values: all options and levels if they are few enough, else from edge to edge.

        Not `at_edges`, they are the centres of as many cells of equal width; levels then stand more than once.
        """
        if parameter.is_choice:
            units = parameter.points
        elif parameter.count is not None and parameter.count <= most and at_edges:
            units = np.asarray(parameter.grid)[:, None]
        else:
            units = _even(most, at_edges)[:, None]
            if parameter.grid is not None:
                levels = np.asarray(parameter.grid)
                units = levels[np.abs(units - levels[None]).argmin(axis=1)][:, None]
                units = np.unique(units, axis=0) if at_edges else units
        return cls(name, units, parameter.natural(units if parameter.is_choice else units[:, 0]).reshape(-1))


def _even(count: int, at_edges: bool) -> Array:
    return np.linspace(0.0, 1.0, count) if at_edges else (np.arange(count) + 0.5) / count


def coordinates(space: Space, *names: str) -> NDArray[np.intp]:
    """The unit coordinates of some parameters."""
    owners = [name for name, parameter in space.parameters.items() for _ in range(parameter.size)]
    return np.flatnonzero([owner in names for owner in owners])


def moved(space: Space, X: Array, names: tuple[str, ...], units: Array) -> tuple[Array, Mask]:
    """Designs X (n, D) with other unit coordinates of some parameters (n, k), and whether they are feasible (n,)."""
    chosen = coordinates(space, *names)
    result = X.copy()
    result[:, chosen] = units
    A, b, E, e = space.linear
    if len(E):
        result += _compensation(space, E, chosen, e - result @ E.T)
    is_inside = ((result >= -ROUNDING) & (result <= 1.0 + ROUNDING)).all(axis=1)
    is_below = (result @ A.T <= b + ROUNDING).all(axis=1)
    is_equal = (abs(result @ E.T - e) <= ROUNDING).all(axis=1)
    is_feasible: Mask = np.logical_and.reduce([is_inside, is_below, is_equal])
    return result.clip(0.0, 1.0), is_feasible


def _compensation(space: Space, E: Array, chosen: NDArray[np.intp], missing: Array) -> Array:  # (n, D)
    """The least change of the coordinates that may move by which the equalities hold; levels may not."""
    may_move = np.array([levels is None for levels in space.grid]) & E.any(axis=0)
    may_move[chosen] = False
    change = np.zeros((len(missing), space.dimension))
    change[:, may_move] = missing @ np.linalg.pinv(E[:, may_move]).T
    return change
