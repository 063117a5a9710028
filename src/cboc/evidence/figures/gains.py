"""The gain of every method over working alone, scenario by scenario: a forest plot of paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.evidence.figures.look import look, seeds_name, tint
from cboc.evidence.paper import DISPLACED, SCENARIOS
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables.summary import Summary
from cboc.plots import style
from cboc.plots.style import FAINT, INK
from cboc.runs.metrics import Paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("cboc", "cboc-u", "cboc-u-gated", "centre", "fts-de")
ROOM = 0.7  # the share of a row that its methods take
HEAD = 1.3  # the height of a group's name, in rows
REACH = 2.5  # how far intervals are shown, in multiples of the largest difference


def gains(summary: Summary, scenarios: Sequence[Scenario], surrogate: str, methods: Sequence[str] = METHODS) -> Figure:
    """Area under the Gap curve minus Individual's on the same seeds, with its 95 % interval."""
    groups = _groups(scenarios)
    heights = _heights(groups)
    fig, [[ax]] = style.figure(1.3 + 0.3 * (max(heights.values(), default=0.0) + 1.0))
    pairs = {(s, m): pair for s in heights for m in methods if (pair := _pair(summary, s, surrogate, m)) is not None}
    methods = [method for method in methods if any((scenario, method) in pairs for scenario in heights)]
    low, high = _limits(list(pairs.values()))
    for scenario, y in heights.items():
        _row(ax, y, {method: pairs[scenario, method] for method in methods if (scenario, method) in pairs}, methods)
    ax.axvline(0.0, color=INK, linewidth=1.0, zorder=1)
    ax.set_xlim(low, high)
    ax.set_ylim(max(heights.values(), default=0.0) + 0.7, -0.3)
    _arrows(ax, heights, pairs, methods)
    ax.set_yticks(list(heights.values()), [_short(scenario) for scenario in heights])
    ax.grid(visible=False, axis="y")
    for name, group in groups.items():
        _head(ax, name, heights[group[0]])
    counts = {pair.seeds for pair in pairs.values()}
    style.axis_labels(ax, f"area under the Gap curve, minus Individual's ({surrogate} surrogate)")
    note = (
        f"bars: 95 % confidence intervals, paired over {seeds_name(counts)}; right of zero: better than working alone"
    )
    fig.supxlabel(note + ("; open: one seed" if 1 in counts else ""), fontsize=style.SMALL, color=INK)
    looks = [{"color": look(m).colour, "marker": look(m).marker, "label": look(m).name} for m in methods]
    style.legend(fig, [{"linestyle": "-", "linewidth": 1.4, "markersize": 5.5, **each} for each in looks])
    return fig


def _groups(scenarios: Sequence[Scenario]) -> dict[str, list[Scenario]]:
    """The scenarios in groups: the paper's rows, these with the optimum displaced, and all others."""
    names = {"The paper's rows": SCENARIOS, "With the optimum displaced": DISPLACED}
    groups = {name: [scenario for scenario in scenarios if scenario in known] for name, known in names.items()}
    groups["Further"] = [scenario for scenario in scenarios if scenario not in SCENARIOS and scenario not in DISPLACED]
    return {name: group for name, group in groups.items() if group}


def _short(scenario: Scenario) -> str:
    """The scenario's name without what its group's name already says."""
    return replace(scenario, is_displaced=False).name if scenario in DISPLACED else scenario.name


def _heights(groups: Mapping[str, Sequence[Scenario]]) -> dict[Scenario, float]:
    heights, y = {}, 0.0
    for group in groups.values():
        y += HEAD
        for scenario in group:
            heights[scenario] = y
            y += 1.0
    return heights


def _pair(summary: Summary, scenario: Scenario, surrogate: str, method: str) -> Paired | None:
    """The gain; None without runs, or without runs of Individual on the same seeds."""
    cell = summary.cell(scenario, surrogate, method)
    return cell.area_gain if cell is not None and cell.alone else None


def _limits(pairs: Sequence[Paired]) -> tuple[float, float]:
    """Around all differences and their intervals, but no further than `REACH`: intervals of two seeds are very wide."""
    far = REACH * max((abs(pair.difference) for pair in pairs), default=0.0) or 0.1
    ends = [end for pair in pairs for end in (pair.difference, *pair.interval) if not np.isnan(end)]
    low, high = max(-far, min([0.0, *ends])), min(far, max([0.0, *ends]))
    margin = 0.04 * (high - low) or far  # no runs, or no difference at all
    return low - margin, high + margin


def _places(y: float, methods: Sequence[str]) -> dict[str, float]:
    """The heights of a row's methods, one below the other around its middle."""
    step = ROOM / max(len(methods), 1)
    return {method: y + step * (k - (len(methods) - 1) / 2) for k, method in enumerate(methods)}


def _row(ax: Axes, y: float, pairs: Mapping[str, Paired], methods: Sequence[str]) -> None:
    ax.axhspan(y - 0.44, y + 0.44, color=tint(FAINT, 0.28), linewidth=0, zorder=0)
    if not pairs:
        ax.annotate("no runs yet", (0.0, y), xytext=(5, 0), textcoords="offset points", va="center", **_note())
    for method, place in _places(y, methods).items():
        if method in pairs:
            pair, colour = pairs[method], look(method).colour
            bars: dict[str, Any] = {
                "elinewidth": 1.4,
                "markersize": 4.5,
                "linestyle": "none",
                "zorder": 3,
                "label": method,
            }
            face = "white" if pair.seeds < 2 else colour
            reach = None if pair.seeds < 2 else pair.margin
            mark = look(method).marker
            ax.errorbar(pair.difference, place, xerr=reach, color=colour, marker=mark, markerfacecolor=face, **bars)


def _arrows(
    ax: Axes, heights: Mapping[Scenario, float], pairs: Mapping[tuple[Scenario, str], Paired], methods: Sequence[str]
) -> None:
    """Draw an arrow where an interval continues beyond the picture."""
    low, high = ax.get_xlim()
    for (scenario, method), pair in pairs.items():
        place = _places(heights[scenario], methods)[method]
        for edge, is_beyond, mark in ((low, pair.interval[0] < low, "<"), (high, pair.interval[1] > high, ">")):
            if is_beyond:
                ax.plot(edge, place, marker=mark, markersize=4, color=look(method).colour, clip_on=False)


def _head(ax: Axes, name: str, y: float) -> None:
    """Write the group's name over its first row, directly above the names."""
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    ax.annotate(name, (0.0, y - 0.8), xytext=(-4, 0), ha="right", va="center", fontweight="bold", **place, **_note())


def _note() -> dict[str, Any]:
    return {"fontsize": style.SMALL, "color": INK}
