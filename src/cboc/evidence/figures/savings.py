"""The rounds saved: when the sites reach together what they reach alone in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.evidence.figures.look import look, seeds_name, tint
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables.summary import Summary
from cboc.plots import style
from cboc.plots.style import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HALF = 0.5  # share of the rounds of working alone


def savings(summary: Summary, scenarios: Sequence[Scenario], surrogate: str, method: str = "cboc") -> Figure:
    """A bar for each scenario: the method's rounds as a share of those that alone needs. Shorter is better."""
    cells = {s: cell for s in scenarios if (cell := summary.cell(s, surrogate, method)) is not None and cell.alone}
    fig, [[ax]] = style.figure(1.2 + 0.3 * len(cells))
    for y, (scenario, cell) in enumerate(cells.items()):
        _bar(ax, y, *cell.rounds, scenario.horizon, look(method).colour)
    ax.axvline(1.0, color=INK, linewidth=1.0)
    ax.axvline(HALF, color=INK, linewidth=0.8, linestyle="--")
    ax.set_xlim(0.0, 1.12)
    ax.set_ylim(len(cells) - 0.4, -0.6)
    ax.set_yticks(range(len(cells)), [scenario.name for scenario in cells])
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    style.axis_labels(ax, "rounds until the mean Gap is where working alone ends, in those that alone needs")
    counts = {len(cell.rows) for cell in cells.values()}
    note = f"{look(method).name}, {surrogate} surrogate; means over sites and {seeds_name(counts)}; dashed: half"
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _bar(ax: Axes, y: float, ours: float, theirs: float, horizon: int, colour: str) -> None:
    """Draw a bar, an open one if the method does not get there within the rounds."""
    if np.isnan(ours):
        ax.barh(y, 1.0, height=0.62, color=tint(FAINT, 0.5), edgecolor=colour, linewidth=0.8)
        text, place = f"not within {horizon}", 1.0
    else:
        ax.barh(y, ours / theirs, height=0.62, color=colour)
        text, place = f"{ours:.0f} of {theirs:.0f}", ours / theirs
    inside = place > 0.85
    ax.annotate(
        text,
        (place, y),
        xytext=(-4 if inside else 4, 0),
        textcoords="offset points",
        ha="right" if inside else "left",
        va="center",
        fontsize=style.SMALL,
        color="white" if inside and not np.isnan(ours) else INK,
        bbox=None if inside else {"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )
