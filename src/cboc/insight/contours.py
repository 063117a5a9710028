"""Two parameters vary, the others stay: the expected outcome on a grid, with the experiments around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cboc.arrays import Array, Mask
from cboc.insight.measured import Measured
from cboc.insight.moved import Steps, coordinates, moved
from cboc.insight.surface import Surface
from cboc.space.space import Space

FINENESS = 40  # cells along each parameter


@dataclass(frozen=True)
class Contours:
    """The expected outcome over two parameters, in cells of equal width on their axes."""

    names: tuple[str, str]  # across, up
    places: tuple[Array, Array]  # (m,), (k,) the centres of the cells: natural values, or numbers of options
    middle: Array  # (k, m) NaN where the constraints forbid it
    here: tuple[float, float]  # the design that the others stay at
    points: tuple[tuple[float, float, Measured, float], ...]  # across, up, and how much it tells about this plane


@dataclass(frozen=True)
class Plane:
    """Designs that differ from another one in two parameters, and in others as far as constraints ask for it."""

    places: tuple[Array, Array]  # (m,), (k,)
    X: Array  # (k * m, D)
    is_feasible: Mask  # (k * m,)

    @classmethod
    def through(cls, space: Space, base: Array, names: tuple[str, str]) -> Plane:
        """Those that differ from the design `base` (D,), in cells."""
        across, up = (Steps.of(name, space.parameters[name], FINENESS, at_edges=False) for name in names)
        first, second = np.meshgrid(np.arange(len(across.units)), np.arange(len(up.units)))
        units = np.empty((first.size, across.units.shape[1] + up.units.shape[1]))
        is_first = np.isin(coordinates(space, *names), coordinates(space, names[0]))  # they come in the space's order
        units[:, is_first], units[:, ~is_first] = across.units[first.ravel()], up.units[second.ravel()]
        return cls((across.places, up.places), *moved(space, np.tile(base, (len(units), 1)), names, units))

    def of(self, function: Callable[[Array], Array]) -> Array:  # (k, m)
        """What a function of designs is in each cell; NaN where the constraints forbid it."""
        values = np.full(len(self.X), np.nan)
        if self.is_feasible.any():
            values[self.is_feasible] = function(self.X[self.is_feasible])
        across, up = self.places
        return values.reshape(len(up), len(across))


def contours(surface: Surface, base: Array, names: tuple[str, str], points: Sequence[Measured]) -> Contours | None:
    """The expected outcome over two parameters through the design `base` (D,); None if nothing there is feasible."""
    space = surface.space
    plane = Plane.through(space, base, names)
    if not plane.is_feasible.any():
        return None
    ran = np.array([point.x for point in points]).reshape(-1, space.dimension)
    near = surface.nearness(ran, base, coordinates(space, *names)).tolist()
    places = [(*place(space, names, point.design), point, near[k]) for k, point in enumerate(points)]
    here = place(space, names, space.from_unit(base))
    return Contours(names, plane.places, plane.of(surface.middle), here, tuple(places))


def place(space: Space, names: tuple[str, str], design: Mapping[str, Any]) -> tuple[float, float]:
    """Where a design lies in a picture of two parameters."""
    first, second = (space.parameters[name].position(design[name]) for name in names)
    return first, second
