"""Where the sites went, from their initial designs on: on the contours of what is known of their functions (Fig. 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.insight.contours import place
from cboc.plots import style, terrain
from cboc.plots.strips import HEAD, ROW, strips
from cboc.plots.style import ALONE, INK, TOGETHER
from cboc.plots.terrain import Ground
from cboc.plots.walk import SIZES, Step, Walk, dots, legend, pluses
from cboc.runs.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

LABELS, FIRST_LABELS = 7, 4  # numbers beside each path, and beside its initial designs
LABEL = np.array([0.05, 0.04])  # from a point to the middle of its number, in shares of the map
CLEAR = 0.08  # the free space that a number needs
MAP, SINGLE_MAP = 3.1, 4.6  # inches


def paths(
    together: History,
    alone: History | None = None,
    grounds: Mapping[str, Ground] | None = None,
    sites: Sequence[str] | None = None,
) -> Figure:
    """A map per site, over the two parameters of its ground; beyond two, also each parameter against experiments."""
    walks = [Walk(h, colour) for h, colour in ((alone, ALONE), (together, TOGETHER)) if h is not None]
    space, known = together.study.space, grounds or {}
    sites = together.sites if sites is None else sites
    mapped = [site for site in sites if site in known or terrain.is_plane(space)]
    rows = -(-len(mapped) // _columns(len(mapped))) if mapped else 0
    height = SINGLE_MAP if len(mapped) == 1 else MAP
    is_all_shown = len(mapped) == len(sites) and len(space.names) == 2
    heights = ([height * rows + 0.4] if rows else []) + ([] if is_all_shown else [HEAD + ROW * len(sites)])
    fig = style.blank(sum(heights))
    parts = fig.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0] if len(heights) > 1 else [fig]
    if mapped:
        _maps(parts[0], walks, mapped, known)
    if not is_all_shown:
        strips(parts[-1], walks, sites)
    optimum = {"color": INK, "linestyle": "none", "label": "optimum", "marker": "x", "markeredgewidth": 1.8}
    has_optimum = any(ground.optimum is not None for ground in known.values())
    style.legend(fig, [*legend(walks, sites), *([optimum] if has_optimum else [])])
    return fig


def _columns(count: int) -> int:
    return 2 if count in (2, 4) else min(count, 3)


def _maps(fig: Figure | SubFigure, walks: Sequence[Walk], sites: Sequence[str], grounds: Mapping[str, Ground]) -> None:
    space, columns = walks[-1].history.study.space, _columns(len(sites))
    is_plane = terrain.is_plane(space)  # else the sites may have other parameters
    axes = fig.subplots(-(-len(sites) // columns), columns, squeeze=False, sharex=is_plane, sharey=is_plane).ravel()
    for spare in axes[len(sites) :]:
        spare.set_visible(False)
    for site, ax in zip(sites, axes, strict=False):
        style.quiet(ax)
        first, second = space.names if is_plane else grounds[site].names
        if site in grounds:
            grounds[site].draw(ax, space)
        terrain.draw_plane(ax, space, (first, second))
        if is_plane:
            ax.label_outer()
        style.title(ax, site, style.LONGEST)
        _Map(ax, walks, site, (first, second)).draw()


class _Map:
    """The walks of one site on its ground."""

    def __init__(self, ax: Axes, walks: Sequence[Walk], site: str, names: tuple[str, str]) -> None:
        self.ax, self.names, self.space = ax, names, walks[-1].history.study.space
        self.walks = [(walk.colour, *walk.steps(site)) for walk in walks]
        self.taken: list[Array] = []  # by numbers
        self.dots = np.array([self._share(step) for _, *parts in self.walks for steps in parts for step in steps])

    def draw(self) -> None:
        for colour, first, then in self.walks:
            points = np.array([place(self.space, self.names, step.design) for step in (*first, *then)]).reshape(-1, 2)
            self.ax.plot(*points.T, color=colour, linewidth=0.6, alpha=0.35, zorder=3)
            pluses(self.ax, points[: len(first)], first, markersize=7, clip_on=False)
            dots(self.ax, points[len(first) :], then, colour, s=SIZES[colour], zorder=4, clip_on=False)
        initial = [step for _, first, _ in self.walks[-1:] for step in first]
        self._number([(f"i{k + 1}", step) for k, step in enumerate(initial)], INK, FIRST_LABELS)
        for colour, _, then in self.walks:
            order = sorted(range(len(then)), key=lambda k: (k % 4 != 0, k))
            self._number([(str(then[k].number), then[k]) for k in order], colour, LABELS)

    def _number(self, steps: Sequence[tuple[str, Step]], colour: str, room: int) -> None:
        """The numbers of some experiments, where there is room for them."""
        for text, step in steps:
            where = self._share(step)
            label = where + LABEL * np.where(where < 0.9, 1, -1)
            is_free = all(np.abs(label - other).max() > CLEAR for other in self.taken)
            if room and is_free and (np.abs(label - self.dots).max(axis=1) > LABEL[1]).all():
                self.taken.append(label)
                room -= 1
                _write(self.ax, place(self.space, self.names, step.design), text, colour, where)

    def _share(self, step: Step) -> Array:
        """Where a design lies on the map, in shares of its sides."""
        where = place(self.space, self.names, step.design)
        axes = (self.space.parameters[name].axis for name in self.names)
        return np.array([terrain.share(axis, each) for axis, each in zip(axes, where, strict=True)])


def _write(ax: Axes, point: tuple[float, float], text: str, colour: str, where: Array) -> None:
    """A number beside its point, towards the middle of the map."""
    from matplotlib.patheffects import withStroke

    right, up = where < 0.9
    ax.annotate(
        text,
        point,
        xytext=(4 if right else -4, 3 if up else -3),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom" if up else "top",
        fontsize=style.SMALL,
        color=colour,
        fontweight="bold",
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
        zorder=5,
    )
