"""The expected outcome over the two parameters that matter most, and the experiments on it. Brighter is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.data.dataset import Direction
from cboc.errors import CbocError
from cboc.insight.contours import Contours, place
from cboc.insight.learned import Learned
from cboc.plots import experiments, style, terrain
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 0.66  # of the map, as a share of its width
LINES = 9  # contour lines, where both parameters are numbers


def contours(learned: Learned) -> Figure:
    """One map through the best design, in cells of equal width on its axes."""
    drawn = learned.contours()
    if drawn is None:
        raise CbocError("there are no two parameters that can vary.")
    fig = style.blank(5.6)
    ax = fig.subplots()
    style.quiet(ax)
    _ground(ax, learned, drawn)
    terrain.draw_plane(ax, learned.surface.space, drawn.names)
    ax.set_box_aspect(HEIGHT)
    experiments.scatter(ax, drawn.points, s=38, **experiments.ON_COLOURS)
    best: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markersize": 15}
    for colour, width in ((INK, 3.6), ("white", 2.0)):  # seen on bright and on dark
        ax.plot(*drawn.here, color=colour, markeredgewidth=width, clip_on=False, zorder=3, **best)
    _next(ax, learned, drawn)
    white = {"markerfacecolor": "white", "markeredgecolor": "#111111", "markeredgewidth": 0.9}
    ring = {"color": INK, "linestyle": "none", "label": "best design", **best, "markersize": 10}
    style.legend(fig, [ring, *experiments.legend(learned, **white)])
    return fig


def _ground(ax: Axes, learned: Learned, drawn: Contours) -> None:
    """The cells in colours, and lines through equal outcomes."""
    parameters = [learned.surface.space.parameters[name] for name in drawn.names]
    edges = [
        terrain.cell_edges(parameter.axis, len(places))
        for parameter, places in zip(parameters, drawn.places, strict=True)
    ]
    is_more = learned.surface.dataset.direction is Direction.MAXIMISE or not learned.is_ranked
    middle = np.ma.masked_invalid(drawn.middle)
    mesh = ax.pcolormesh(*edges, middle, cmap="viridis" if is_more else "viridis_r", rasterized=True)
    if all(parameter.count is None for parameter in parameters):
        ax.contour(*drawn.places, middle, levels=LINES, colors="white", linestyles="solid", linewidths=0.6, alpha=0.6)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.02)
    bar.ax.tick_params(length=0, labelsize=style.SMALL)
    bar.outline.set_visible(False)
    bar.set_label(style.plain(f"expected {learned.outcome}", style.LONGEST), fontsize=style.SMALL, color=INK)


def _next(ax: Axes, learned: Learned, drawn: Contours) -> None:
    if learned.next is None:
        return
    space = learned.surface.space
    where = place(space, drawn.names, space.from_unit(learned.next))
    ax.scatter(*where, s=150, zorder=4, clip_on=False, **experiments.NEXT | experiments.ON_COLOURS)
