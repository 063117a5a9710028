"""Where two sites went, alone and by consensus, on the contours of their functions: the example of Sec. 5.2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.arrays import Array
from cboc.evidence.figures.look import look
from cboc.evidence.illustration import LEADER, NEAR, Illustration
from cboc.evidence.tables.summary import ALONE
from cboc.plots import style, terrain
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORDER = (ALONE, LEADER)
SIZES = {ALONE: 26, LEADER: 22}
LABELLED = (1, 2, 3, 5, 10, 15, 20, 25, 30, 35, 40)
CLEAR = np.array([0.055, 0.042])  # half the size of a number, in shares of the map
OFFSETS = np.array([(1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1.25), (0, -1.25)]) * [0.038, 0.036]
FRAME = 0.03  # the margin around the box, for marks on its edge


def path(illustrations: Sequence[Illustration]) -> Figure:
    """A row of maps for each surrogate, a column for each site."""
    first = illustrations[0].case
    fig, axes = style.figure(0.9 + 4.25 * len(illustrations), len(illustrations), first.sites)
    for row, illustration in zip(axes, illustrations, strict=True):
        for site, ax in enumerate(row):
            _map(ax, illustration, site)
    _legend(fig)
    return fig


def _map(ax: Axes, illustration: Illustration, site: int) -> None:
    case = illustration.case
    terrain.draw_plane(ax, case.space)
    terrain.draw_contours(ax, case.problems[site])
    _near(ax, illustration, site)
    _frame(ax)
    (low, high), optima = case.problems[site].box, case.problems[site].optimisers
    everything = [(optima - low) / (high - low), case.initial[site].X]
    everything += [illustration.designs[method][site] for method in ORDER]
    dots, taken = np.vstack(everything), np.empty((0, 2))
    _scatter(ax, case.space.array_from_unit(case.initial[site].X), INK, "+", s=42, linewidths=1.3)
    for method in ORDER:
        colour, marker, X = look(method).colour, look(method).marker, illustration.designs[method][site]
        points = case.space.array_from_unit(X)
        _scatter(ax, points, colour, marker, s=SIZES[method], edgecolors="white", linewidths=0.5)
        taken = _indices(ax, case.space.array_from_unit, X, colour, dots, taken)
    arrivals = (f"{look(method).name} {_round(illustration.arrival(method, site))}" for method in reversed(ORDER))
    style.title(ax, f"{case.names[site]}, {illustration.surrogate} surrogate\nnear the optimum: {', '.join(arrivals)}")


def _round(arrival: int | None) -> str:
    return "never" if arrival is None else f"round {arrival}" if arrival else "at the start"


def _near(ax: Axes, illustration: Illustration, site: int) -> None:
    """Draw a dotted line around the region that counts as near the optimum."""
    u = np.linspace(0.0, 1.0, terrain.FINENESS)
    X = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
    shape = (terrain.FINENESS, terrain.FINENESS)
    x, y = (column.reshape(shape) for column in illustration.case.space.array_from_unit(X).T)
    share = illustration.share(site, X).reshape(shape)
    ax.contour(x, y, share, levels=[NEAR], colors=INK, linewidths=0.9, linestyles=":")


def _frame(ax: Axes) -> None:
    """Add a margin around the box to show marks on its edge in full."""
    for axis in "xy":
        low, high = getattr(ax, f"get_{axis}lim")()
        margin = FRAME * (high - low)
        getattr(ax, f"set_{axis}lim")(low - margin, high + margin)
    ax.spines[["left", "bottom"]].set_visible(False)


def _scatter(ax: Axes, points: Array, colour: str, marker: str, **look: Any) -> None:
    ax.scatter(points[:, 0], points[:, 1], color=colour, marker=marker, zorder=4, **look)


def _indices(ax: Axes, natural: Any, X: Array, colour: str, dots: Array, taken: Array) -> Array:
    """Write the numbers of some rounds, each on a free side of its point; no number where there is no room."""
    for number in LABELLED:
        if number > len(X):
            break
        for place in X[number - 1] + OFFSETS:
            if _is_free(place, dots, taken):
                taken = np.vstack([taken, place])
                _index(ax, natural(place[None])[0], number, colour)
                break
    return taken


def _is_free(place: Array, dots: Array, taken: Array) -> bool:
    is_inside = bool(((place > 0.0) & (place < 1.0)).all())
    is_off_dots = bool((np.abs(dots - place) > 0.55 * CLEAR).any(axis=1).all())
    return is_inside and is_off_dots and bool((np.abs(taken - place) > CLEAR).any(axis=1).all())


def _index(ax: Axes, place: Array, number: int, colour: str) -> None:
    from matplotlib.patheffects import withStroke

    look: dict[str, Any] = {"fontsize": style.SMALL, "fontweight": "bold", "color": colour}
    halo = [withStroke(linewidth=2.0, foreground="white")]
    ax.text(place[0], place[1], str(number), ha="center", va="center", zorder=5, path_effects=halo, **look)


def _legend(fig: Figure) -> None:
    marks: list[dict[str, Any]] = [
        {"color": look(method).colour, "marker": look(method).marker, "label": look(method).name}
        for method in reversed(ORDER)
    ]
    marks.append({"color": INK, "marker": "+", "label": "initial design, of both", "markeredgewidth": 1.3})
    marks.append({"color": INK, "marker": "x", "label": "optimum", "markeredgewidth": 1.8})
    style.legend(fig, [{"linestyle": "none", "markersize": 6, **mark} for mark in marks])
    near = f"near: within {100 * NEAR:g} % of the range of the function, inside the dotted line"
    fig.supxlabel(f"numbers: rounds; {near}", fontsize=style.SMALL, color=INK)
