"""Every row of the paper's Tables 1 to 4 on a line: Individual and CBOC-L as published, and as measured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.arrays import Array
from cboc.evidence.figures.look import error_name, look, tint
from cboc.evidence.paper import TABLES
from cboc.evidence.tables.summary import ALONE, Summary
from cboc.plots import style
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEADER = "cboc-l"
PAIR = (ALONE, LEADER)
APART = 0.17  # the paper's values are drawn above the middle of the line, ours below
PAUSE = 0.9  # between two tables
TICKS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)

Point = tuple[float, float]  # mean Gap, and its error


def published(summary: Summary, surrogates: Sequence[str]) -> Figure:
    """A panel for each surrogate; a line joins the two methods, in the colour of the one ahead."""
    heights = _heights()
    fig, [axes] = style.figure(1.2 + 0.34 * max(heights.values()), 1, len(surrogates), sharex=True, sharey=True)
    counts: set[int] = set()
    for ax, surrogate in zip(axes, surrogates, strict=True):
        wins, rows = 0, 0
        for (table, k), height in heights.items():
            scenario, theirs = list(TABLES[table].rows.items())[k]
            _gain(ax, height - APART, {method: theirs[method] for method in PAIR}, is_open=True)
            cells = {method: summary.cell(scenario, surrogate, method) for method in PAIR}
            ours = {method: (c.final.mean, c.final.error) for method, c in cells.items() if c is not None}
            counts |= {len(cell.rows) for cell in cells.values() if cell is not None}
            _gain(ax, height + APART, ours, is_open=False)
            if len(ours) == len(PAIR):
                rows, wins = rows + 1, wins + (ours[LEADER][0] > ours[ALONE][0])
        style.title(ax, f"{surrogate} surrogate: CBOC-L ahead in {wins} of {rows}")
        ax.set_xlabel("mean Gap after the last round", fontsize=style.NORMAL, color=INK)
        ax.grid(visible=False, axis="y")
    _name(axes[0], heights)
    _stretch(axes)
    _legend(fig)
    note = f"the axis is stretched towards 1; {error_name(counts, 'bars')}; those of open marks: as published"
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _heights() -> dict[tuple[int, int], float]:
    """The heights of every table's rows, from the top; a pause before every table but the first."""
    heights, y = {}, 0.0
    for table, each in enumerate(TABLES):
        y += PAUSE
        for k in range(len(each.rows)):
            heights[table, k] = y
            y += 1.0
    return heights


def _stretch(axes: Sequence[Axes]) -> None:
    """Scale the axes by √(1 - Gap), to the left, which makes gains near the optimum and far from it legible."""
    low = max(0.0, min(ax.dataLim.x0 for ax in axes) - 0.02)
    for ax in axes:
        ax.set_xscale("function", functions=(_to_scale, _from_scale))
        ax.set_xlim(low, 1.0)
        ax.set_xticks([tick for tick in TICKS if tick >= low])
        ax.xaxis.set_major_formatter("{x:g}")


def _to_scale(gap: Array) -> Array:
    return -np.sqrt(np.maximum(1.0 - np.asarray(gap), 0.0))


def _from_scale(place: Array) -> Array:
    return 1.0 - np.square(place)


def _gain(ax: Axes, height: float, points: Mapping[str, Point], is_open: bool) -> None:
    if len(points) == len(PAIR):
        ahead = max(PAIR, key=lambda method: points[method][0])
        look_: dict[str, Any] = {"linewidth": 1.2 if is_open else 3.2, "linestyle": ":" if is_open else "-"}
        colour = look(ahead).colour if is_open else tint(look(ahead).colour, 0.5)
        ax.plot([points[method][0] for method in PAIR], [height] * 2, color=colour, zorder=2, **look_)
    for method, (mean, error) in points.items():
        colour, marker = look(method).colour, look(method).marker
        bars: dict[str, Any] = {
            "elinewidth": 0.8,
            "markersize": 5.5,
            "zorder": 3,
            "linestyle": "none",
            "clip_on": False,
        }
        face = "white" if is_open else colour
        ax.errorbar(mean, height, xerr=np.nan_to_num(error), color=colour, marker=marker, markerfacecolor=face, **bars)


def _name(ax: Axes, heights: Mapping[tuple[int, int], float]) -> None:
    """Write the scenarios on the left, under the number of their table."""
    ax.set_yticks(list(heights.values()), [TABLES[table].scenarios[k].name for table, k in heights])
    ax.set_ylim(max(heights.values()) + 0.6, 0.0)
    for (table, k), height in heights.items():
        if k == 0:
            ax.annotate(
                f"Table {TABLES[table].number}",
                (0.0, height - 0.75),
                xycoords=("axes fraction", "data"),
                xytext=(-4, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=style.SMALL,
                fontweight="bold",
                color=INK,
            )


def _legend(fig: Figure) -> None:
    entries: list[dict[str, Any]] = []
    for method in PAIR:
        mark = {"color": look(method).colour, "marker": look(method).marker, "linestyle": "none", "markersize": 5.5}
        entries.append({**mark, "markerfacecolor": "white", "label": f"{look(method).name}, as published"})
        entries.append({**mark, "label": f"{look(method).name}, here"})
    style.legend(fig, entries)
