"""A parameter that a site cannot vary: it keeps its place in the unit cube, and has one value there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.space.choice import Choice
from cboc.space.parameters import Axis, Float, Int


@dataclass(frozen=True)
class Fixed:
    """A parameter of a study at the one value that a site can run; every other value goes to it."""

    parameter: Float | Int | Choice
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.parameter.from_unit(self._place))

    @cached_property
    def _place(self) -> Array:  # (size,)
        return self.parameter.to_unit(self.value)

    @property
    def is_choice(self) -> bool:
        """Whether it has options."""
        return self.parameter.is_choice

    @property
    def points(self) -> Array:
        """The point of its one option; none if it is a number."""
        return self._place[None] if self.is_choice else np.empty((0, 1))

    @property
    def grid(self) -> Array | None:
        """Its one level in the unit cube; None if it has options."""
        return None if self.is_choice else self._place

    @property
    def only(self) -> float | None:
        """Its value in a constraint; None if it has options."""
        return None if self.is_choice else float(self.value)

    @property
    def count(self) -> int:
        """The number of its values."""
        return 1

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.parameter.unit

    @property
    def size(self) -> int:
        """Number of unit coordinates."""
        return self.parameter.size

    def coordinates(self, name: str) -> tuple[str, ...]:
        """Labels of the unit coordinates."""
        return self.parameter.coordinates(name)

    @property
    def width(self) -> float:
        """The span of its unit coordinates, as of the study's."""
        return self.parameter.width

    @property
    def axis(self) -> Axis:
        """How it is drawn."""
        return self.parameter.axis

    @property
    def described(self) -> str:
        """Its value in words: '25, fixed'."""
        return f"{self.shown(self.value)}, fixed"

    @property
    def allowed(self) -> str:
        """What may be written into a field: '25 °C'."""
        return f"{self.shown(self.value)} {self.unit}".rstrip()

    def shown(self, value: Any) -> str:
        """The value in as few digits as an experiment can tell apart."""
        return self.parameter.shown(value)

    def position(self, value: Any) -> float:
        """Where a value lies on its axis."""
        return self.parameter.position(value)

    def natural(self, u: Array) -> Array:
        """The natural value for every vector, of any shape."""
        return self.parameter.natural(np.broadcast_to(self._place, u.shape))

    def to_unit(self, value: object) -> Array:  # (size,)
        """The place of its value; raises one sentence for any other."""
        place = self.parameter.to_unit(value)
        if not np.allclose(place, self._place, rtol=0.0, atol=1e-6):
            raise CbocError(f"it is fixed at {self.allowed} here, but got {value!r}.")
        return self._place.copy()

    def from_unit(self, u: Array) -> Any:  # noqa: ARG002 - there is only one
        """Its value."""
        return self.value

    def read(self, text: str) -> Any:
        """The value that a cell of a table means."""
        return self.parameter.read(text)

    def spread(self, u: Array) -> Array:  # (n,) -> (n, size)
        """Its one value, as often as asked for."""
        return np.tile(self._place, (len(u), 1))


Parameter = Float | Int | Choice | Fixed
