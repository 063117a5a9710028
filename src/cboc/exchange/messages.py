"""All that ever crosses a wire: a proposal goes out, a mix comes back. No field holds an outcome.

A message checks itself when it is made, and needs no further check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import Any

import numpy as np

from cboc.arrays import Array, is_number
from cboc.consensus.matrix import quantise
from cboc.errors import CbocError

Point = tuple[float, ...]  # a design in the unit cube
MOST_BESTS = 8  # best designs that a site sends
MOST_OTHERS = 32  # best designs sent to a site: more of them would add nothing
MOST_TURNS = 1_000_000  # one a minute for two years
MOST_STATES = 1_000_000_000  # arrivals of all sites of a study
TOLERANCE = 1e-6  # for the sum of weights


@dataclass(frozen=True)
class Proposal:
    """The design x_k(t) that a site would run by itself in one turn, and its best designs so far if they are shared.

    Designs lie in the unit cube, on the grid of 2⁻³². Today one design and one best design are sent; the form has
    room for plates of designs.
    """

    site: str
    turn: int  # the site's own count
    X: tuple[Point, ...]  # (q, D)
    bests: tuple[Point, ...] = ()  # (m, D)
    reward: float | None = None  # S_k, only where the rule asks for it

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", _on_grid(self.site, "X", self.X))
        object.__setattr__(self, "bests", _on_grid(self.site, "bests", self.bests))
        _check_turn(self.site, self.turn)
        if not self.X:
            raise CbocError(f"a proposal has at least one design; site '{self.site}' sent none.")
        if len({len(point) for point in (*self.X, *self.bests)}) != 1:
            raise CbocError(
                f"all designs of a proposal have the same number of coordinates; those of '{self.site}' do not."
            )
        if len(self.bests) > MOST_BESTS:
            raise CbocError(
                f"a proposal has at most {MOST_BESTS} best designs; site '{self.site}' sent {len(self.bests)}."
            )
        if self.reward is not None and not (is_number(self.reward) and isfinite(self.reward)):
            raise CbocError(f"a reward is a finite number; site '{self.site}' sent {self.reward!r}.")

    @property
    def dimension(self) -> int:
        """The number of coordinates, D."""
        return len(self.X[0])


@dataclass(frozen=True)
class News:
    """What a site hears before it thinks: the best designs of the others, if the study shares them."""

    site: str
    snapshot: int  # the number of the state it was made from
    others: tuple[Point, ...] = ()  # in the order of the study
    turn: int | None = field(
        default=None, compare=False
    )  # the first one of the site that the network does not have, if it counts them

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", tuple(map(tuple, _in_cube(self.site, "others", self.others))))
        _check_state(self.site, self.snapshot)
        if len({len(point) for point in self.others}) > 1 or len(self.others) > MOST_OTHERS:
            raise CbocError(
                f"news hold at most {MOST_OTHERS} designs of as many coordinates each; site '{self.site}' got others."
            )


@dataclass(frozen=True)
class Mix:
    """The answer to a proposal: the design x_k_new(t) where the consensus puts this site, and why."""

    site: str
    turn: int
    X: tuple[Point, ...]  # (q, D)
    weights: tuple[float, ...]  # the site's row of W, in the order of study.sites
    snapshot: int  # the number of the state it was made from
    leader: str | None = None
    others: tuple[Point, ...] = ()  # the best designs of the others, in the order of the study, if shared

    def __post_init__(self) -> None:
        for name, points in (("X", self.X), ("others", self.others)):
            object.__setattr__(self, name, tuple(map(tuple, _in_cube(self.site, name, points))))
        _check_turn(self.site, self.turn)
        _check_state(self.site, self.snapshot)
        if not self.X or len({len(point) for point in (*self.X, *self.others)}) != 1:
            raise CbocError(
                f"all designs of a mix have the same number of coordinates; those for '{self.site}' do not."
            )
        if len(self.others) > MOST_OTHERS:
            raise CbocError(f"a mix has at most {MOST_OTHERS} best designs; the one for '{self.site}' has more.")
        object.__setattr__(self, "weights", _row(self.site, self.weights))
        if self.leader is not None and not isinstance(self.leader, str):
            raise CbocError(f"a leader is named, or there is none; the one for '{self.site}' is {self.leader!r}.")

    @property
    def array(self) -> Array:  # (q, D)
        """The designs as a matrix."""
        return np.array(self.X)


def _on_grid(site: str, name: str, points: Any) -> tuple[Point, ...]:
    return tuple(tuple(quantise(np.array(point)).tolist()) for point in _in_cube(site, name, points))


def _row(site: str, weights: Any) -> tuple[float, ...]:
    """A row of W as floats; True and False count as 1 and 0, as in NumPy."""
    try:
        row = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError, OverflowError):
        row = ()
    if not all(0.0 <= weight <= 1.0 for weight in row) or not abs(fsum(row) - 1.0) <= TOLERANCE:
        raise CbocError(f"weights are numbers from 0 to 1 that add up to 1; those for '{site}' do not.")
    return row


def _in_cube(site: str, name: str, points: Any) -> list[list[float]]:
    """The points as lists; raises one sentence if a coordinate lies outside the cube."""
    try:
        found = [[_coordinate(value) for value in point] for point in points]
    except (TypeError, ValueError, OverflowError):
        raise CbocError(
            f"{name} is a list of designs, each a list of numbers from 0 to 1; site '{site}' has {points!r}."
        ) from None
    for i, point in enumerate(found):
        for d, value in enumerate(point):
            if not 0.0 <= value <= 1.0:
                raise CbocError(
                    f"designs live in the unit cube; {name}[{i}][{d}] of site '{site}' is {value:g}. "
                    "Did you forget space.to_unit?"
                )
    return found


def _coordinate(value: Any) -> float:
    if type(value) is float:
        return value
    if not is_number(value):
        raise TypeError
    return float(value)


def _check_state(site: str, state: object) -> None:
    if type(state) is not int or not 0 <= state <= MOST_STATES:
        raise CbocError(f"a state is a whole number from 0 to {MOST_STATES:,}; site '{site}' was given {state!r}.")


def _check_turn(site: str, turn: object) -> None:
    if type(turn) is not int or not 0 <= turn <= MOST_TURNS:
        raise CbocError(f"a turn is a whole number from 0 to {MOST_TURNS:,}; site '{site}' has {turn!r}.")
