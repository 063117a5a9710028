"""The Gap with more and more sites: the paper's Fig. on Shekel-10, and its Table 3 beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.evidence.figures.look import error_name, look, name_ends, over_seeds, tint
from cboc.evidence.paper import TABLES
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables.summary import Cell, Summary
from cboc.plots import style
from cboc.plots.style import INK, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE = TABLES[2]
METHODS = ("individual", "cboc-l", "cboc-u-gated", "cboc")
ASIDE = 0.2  # ours is drawn this far right of K, the paper's left, to show both bars
PALEST = 0.5  # share of the colour with the fewest sites


def sites(summary: Summary, surrogates: Sequence[str], methods: Sequence[str] = METHODS) -> Figure:
    """A row for each surrogate: a panel of Gap curves for each method that was run, then the final Gap against K."""
    methods = [method for method in methods if any(_cells(summary, surrogate, method) for surrogate in surrogates)]
    fig, axes = style.figure(
        0.6 + 2.75 * len(surrogates),
        len(surrogates),
        len(methods) + 1,
        sharex="col",
        sharey=True,
        width_ratios=[*(1.0 for _ in methods), 1.35],
    )
    counts: set[int] = set()
    for row, surrogate in zip(axes, surrogates, strict=True):
        row[0].set_ylabel(f"mean Gap, {surrogate} surrogate", fontsize=style.NORMAL, color=INK)
        for ax, method in zip(row, methods, strict=False):
            cells = _cells(summary, surrogate, method)
            counts |= {len(cell.rows) for cell in cells.values()}
            if not cells:
                ax.set_axis_off()
                continue
            _curves(ax, cells, method)
        _finals(row[-1], summary, surrogate, methods)
    top = max((ax.dataLim.y1 for row in axes for ax in row if ax.has_data()), default=1.0)
    axes[0][0].set_ylim(0.0, min(1.02, 1.08 * top))
    for row in axes:
        _name(row, methods)
    for ax in axes[-1]:
        style.axis_labels(ax, "sites K" if ax is axes[-1][-1] else "round", ax.get_ylabel())
    _legend(fig)
    ours = error_name(counts, "bands and bars")
    note = f"Shekel-10, mean over sites; {ours}; as published: standard deviation over 30 runs"
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _cells(summary: Summary, surrogate: str, method: str) -> dict[Scenario, Cell]:
    found = {scenario: summary.cell(scenario, surrogate, method) for scenario in TABLE.scenarios}
    return {scenario: cell for scenario, cell in found.items() if cell is not None}


def _curves(ax: Axes, cells: dict[Scenario, Cell], method: str) -> None:
    """Draw Gap curves: the more sites, the stronger the colour."""
    shades = np.linspace(PALEST, 1.0, len(TABLE.rows))
    curves: list[Curve] = []
    for scenario, shade in zip(TABLE.rows, shades, strict=True):
        if scenario in cells:
            colour = tint(look(method).colour, float(shade))
            curves.append(over_seeds(cells[scenario].curves, f"K={scenario.sites}", colour))
    style.draw_curves(ax, curves)
    style.whole_rounds(ax, TABLE.scenarios[0].horizon)
    ax.locator_params(axis="x", nbins=4)


def _finals(ax: Axes, summary: Summary, surrogate: str, methods: Sequence[str]) -> None:
    """Draw our final Gaps as full marks, and the paper's, where it has any, as open ones."""
    for method in methods:
        colour, marker = look(method).colour, look(method).marker
        theirs = [(s.sites, *row[method]) for s, row in TABLE.rows.items() if method in row]
        if theirs:
            K, mean, error = np.array(theirs).T
            bars: dict[str, Any] = {
                "capsize": 2.5,
                "elinewidth": 0.8,
                "linewidth": 0.8,
                "linestyle": "--",
                "markersize": 6.5,
            }
            ax.errorbar(
                K - ASIDE, mean, error, color=colour, marker=marker, markerfacecolor="white", label="paper", **bars
            )
        cells = _cells(summary, surrogate, method)
        if cells:
            K = np.array([scenario.sites for scenario in cells])
            mean, error = np.array([(cell.final.mean, cell.final.error) for cell in cells.values()]).T
            ax.errorbar(
                K + ASIDE, mean, np.nan_to_num(error), color=colour, marker=marker, linewidth=2.2, markersize=6.5
            )
    few, *_, many = counts = [scenario.sites for scenario in TABLE.scenarios]
    ax.set_xticks(counts)
    ax.set_xlim(few - 1.5, many + 1.5)


def _name(row: Sequence[Axes], methods: Sequence[str]) -> None:
    """Write titles in the methods' colours, and K at the ends of the curves, once the heights are final."""
    drawn = [(ax, method) for ax, method in zip(row, methods, strict=False) if ax.axison]
    for ax, method in drawn:
        ax.set_title(look(method).name, loc="left", fontsize=style.NORMAL, fontweight="bold", color=look(method).colour)
        lines = [(np.asarray(line.get_ydata()), line) for line in ax.lines]
        name_ends(ax, [(len(y) - 1, y[-1], f"{line.get_label()}", f"{line.get_color()}") for y, line in lines])
    style.title(row[-1], "Gap after the last round")


def _legend(fig: Figure) -> None:
    mark = {"color": INK, "marker": "o", "markersize": 6.5}
    ours = {**mark, "linewidth": 2.2, "label": "measured here"}
    theirs = {**mark, "linewidth": 0.8, "linestyle": "--", "markerfacecolor": "white", "label": "as published"}
    style.legend(fig, [ours, theirs])
