"""The ground on which designs are drawn: a space of two numbers in natural units, with the contours of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.plots import style
from cboc.problems.problem import Problem
from cboc.space.space import Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINENESS = 121  # points of the contour grid along each axis
LEVELS = 12


def is_plane(space: Space) -> bool:
    """Does the space have exactly two numbers, which a map can show?"""
    return len(space.names) == 2 and not space.blocks


def draw_plane(ax: Axes, space: Space) -> None:
    """Set both axes to natural units, logarithmic where the parameter is."""
    for axis, name in zip("xy", space.names, strict=True):
        drawn = space.parameters[name].axis
        getattr(ax, f"set_{axis}scale")(drawn.scale)
        getattr(ax, f"set_{axis}lim")(drawn.low, drawn.high)
        getattr(ax, f"set_{axis}label")(label(space, name), fontsize=style.SMALL, color=style.INK)
        if drawn.scale == "linear":
            ax.locator_params(axis=axis, nbins=5)  # type: ignore[arg-type]
    ax.grid(visible=False)
    ax.set_box_aspect(1)


def draw_contours(ax: Axes, problem: Problem) -> None:
    """Draw levels at equal shares of the area, the best white; a cross marks the best point of the grid."""
    u = np.linspace(0.0, 1.0, FINENESS)
    X = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
    values, natural = problem.values(X), problem.space.array_from_unit(X)
    cost = -problem.direction.sign * values
    levels = np.unique(np.quantile(cost, np.linspace(0.0, 1.0, LEVELS)))
    shape = (FINENESS, FINENESS)
    x, y = (column.reshape(shape) for column in natural.T)
    if len(levels) > 1:  # a function that is flat in the box has no levels
        ax.contourf(x, y, cost.reshape(shape), levels=levels, colors=_shades(len(levels) - 1))
    best = natural[int(np.argmin(cost))]
    ax.plot(*best, marker="x", color=style.INK, markersize=8, markeredgewidth=1.8, linestyle="none", zorder=6)


def _shades(count: int) -> list[str]:
    """From white to a light blue, on which both colours of points stand out."""
    return [
        f"#{c:02x}{(2 * c + 255) // 3:02x}{(c + 3 * 255) // 4:02x}" for c in np.linspace(255, 168, count).astype(int)
    ]


def label(space: Space, name: str) -> str:
    """The parameter with its unit."""
    unit = getattr(space.parameters[name], "unit", "")
    return f"{name} [{unit}]" if unit else name


def natural_points(space: Space, points: list[tuple[float, ...]]) -> Array:
    """Designs of the unit cube in natural units, (n, 2)."""
    return space.array_from_unit(np.array(points).reshape(-1, 2))
