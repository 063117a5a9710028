"""Two parameters vary, the others stay: the expected outcome on a grid, with the experiments around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.insight.measured import Measured
from cboc.insight.moved import Steps, coordinates, moved
from cboc.insight.surface import Surface

FINENESS = 40  # cells along each parameter


@dataclass(frozen=True)
class Contours:
    """The expected outcome over two parameters, in cells of equal width on their axes."""

    names: tuple[str, str]  # across, up
    places: tuple[Array, Array]  # (m,), (k,) the centres of the cells: natural values, or numbers of options
    middle: Array  # (k, m) NaN where the constraints forbid it
    here: tuple[float, float]  # the design that the others stay at
    points: tuple[tuple[float, float, Measured, float], ...]  # across, up, and how much it tells about this plane


def contours(surface: Surface, base: Array, names: tuple[str, str], points: Sequence[Measured]) -> Contours | None:
    """The expected outcome over two parameters through the design `base` (D,); None if nothing there is feasible."""
    space = surface.space
    across, up = (Steps.of(name, space.parameters[name], FINENESS, at_edges=False) for name in names)
    first, second = np.meshgrid(np.arange(len(across.units)), np.arange(len(up.units)))
    units = np.empty((first.size, across.units.shape[1] + up.units.shape[1]))
    own = coordinates(space, *names)
    is_first = np.isin(own, coordinates(space, names[0]))  # the coordinates come in the order of the space
    units[:, is_first], units[:, ~is_first] = across.units[first.ravel()], up.units[second.ravel()]
    X, is_feasible = moved(space, np.tile(base, (len(units), 1)), names, units)
    if not is_feasible.any():
        return None
    middle = np.full(len(units), np.nan)
    middle[is_feasible] = surface.middle(X[is_feasible])
    ran = np.array([point.x for point in points]).reshape(-1, space.dimension)
    near = surface.nearness(ran, base, own).tolist()
    places = [(*_place(surface, names, point.design), point, near[k]) for k, point in enumerate(points)]
    here = _place(surface, names, space.from_unit(base))
    return Contours(names, (across.places, up.places), middle.reshape(first.shape), here, tuple(places))


def _place(surface: Surface, names: tuple[str, str], design: Mapping[str, Any]) -> tuple[float, float]:
    first, second = (surface.space.parameters[name].position(design[name]) for name in names)
    return first, second
