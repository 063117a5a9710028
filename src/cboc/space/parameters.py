"""The kinds of numeric parameters, Float and Int, and where their values lie in [0, 1].

A number v is one unit coordinate, u = (v - low) / (high - low), or the same with log10 of all three. With a step, only
the grid low, low + step, ... <= high exists.

Messages here do not know the parameter's name; the Space that holds it puts the name in front.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cboc.arrays import Array, is_number
from cboc.errors import CbocError, short
from cboc.names import LONGEST_UNIT, check_name
from cboc.space.digits import plain, rounded, rounded_log

TOLERANCE = 1e-9  # distances in the unit cube below this are rounding
MOST_LEVELS = 1_000_000
MOST_OPTIONS = 1000
WRITTEN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)  # a number in a cell


@dataclass(frozen=True)
class Axis:
    """How a parameter is drawn: its scale, from where to where, and for options their names."""

    scale: Literal["linear", "log", "options"]
    low: float
    high: float
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Number:
    """The scale and the grid that Float and Int share."""

    _noun: ClassVar[str]
    is_choice: ClassVar[bool] = False
    only: ClassVar[None] = None  # the value of a number that is fixed
    points: ClassVar[Array] = np.empty((0, 1))  # of options, of which a number has none

    low: float
    high: float
    log: bool = False
    step: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        kind = type(self).__name__
        check_unit(self.unit)
        if not isinstance(self.log, bool):
            raise CbocError(f"log is True or False, but got {short(self.log)}.")
        if not (self.low < self.high and math.isfinite(self.high - self.low)):
            raise CbocError(
                f"{kind} needs low < high, both finite, but got low = {self.low!r} and high = {self.high!r}."
            )
        if self.log and self.low <= 0:
            raise CbocError(f"a log scale needs low > 0, but got low = {self.low!r}; raise low or leave log out.")
        if self.step is not None:
            self._check_step(self.step)

    def _check_step(self, step: float) -> None:
        if not 0 < step <= self.high - self.low:
            raise CbocError(f"step lies between 0 and high - low = {plain(self.high - self.low)}, but got {step!r}.")
        if (self.high - self.low) / step >= MOST_LEVELS:
            raise CbocError(
                f"a grid has at most {MOST_LEVELS:,} levels, but a step of {plain(step)} from {plain(self.low)} to "
                f"{plain(self.high)} makes more; use a larger step, or a Float without one."
            )

    @property
    def size(self) -> int:
        """Number of unit coordinates."""
        return 1

    def coordinates(self, name: str) -> tuple[str, ...]:
        """Labels of the unit coordinates."""
        return (name,)

    @property
    def width(self) -> float:
        """The span of the unit coordinate: high - low, or log10(high / low)."""
        return math.log10(self.high) - math.log10(self.low) if self.log else self.high - self.low

    @property
    def count(self) -> int | None:
        """The number of its values; None if it is continuous."""
        return None if self.step is None else len(self.levels)

    @property
    def axis(self) -> Axis:
        """How it is drawn."""
        return Axis("log" if self.log else "linear", self.low, self.high)

    @property
    def described(self) -> str:
        """Its values in words: '20 to 90 in steps of 5'."""
        return self._range("")

    @property
    def allowed(self) -> str:
        """What may be written into a field: '20 to 90 °C in steps of 5'."""
        return self._range(f" {self.unit}" if self.unit else "")

    def shown(self, value: float) -> str:
        """The value in as few digits as an experiment can tell apart, never rounded out of its bounds or levels."""
        if self.step is not None:
            short = plain(value)
            return short if abs(float(short) - value) <= 1e-6 * self.step else repr(value)
        short = (rounded_log if self.log else rounded)(value, self.low, self.high)
        return short if self.low <= float(short) <= self.high else repr(value)

    def position(self, value: float) -> float:
        """Where a value lies on its axis."""
        return float(value)

    @cached_property
    def levels(self) -> Array:
        """The grid in natural units; empty for a continuous parameter."""
        if self.step is None:
            return np.empty(0)
        # Exact decimals make three steps of 0.1 the 0.3 that people write.
        low, high, step = (Fraction(repr(value)) for value in (self.low, self.high, self.step))
        scale = math.lcm(low.denominator, step.denominator)
        first, stride = int(low * scale), int(step * scale)
        return np.array([(first + k * stride) / scale for k in range((high - low) // step + 1)])

    @cached_property
    def grid(self) -> Array | None:
        """The grid in the unit cube, or None for a continuous parameter."""
        return None if self.step is None else self._scaled(self.levels)

    def _scaled(self, values: Array) -> Array:
        low, high = self.low, self.high
        if self.log:
            low, high, values = math.log10(low), math.log10(high), np.log10(values)
        return (values - low) / (high - low)

    def natural(self, u: Array) -> Array:
        """Natural values of unit coordinates in [0, 1], of any shape; exactly low at 0 and high at 1."""
        if self.grid is not None:
            return self.levels[nearest_level(self.grid, u)]
        if self.log:
            inside = 10.0 ** ((1 - u) * math.log10(self.low) + u * math.log10(self.high))
            return np.where(u <= 0, self.low, np.where(u >= 1, self.high, inside.clip(self.low, self.high)))
        return ((1 - u) * self.low + u * self.high).clip(self.low, self.high)

    def to_unit(self, value: object) -> Array:  # (1,)
        """The unit coordinate of a value, checked against bounds and grid."""
        number = as_number(value)
        if number is None or (self.log and number <= 0):
            raise self._unexpected(value)
        u = self._scaled(np.array([number]))
        if not -TOLERANCE <= u[0] <= 1 + TOLERANCE:
            raise self._unexpected(value)
        if self.grid is None or self.step is None:
            return u.clip(0.0, 1.0)
        k = nearest_level(self.grid, u)
        level = self.levels[k[0]]
        if abs(level - number) > 1e-6 * self.step:
            raise self._unexpected(value, end=f"; the nearest is {plain(level)}.")
        return self.grid[k]

    def spread(self, u: Array) -> Array:  # (n,) -> (n, 1)
        """Map uniform numbers in [0, 1) to equally likely values."""
        values: Array = u if self.grid is None else self.grid[(u * len(self.grid)).astype(int)]
        return values[:, None]

    def _unexpected(self, value: object, end: str = ".") -> CbocError:
        return CbocError(f"expected {self._noun} from {self.allowed}, but got {_shown(value)}{end}")

    def _range(self, unit: str) -> str:
        step = f" in steps of {plain(self.step)}" if self.step is not None and self.step != 1 else ""
        return f"{plain(self.low)} to {plain(self.high)}{unit}{step}"


@dataclass(frozen=True)
class Float(_Number):
    """A real number between low and high, on a grid if a step is given."""

    _noun: ClassVar[str] = "a number"

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            value = getattr(self, name)
            if not (name == "step" and value is None):
                object.__setattr__(self, name, _bound(name, value))
        super().__post_init__()

    def from_unit(self, u: Array) -> float:  # (1,)
        """The natural value of a unit coordinate."""
        return float(self.natural(u)[0])

    def read(self, text: str) -> float:
        """The value that a cell of a table means."""
        number = as_float(text)
        if number is None:
            raise self._unexpected(text)
        return number


@dataclass(frozen=True)
class Int(_Number):
    """A whole number low, low + step, ... <= high."""

    _noun: ClassVar[str] = "a whole number"

    low: int
    high: int
    log: bool = False
    step: int = 1
    unit: str = ""

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            value = _bound(name, getattr(self, name))
            if value != round(value) or abs(value) > 2**53:
                raise CbocError(
                    f"{name} of an Int is a whole number below 2^53, but got {_shown(getattr(self, name))}."
                )
            object.__setattr__(self, name, int(value))
        super().__post_init__()

    def from_unit(self, u: Array) -> int:  # (1,)
        """The natural value of a unit coordinate."""
        return int(self.natural(u)[0])

    def read(self, text: str) -> int:
        """The value that a cell of a table means."""
        value = as_float(text)
        if value is None or not value.is_integer():
            raise self._unexpected(text)
        return int(value)


def nearest_level(grid: Array, u: Array) -> NDArray[np.intp]:
    """Index of the grid level nearest to u; half way between two levels, the lower one."""
    return np.searchsorted((grid[1:] + grid[:-1]) / 2, u)


def check_unit(unit: object) -> None:
    if not isinstance(unit, str):
        raise CbocError(f"unit is a string such as '°C', but got {short(unit)}.")
    check_name("a unit", unit, LONGEST_UNIT)


def _bound(name: str, value: object) -> float:
    number = as_number(value)
    if number is None:
        raise CbocError(f"{name} is a finite number, but got {_shown(value)}.")
    return number


def as_number(value: object) -> float | None:
    """The value as a finite float, or None; True and False are not numbers here."""
    if not is_number(value) or not math.isfinite(value):  # type: ignore[arg-type]  # it is a number
        return None
    return float(value)  # type: ignore[arg-type]


def as_float(text: str) -> float | None:
    """The finite number in a cell, or None; Python would also take 0_1 for 1."""
    number = float(text) if WRITTEN.fullmatch(text.strip()) else math.inf
    return number if math.isfinite(number) else None


def plain_scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _shown(value: object) -> str:
    return short(plain_scalar(value))
