"""A choice among a few options, and where they lie in the unit cube.

    options that are only names     m coordinates, one of them 1 and the others 0
    options in an order             one coordinate, evenly spaced from 0 to 1
    options with a nature           a few coordinates, read from descriptors: options that are alike lie near each other

A design has a point for its option, and a vector that lies between such points goes to the nearest one. So a weighted
mean of designs is a vote by weight where options are only names, and a compromise where they have a nature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean, short
from cboc.names import LONGEST_OPTION, check_name
from cboc.space.descriptors import Table, as_table, places
from cboc.space.parameters import TOLERANCE, Axis, as_float, as_number, check_unit, plain_scalar

MOST_OPTIONS = 1000

Option = str | float | bool


@dataclass(frozen=True)
class Choice:
    """One of a few options: strings, numbers or booleans.

    `ordered` options are near their neighbours in the list. `descriptors` say what options are like, by name, with a
    number for every option: {"polarity": [10.2, 5.2], "boiling point": [100, 78]}.
    """

    is_choice: ClassVar[bool] = True
    width: ClassVar[float] = 1.0
    grid: ClassVar[None] = None
    only: ClassVar[None] = None

    options: tuple[Option, ...]
    unit: str = ""
    ordered: bool = False
    descriptors: Table = ()

    def __post_init__(self) -> None:
        check_unit(self.unit)
        if isinstance(self.options, str | Mapping | set | frozenset) or not hasattr(self.options, "__iter__"):
            raise CbocError(f"options are a list such as ['water', 'ethanol'], but got {short(self.options)}.")
        options = tuple(plain_scalar(option) for option in self.options)
        object.__setattr__(self, "options", options)
        if len(options) < 2:
            raise CbocError(f"a Choice needs at least 2 options, but got {list(options)!r}.")
        if len(options) > MOST_OPTIONS:
            raise CbocError(f"a Choice has at most {MOST_OPTIONS:,} options, but got {len(options):,}.")
        seen: set[object] = set()
        for option in options:
            _check_option(option)
            if not seen.isdisjoint((option, str(option))):
                raise CbocError(f"options must differ, but {short(option)} is there twice.")
            seen |= {option, str(option)}
        if not isinstance(self.ordered, bool):
            raise CbocError(f"ordered is True or False, but got {short(self.ordered)}.")
        object.__setattr__(self, "descriptors", as_table(self.descriptors, options))
        if self.ordered and self.descriptors:
            raise CbocError("options are near each other by their order or by descriptors; leave one of them out.")
        if self.descriptors:
            _ = self.points  # raises one sentence if two options have the same descriptors

    @cached_property
    def points(self) -> Array:  # (m, size)
        """The point of every option."""
        m = len(self.options)
        if self.descriptors:
            points = places(self.descriptors, self.options)
        else:
            points = np.linspace(0.0, 1.0, m)[:, None] if self.ordered else np.eye(m)
        points.setflags(write=False)
        return points

    @property
    def size(self) -> int:
        """Number of unit coordinates."""
        if self.descriptors:
            return int(self.points.shape[1])
        return 1 if self.ordered else len(self.options)

    def coordinates(self, name: str) -> tuple[str, ...]:
        """Labels of the unit coordinates: 'solvent=water', 'solvent=ethanol'; 'solvent~1' if options have a nature."""
        if self.descriptors:
            return tuple(f"{name}~{k + 1}" for k in range(self.size))
        return (name,) if self.ordered else tuple(f"{name}={option}" for option in self.options)

    @property
    def count(self) -> int:
        """The number of its options."""
        return len(self.options)

    @property
    def axis(self) -> Axis:
        """How it is drawn."""
        return Axis("options", -0.5, len(self.options) - 0.5, tuple(map(str, self.options)))

    @property
    def described(self) -> str:
        """Its options: 'water, ethanol'."""
        return ", ".join(map(str, self.options))

    @property
    def allowed(self) -> str:
        """What may be written into a field, beside its options: the unit."""
        return self.unit

    def shown(self, value: object) -> str:
        """The option as people write it."""
        return str(value)

    def position(self, value: Option) -> float:
        """Where an option lies on its axis."""
        return float(self.options.index(value))

    def to_unit(self, value: object) -> Array:  # (size,)
        """The point of an option."""
        value = plain_scalar(value)
        for k, option in enumerate(self.options):
            if option == value and isinstance(option, bool) == isinstance(value, bool):
                return self.points[k].copy()
        raise self._unexpected(value)

    def from_unit(self, u: Array) -> Option:  # (size,)
        """The option whose point is nearest."""
        return self.options[int(nearest_points(self.points, u[None])[0])]

    def natural(self, U: Array) -> Array:  # (n, size) -> (n, 1)
        """The numbers of the options whose points are nearest, from 0."""
        return nearest_points(self.points, U)[:, None].astype(float)

    def read(self, text: str) -> Option:
        """The option that a cell of a table means."""
        for option in self.options:
            if text == str(option) or (isinstance(option, bool) and text.lower() == str(option).lower()):
                return option
        for option in self.options:
            if not isinstance(option, str | bool) and as_float(text) == option:
                return option
        raise self._unexpected(text)

    def spread(self, u: Array) -> Array:  # (n,) -> (n, size)
        """Map uniform numbers in [0, 1) to equally likely options."""
        return self.points[(u * len(self.options)).astype(int)]

    def _unexpected(self, value: object) -> CbocError:
        return CbocError(f"unknown option {short(value)}; {did_you_mean(str(value), map(str, self.options))}")


def nearest_points(points: Array, U: Array) -> NDArray[np.intp]:  # (m, size), (n, size) -> (n,)
    """Which point is nearest to each vector, the first one on ties; distances that differ only by rounding are tied.

    |u - p|² is least where the vote u·p - |p|²/2 is largest; of options that are only names, where u is largest.
    """
    votes = U @ points.T - 0.5 * (points * points).sum(axis=1)
    return (votes >= votes.max(axis=1, keepdims=True) - TOLERANCE).argmax(axis=1)


def _check_option(option: object) -> None:
    if isinstance(option, str):
        if not option or option != option.strip():
            raise CbocError(f"an option is not empty and has no space at either end, but got {short(option)}.")
        check_name("an option", option, LONGEST_OPTION)
    elif not isinstance(option, bool) and not (isinstance(option, int | float) and as_number(option) is not None):
        raise CbocError(f"an option is a string, a finite number or a boolean, but got {short(option)}.")
