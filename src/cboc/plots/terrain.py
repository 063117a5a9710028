"""The ground on which designs are drawn: two parameters in natural units, with the contours of what is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, Literal

import numpy as np

from cboc.arrays import Array
from cboc.insight.contours import Plane
from cboc.insight.learned import Learned
from cboc.plots import style
from cboc.problems.problem import Problem
from cboc.space.fixed import Parameter
from cboc.space.parameters import Axis
from cboc.space.space import Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINENESS = 121  # points of the contour grid along each axis
LEVELS = 12
TRUE, OWN = "the true function", "the site's own surrogate"  # where contours are from


def is_plane(space: Space) -> bool:
    """Does the space have exactly two numbers, which a map can show?"""
    return len(space.names) == 2 and not space.blocks


def draw_plane(ax: Axes, space: Space, names: Sequence[str] | None = None) -> None:
    """Set both axes to natural units, logarithmic where the parameter is, with options where it has those."""
    across, up = names or space.names
    draw_axis(ax, "x", space, across)
    draw_axis(ax, "y", space, up)
    style.axis_labels(ax, axis_label(space, across), axis_label(space, up), style.SMALL)
    ax.grid(visible=False)
    ax.set_box_aspect(1)


def draw_axis(ax: Axes, which: Literal["x", "y"], space: Space, name: str, margin: float = 0.0) -> None:
    """Set one axis to the natural units of a parameter, with a margin at both ends as a share of its length."""
    drawn = space.parameters[name].axis
    if drawn.scale == "options":
        style.option_ticks(ax, which, drawn.options)
    else:
        getattr(ax, f"set_{which}scale")(drawn.scale)
    if drawn.scale == "linear":
        ax.locator_params(axis=which, nbins=5)
    beyond = margin * (log(drawn.high / drawn.low) if drawn.scale == "log" else drawn.high - drawn.low)
    ends = (drawn.low / exp(beyond), drawn.high * exp(beyond)) if drawn.scale == "log" else ()
    getattr(ax, f"set_{which}lim")(*(ends or (drawn.low - beyond, drawn.high + beyond)))


@dataclass(frozen=True)
class Ground:
    """What is known of a site's outcomes over two parameters, and from where."""

    names: tuple[str, str]  # across, up
    places: tuple[Array, Array]  # (m,), (k,)
    cost: Array  # (k, m) less is better; NaN where the constraints forbid it
    source: str
    optimum: Array | None = None  # (2,)

    @classmethod
    def of_problem(cls, problem: Problem, names: tuple[str, str] | None = None, base: Array | None = None) -> Ground:
        """The function itself; in a space of more than these two parameters, through the design `base` (D,)."""
        space, sign = problem.space, -problem.direction.sign
        if names is not None and base is not None:
            plane = Plane.through(space, base, names)
            return cls(names, plane.places, plane.of(lambda X: sign * problem.values(X)), TRUE)
        u = np.linspace(0.0, 1.0, FINENESS)
        X = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
        cost, natural = sign * problem.values(X), space.array_from_unit(X)
        x, y = natural.reshape(FINENESS, FINENESS, 2)[0, :, 0], natural.reshape(FINENESS, FINENESS, 2)[:, 0, 1]
        first, second = space.names
        return cls((first, second), (x, y), cost.reshape(FINENESS, FINENESS), TRUE, natural[int(np.argmin(cost))])

    @classmethod
    def of_surrogate(cls, learned: Learned) -> Ground | None:
        """What the site's own surrogate expects, through its best design; None if no two parameters can vary."""
        drawn = learned.contours()
        if drawn is None:
            return None
        return cls(drawn.names, drawn.places, -learned.surface.dataset.direction.sign * drawn.middle, OWN)

    def draw(self, ax: Axes, space: Space) -> None:
        """Draw levels at equal shares of the area, the best white; a cross marks the optimum if it is known."""
        known = self.cost[np.isfinite(self.cost)]
        levels = np.unique(np.quantile(known, np.linspace(0.0, 1.0, LEVELS)))
        if len(levels) > 1:  # a function that is flat in the box has no levels
            self._fill(ax, [space.parameters[name] for name in self.names], levels)
        if self.optimum is not None:
            ax.plot(*self.optimum, marker="x", color=style.INK, markersize=8, markeredgewidth=1.8, zorder=6)

    def _fill(self, ax: Axes, parameters: list[Parameter], levels: Array) -> None:
        """Smooth where both parameters are, else in cells."""
        colours, cost = _shades(len(levels) - 1), np.ma.masked_invalid(self.cost)
        axes = [parameter.axis for parameter in parameters]
        if all(parameter.count is None for parameter in parameters):
            ends = [np.array([axis.low, *places, axis.high]) for axis, places in zip(axes, self.places, strict=True)]
            ax.contourf(*ends, np.pad(cost, 1, mode="edge"), levels=levels, colors=colours)
            return
        from matplotlib.colors import BoundaryNorm, ListedColormap

        edges = [cell_edges(axis, len(places)) for axis, places in zip(axes, self.places, strict=True)]
        norm = BoundaryNorm(levels, len(colours))
        ax.pcolormesh(*edges, cost, rasterized=True, cmap=ListedColormap(colours), norm=norm)


def grounds(
    space: Space, sites: Sequence[str], problems: Mapping[str, Problem], learned: Callable[[str], Learned | None]
) -> dict[str, Ground]:
    """What is known of each site's outcomes: its true function, else its own surrogate; nothing of some.

    In a space of more than two numbers the surrogate says over which two; it is asked for where it is needed.
    """
    found = {}
    for site in sites:
        if is_plane(space) and site in problems:
            found[site] = Ground.of_problem(problems[site])
        elif (lesson := learned(site)) is not None and (own := Ground.of_surrogate(lesson)) is not None:
            is_known = site in problems
            found[site] = Ground.of_problem(problems[site], own.names, lesson.best) if is_known else own
    return found


def draw_contours(ax: Axes, problem: Problem) -> None:
    """Draw a function of two numbers; a cross marks the best point of the grid."""
    Ground.of_problem(problem).draw(ax, problem.space)


def cell_edges(axis: Axis, cells: int) -> Array:
    """Where cells begin and end that are of equal width on an axis."""
    return (np.geomspace if axis.scale == "log" else np.linspace)(axis.low, axis.high, cells + 1)


def share(axis: Axis, place: float) -> float:
    """How far along an axis a place lies, from 0 to 1."""
    if axis.scale == "log":
        return log(place / axis.low) / log(axis.high / axis.low)
    return (place - axis.low) / (axis.high - axis.low)


def _shades(count: int) -> list[str]:
    """From white to a light blue, on which both colours of points stand out."""
    return [
        f"#{c:02x}{(2 * c + 255) // 3:02x}{(c + 3 * 255) // 4:02x}" for c in np.linspace(255, 168, count).astype(int)
    ]


def label(space: Space, name: str) -> str:
    """The parameter with its unit."""
    unit = getattr(space.parameters[name], "unit", "")
    return f"{name} [{unit}]" if unit else name


def axis_label(space: Space, name: str) -> str:
    """The same with a name that fits along an axis."""
    return style.shortened(label(space, name), style.LONGEST)


def natural_points(space: Space, points: list[tuple[float, ...]]) -> Array:
    """Designs of the unit cube in natural units, (n, 2)."""
    return space.array_from_unit(np.array(points).reshape(-1, 2))
