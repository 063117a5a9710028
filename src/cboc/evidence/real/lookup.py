"""A site's table as a problem: an experiment is a look-up, and a row that is absent is a failed experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Direction
from cboc.problems.problem import Problem
from cboc.space.space import Space

Row = tuple[tuple[float, ...], float]  # the values of a design, an option being its number; and its outcome


class Lookup(Protocol):
    """A function of designs (n, d) in natural units that knows all of its outcomes."""

    @property
    def outcomes(self) -> Array:
        """The outcome of every row that is there (n,)."""

    def __call__(self, X: Array, /) -> Array: ...


@dataclass(frozen=True, eq=False)
class Options:
    """A table over options: an array with an axis for every parameter, NaN where a row is absent."""

    values: Array

    @property
    def outcomes(self) -> Array:
        return self.values[~np.isnan(self.values)]

    def __call__(self, X: Array) -> Array:
        found: Array = self.values[tuple(X.astype(int).T)]
        return found


@dataclass(frozen=True, eq=False)
class Nearest:
    """A table over numbers: a design has the outcome of the nearest row, the first one on ties."""

    rows: Array  # (n, d)
    outcomes: Array  # (n,)

    def __call__(self, X: Array) -> Array:
        squared = ((X[:, None, :] - self.rows) ** 2).sum(axis=2)
        return self.outcomes[squared.argmin(axis=1)]


def options(space: Space, rows: Sequence[Row]) -> Options:
    """The table of these rows; rows of one design count as one, with their mean."""
    values = np.full([p.size for p in space.parameters.values()], np.nan)
    for place, outcome in _means(rows).items():
        values[tuple(int(number) for number in place)] = outcome
    return Options(values)


def nearest(rows: Sequence[Row]) -> Nearest:
    """The table of these rows; rows of one design count as one, with their mean."""
    means = _means(rows)
    return Nearest(np.array(list(means)), np.array(list(means.values())))


def _means(rows: Sequence[Row]) -> Mapping[tuple[float, ...], float]:
    """The mean outcome of every design, in the order of the rows."""
    found: dict[tuple[float, ...], list[float]] = {}
    for place, outcome in rows:
        found.setdefault(place, []).append(outcome)
    return {place: float(np.mean(outcomes)) for place, outcomes in found.items()}


@dataclass(frozen=True)
class Known:
    """A site's problem of which every outcome is known: its optimum is the best row."""

    problem: Problem
    median: float

    @property
    def way(self) -> float:
        """|median - y*|: how much there is to find."""
        return abs(self.median - self.problem.optimum)


def known(name: str, space: Space, direction: Direction, table: Lookup) -> Known:
    """The problem that a table is."""
    best = direction.sign * float((direction.sign * table.outcomes).max())
    problem = Problem(name, space, table, direction, known_optimum=best)
    return Known(problem, float(np.median(table.outcomes)))
