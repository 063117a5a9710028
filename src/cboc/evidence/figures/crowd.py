"""The gain over working alone against the number of sites, on Shekel-10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cboc.evidence.figures.look import look, seeds_name
from cboc.evidence.paper import SIZES, TABLES
from cboc.evidence.tables.summary import Cell, Summary
from cboc.plots import style
from cboc.plots.style import INK
from cboc.runs.metrics import Paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = sorted([*TABLES[2].scenarios, *SIZES], key=lambda scenario: scenario.sites)
METHODS = ("cboc", "cboc-u-gated", "cboc-u")
ASIDE = 0.025  # the offset between methods, as a share of K, to show all bars


def crowd(summary: Summary, surrogate: str, methods: Sequence[str] = METHODS) -> Figure:
    """Final Gap and area minus Individual's on the same seeds, with 95 % intervals."""
    cells = {
        method: {row.sites: cell for row in ROWS if (cell := summary.cell(row, surrogate, method)) and cell.alone}
        for method in methods
    }
    fig, [axes] = style.figure(3.3, 1, 2, sharex=True, sharey=True)
    for ax, name in zip(axes, ("Gap after the last round", "area under the Gap curve"), strict=True):
        style.title(ax, name)
        ax.axhline(0.0, color=INK, linewidth=1.0)
        for place, (method, by_sites) in enumerate(cells.items()):
            gains = {K: _gain(cell, name) for K, cell in by_sites.items()}
            _line(ax, {K * (1.0 + ASIDE * (place - 1)): gain for K, gain in gains.items()}, method)
        ax.set_xscale("log")
        ax.set_xticks([row.sites for row in ROWS], [str(row.sites) for row in ROWS])
        ax.minorticks_off()
        style.axis_labels(ax, "sites", "minus Individual's" if ax is axes[0] else "")
    counts = {len(cell.rows) for by_sites in cells.values() for cell in by_sites.values()}
    note = f"Shekel-10, {surrogate} surrogate; bars: 95 % intervals over {seeds_name(counts)}; above zero: better"
    fig.supxlabel(f"{note} than alone", fontsize=style.SMALL, color=INK)
    looks = [look(method) for method, by_sites in cells.items() if by_sites]
    style.legend(fig, [{"color": each.colour, "marker": each.marker, "label": each.name} for each in looks])
    return fig


def _gain(cell: Cell, name: str) -> Paired:
    return cell.area_gain if name.startswith("area") else cell.gain


def _line(ax: Axes, gains: dict[float, Paired], method: str) -> None:
    """Draw one method's gains; a single seed has no interval."""
    ax.errorbar(
        list(gains),
        [gain.difference for gain in gains.values()],
        yerr=[gain.margin if gain.seeds > 1 else 0.0 for gain in gains.values()],
        color=look(method).colour,
        marker=look(method).marker,
        capsize=3,
        label=method,
    )
