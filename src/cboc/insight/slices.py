"""One parameter varies, the others stay: the expected outcome along it, and what was measured nearby."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.insight.measured import Measured
from cboc.insight.moved import Steps, coordinates, moved
from cboc.insight.surface import Expected, Surface

FINENESS = 41  # values along a parameter


@dataclass(frozen=True)
class Shadow:
    """An experiment beside a slice: its value of the parameter, and how much it tells about the slice, 0 to 1."""

    place: float
    measured: Measured
    nearness: float


@dataclass(frozen=True)
class ParameterSlice:
    """The expected outcome along one parameter, from a design through which it goes."""

    name: str
    places: Array  # (m,) natural values, or numbers of options; only those that are feasible
    expected: Expected  # (m,)
    here: float  # the value of the design itself
    shadows: tuple[Shadow, ...]
    is_bound: bool  # an equality constraint binds the parameter: others move with it

    @property
    def is_fixed(self) -> bool:
        """Whether the constraints leave the parameter no other value at this design."""
        return len(self.places) < 2


def slices(surface: Surface, base: Array, points: Sequence[Measured]) -> tuple[ParameterSlice, ...]:
    """A slice along each parameter through the design `base` (D,), in the order of the space."""
    return tuple(_along(surface, base, name, points) for name in surface.space.names)


def _along(surface: Surface, base: Array, name: str, points: Sequence[Measured]) -> ParameterSlice:
    space, parameter = surface.space, surface.space.parameters[name]
    steps = Steps.of(name, parameter, FINENESS)
    X, is_feasible = moved(space, np.tile(base, (len(steps.units), 1)), (name,), steps.units)
    own = coordinates(space, name)
    is_bound = bool(space.linear[2][:, own].any())
    ran = np.array([point.x for point in points]).reshape(-1, space.dimension)
    free = np.flatnonzero(space.linear[2].any(axis=0)) if is_bound else own
    nearness = surface.nearness(ran, base, np.union1d(own, free))
    shadows = tuple(
        Shadow(parameter.position(point.design[name]), point, float(near))
        for point, near in zip(points, nearness, strict=True)
    )
    here = parameter.position(space.from_unit(base)[name])
    return ParameterSlice(name, steps.places[is_feasible], surface.expected(X[is_feasible]), here, shadows, is_bound)


def outcomes_shown(drawn: Sequence[ParameterSlice]) -> tuple[float, float]:
    """From which outcome to which a picture goes: a bit beyond those that were measured.

    That is half as much again on either side, as far as outcomes are expected there. An interval may reach far beyond,
    where nothing was tried; it would leave no room for what is known.
    """
    y = [shadow.measured.y for shadow in drawn[0].shadows if shadow.measured.y is not None]
    low = min(min(y), *(float(each.expected.low.min(initial=np.inf)) for each in drawn))
    high = max(max(y), *(float(each.expected.high.max(initial=-np.inf)) for each in drawn))
    room = 0.5 * (max(y) - min(y))
    margin = 0.1 * room
    return max(low, min(y) - room) - margin, min(high, max(y) + room) + margin
