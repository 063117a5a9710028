"""Real tables in two pictures: the Gap after every experiment, and experiments until a site has all but arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.arrays import Array
from cboc.evidence.figures.look import error_name, look, over_seeds
from cboc.evidence.real.campaign import ALONE, EXPERIMENTS, OURS, Pace
from cboc.evidence.real.families import FAMILIES
from cboc.evidence.tables.real import NEVER, Campaigns, Setting
from cboc.plots import style
from cboc.plots.style import INK, Curve
from cboc.runs.metrics import margin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = {  # the last is drawn on top
    Pace.ROUNDS: ("random", ALONE, "rgpe", "bounding-box", "others-best-first", OURS),
    Pace.FREE: (ALONE, "cboc-u-gated", OURS),
}
COLUMNS = 3
SPAN = 2.5  # points: the width of the line from quartile to quartile


def progress(campaigns: Campaigns, initial: int, pace: Pace) -> Figure:
    """A panel for each family: the mean Gap after every experiment, with 95 % intervals."""
    settings = campaigns.of(initial, pace)
    fig, axes = style.panels(len(settings), COLUMNS, 2.7, sharex=True, sharey=True)
    counts: set[int] = set()
    there: dict[str, None] = {}
    for ax, setting in zip(axes, settings, strict=True):
        cells = {name: cell for name in SHOWN[pace] if (cell := campaigns.cell(setting, name)) is not None}
        counts |= {len(cell.rows) for cell in cells.values()}
        there |= dict.fromkeys(cells)
        style.draw_curves(ax, [_curve(name, cell.curves) for name, cell in cells.items()])
        ax.axvline(initial, color=INK, linewidth=0.8, linestyle=":")
        style.title(ax, _titled(setting))
        ax.set_xlim(1, EXPERIMENTS)
        ax.set_ylim(0.0, 1.0)
    for ax in axes[::COLUMNS]:
        style.axis_labels(ax, "", "Gap")
    _number_the_lowest(axes)
    looks = [{"color": look(m).colour, "linestyle": look(m).line, "label": look(m).name} for m in reversed(there)]
    style.legend(fig, *_lines([{"linewidth": 2.2, **each} for each in looks]))
    note = f"experiments of a site, the first {initial} initial; {error_name(counts, 'bands', '95 % interval')}"
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _curve(method: str, values: Array) -> Curve:  # (seeds, 40)
    line = over_seeds(values, method, look(method).colour, margin)
    low, high = (np.clip(edge, 0.0, 1.0) for edge in (line.low, line.high))  # intervals of two seeds are very wide
    return line._replace(line=look(method).line, low=low, high=high, x=np.arange(1.0, EXPERIMENTS + 1))


def arrivals(campaigns: Campaigns, initial: int, pace: Pace) -> Figure:
    """A panel for each family: how many experiments each method takes to a Gap of 0.95. Further left is better."""
    settings = campaigns.of(initial, pace)
    methods = campaigns.methods(*settings)
    fig, axes = style.panels(len(settings), COLUMNS, 0.9 + 0.21 * len(methods), sharex=True, sharey=True)
    counts: set[int] = set()
    for ax, setting in zip(axes, settings, strict=True):
        counts |= _spans(ax, campaigns, setting, methods)
        style.title(ax, _titled(setting))
        ax.set_xlim(0, NEVER + 1)
        ax.set_yticks(range(len(methods)), [look(m).name for m in methods])
        ax.set_ylim(len(methods) - 0.4, -0.6)
        ax.grid(visible=False, axis="y")
    _number_the_lowest(axes)
    seeds = " or ".join(map(str, sorted(counts)))
    note = (
        f"experiments until the Gap is 0.95, {NEVER}: never; medians over sites and {seeds} seeds; "
        "lines: the middle half; upright line: Individual"
    )
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _spans(ax: Axes, campaigns: Campaigns, setting: Setting, methods: Sequence[str]) -> set[int]:
    """Draw the medians and quartiles of one family; return how many seeds they have."""
    cells = {name: cell for name in methods if (cell := campaigns.cell(setting, name)) is not None}
    found = {name: np.quantile(cell.of("arrival"), (0.25, 0.5, 0.75)) for name, cell in cells.items()}
    if ALONE in found:
        ax.axvline(float(found[ALONE][1]), color=INK, linewidth=0.8, zorder=1)
    for y, method in enumerate(methods):
        if method in found:
            low, middle, high = found[method]
            ax.hlines(y, low, high, color=look(method).colour, linewidth=SPAN)
            ax.plot([middle], [y], "o", color=look(method).colour, markeredgecolor="white", markersize=8.0)
    return {len(cell.rows) for cell in cells.values()}


def _number_the_lowest(axes: Sequence[Axes]) -> None:
    """Number the common axis under the panels that have no other below them."""
    for ax in axes[-COLUMNS:]:
        ax.tick_params(labelbottom=True)


def _titled(setting: Setting) -> str:
    title = FAMILIES[setting.family].title
    return title.removesuffix(", little in common")


def _lines(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Entries of a legend in lines of at most three."""
    return [entries[k : k + COLUMNS] for k in range(0, len(entries), COLUMNS)]
