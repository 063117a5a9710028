"""Where the sites went, a parameter at a time: a row per site, a column per parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.plots import style, terrain
from cboc.plots.style import FAINT, INK
from cboc.plots.walk import SIZES, Walk, dots, pluses

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ROW, HEAD = 1.25, 0.6  # inches


def strips(fig: Figure | SubFigure, walks: Sequence[Walk], sites: Sequence[str]) -> None:
    """Every parameter against experiments, the initial ones left of the first."""
    space = walks[-1].history.study.space
    axes = fig.subplots(len(sites), len(space.names), squeeze=False, sharex=True, sharey="col")
    for row, site in zip(axes, sites, strict=True):
        for ax, name in zip(row, space.names, strict=True):
            style.quiet(ax)
            for walk in walks:
                _strip(ax, walk, site, name)
            terrain.draw_axis(ax, "y", space, name, margin=0.04)
        row[0].set_ylabel(style.plain(site, style.LONGEST_OPTION), fontsize=style.NORMAL, color=INK)
    for ax, name in zip(axes[0], space.names, strict=True):
        style.title(ax, terrain.label(space, name), 2 * style.LONGEST // len(space.names) + 8)
    _number(axes[0][0])
    fig.supxlabel("experiment", fontsize=style.NORMAL, color=INK)


def _strip(ax: Axes, walk: Walk, site: str, name: str) -> None:
    parameter = walk.history.study.space.parameters[name]
    first, then = walk.steps(site)
    points = [(step.number, parameter.position(step.design[name])) for step in (*first, *then)]
    where = np.array(points).reshape(-1, 2)
    pluses(ax, where[: len(first)], first, markersize=6)
    dots(ax, where[len(first) :], then, walk.colour, s=0.6 * SIZES[walk.colour])
    if first:
        ax.axvspan(1.0 - len(first) - 0.5, 0.5, color=FAINT, alpha=0.3, linewidth=0, zorder=0)


def _number(ax: Axes) -> None:
    """Number the experiments from 1."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f}" if x >= 1 else ""))
