"""When does it help? The gain over working alone against what the sites have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.evidence.dial import NULL, OURS, RIVAL, World
from cboc.evidence.figures.look import darker, look, name_ends, seeds_name, tint
from cboc.evidence.tables.dial import Readings
from cboc.plots import style
from cboc.plots.style import ALONE, INK
from cboc.runs.metrics import Paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = ("o", "s", "D", "^", "v", "P")
RAMP = (0.5, 1.5)  # the shades of the fewest and of the most sites: below 1 mixed with white, above with black
ASIDE = 0.012  # the offset between lines, as a share of the axis, to show all bars
REACH = 2.0  # how far intervals are shown, in multiples of the largest difference
TITLES = {"shifted": "optima shifted", "rotated": "boxes turned", "mixed": "with a choice", "groups": "two groups"}
AXES = {
    "shifted": "sd of a shift, share of the range",
    "rotated": "degrees",
    "mixed": "r",
    "groups": "r, inside a group",
}

Gains = dict[float, Paired]  # by amount


def when(readings: Readings, methods: Sequence[str] = (OURS, RIVAL)) -> Figure:
    """The gain in area against r: a panel for each number of parameters, a line for each number of sites."""
    methods = _shown(readings, readings.dials, methods)
    dimensions = sorted({world.dimension for world in readings.dials})
    sites, amounts = readings.sites(*readings.dials), sorted({world.amount for world in readings.dials})
    fig, axes = style.figure(0.9 + 2.35 * len(methods), len(methods), len(dimensions), sharex=True, sharey=True)
    drawn: list[list[Gains]] = []  # of every panel, row by row
    for method, row in zip(methods, axes, strict=True):
        for dimension, ax in zip(dimensions, row, strict=True):
            worlds = [world for world in readings.dials if world.dimension == dimension]
            drawn.append([_gains(readings, worlds, count, method) for count in sites])
            _null(ax, [_gains(readings, worlds, count, NULL) for count in (sites[0], sites[-1])])
            _lines(ax, drawn[-1], _shades(look(method).colour, len(sites)))
        style.axis_labels(row[0], "", f"{look(method).name}\narea minus alone's")
    _limit(axes, [gains for panel in drawn for gains in panel])
    for method, row, panel in zip(methods, axes, drawn[len(dimensions) - 1 :: len(dimensions)], strict=True):
        _name_lines(row[-1], dict(zip(sites, panel, strict=True)), _shades(look(method).colour, len(sites)))
    for dimension, top, bottom in zip(dimensions, axes[0], axes[-1], strict=True):
        style.title(top, f"{dimension} parameter{'s' if dimension > 1 else ''}")
        bottom.set_xticks(amounts, [f"{amount:g}" for amount in amounts])
    middle = axes[-1][len(dimensions) // 2]
    middle.set_xlabel("r, the share that sites have in common", fontsize=style.NORMAL, color=INK)
    counts = {gain.seeds for panel in drawn for gains in panel for gain in gains.values()}
    fig.supxlabel(_note(readings, counts, sites), fontsize=style.SMALL, color=INK)
    return fig


def variants(readings: Readings, methods: Sequence[str] = (OURS, RIVAL)) -> Figure:
    """The gain in area where optima are shifted, boxes turned, a parameter is a choice, or sites are in groups."""
    methods = _shown(readings, readings.variants, methods)
    panels = [
        (kind, worlds)
        for kind in TITLES
        for dimension in sorted({world.dimension for world in readings.variants})
        if readings.sites(*(worlds := [w for w in readings.variants if (w.kind, w.dimension) == (kind, dimension)]))
    ]
    fig, [axes] = style.figure(3.0, 1, len(panels), sharey=True)
    drawn: list[Gains] = []
    nulls: list[Gains] = []
    for ax, (kind, worlds) in zip(axes, panels, strict=True):
        sites = readings.sites(*worlds)[-1]
        amounts = sorted({world.amount for world in worlds})
        nulls.append(_gains(readings, worlds, sites, NULL))
        _null(ax, nulls[-1:])
        for place, method in enumerate(methods):
            gains = _gains(readings, worlds, sites, method)
            drawn.append(gains)
            aside = ASIDE * (amounts[-1] - amounts[0] or 1.0) * (place - (len(methods) - 1) / 2) * 2
            _bars(ax, gains, aside, look(method).colour, look(method).marker)
        style.title(ax, f"{TITLES[kind]} (D = {worlds[0].dimension}, K = {sites})")
        ax.set_xticks(amounts, [f"{amount:g}" for amount in amounts])
        ax.margins(x=0.12)
        style.axis_labels(ax, AXES[kind], "area minus alone's" if ax is axes[0] else "")
    _limit([axes], [*drawn, *nulls])
    counts = {gain.seeds for gains in drawn for gain in gains.values()}
    fig.supxlabel(_note(readings, counts, []), fontsize=style.SMALL, color=INK)
    looks = [look(method) for method in methods]
    style.legend(fig, [{"color": each.colour, "marker": each.marker, "label": each.name} for each in looks])
    return fig


def _shown(readings: Readings, worlds: Sequence[World], methods: Sequence[str]) -> list[str]:
    """The methods of these with readings in some world; if there are none, two others that have."""
    there = [name for name in readings.methods if any(readings.has(world, name) for world in worlds)]
    return [name for name in methods if name in there] or there[: len(methods)]


def _gains(readings: Readings, worlds: Sequence[World], sites: int, method: str) -> Gains:
    found = {world.amount: readings.gain(world, sites, method) for world in worlds}
    return {amount: gain for amount, gain in found.items() if gain is not None}


def _null(ax: Axes, bands: Sequence[Gains]) -> None:
    """Grey bands: the 95 % intervals of working alone once more, minus alone; the first is the palest."""
    for place, gains in enumerate(bands):
        if any(gain.seeds > 1 for gain in gains.values()):
            low, high = np.array([gain.interval for gain in gains.values()]).T
            ax.fill_between(list(gains), low, high, color=tint(ALONE, 0.2 + 0.2 * place), linewidth=0, zorder=0)
    ax.axhline(0.0, color=INK, linewidth=0.9, zorder=1)


def _lines(ax: Axes, lines: Sequence[Gains], shades: Sequence[str]) -> None:
    for place, (gains, shade) in enumerate(zip(lines, shades, strict=True)):
        _bars(ax, gains, ASIDE * (place - (len(lines) - 1) / 2), shade, MARKS[place % len(MARKS)])


def _bars(ax: Axes, gains: Gains, aside: float, colour: str, mark: str) -> None:
    """A line through the gains with their intervals; a single seed has none."""
    look: dict[str, Any] = {"linewidth": 1.8, "elinewidth": 0.9, "markersize": 4.5, "zorder": 3}
    ax.errorbar(
        [amount + aside for amount in gains],
        [gain.difference for gain in gains.values()],
        yerr=[gain.margin if gain.seeds > 1 else 0.0 for gain in gains.values()],
        color=colour,
        marker=mark,
        **look,
    )


def _shades(colour: str, count: int) -> list[str]:
    """From a pale to a dark shade of the colour."""
    return [tint(colour, share) if share <= 1.0 else darker(colour, share - 1.0) for share in np.linspace(*RAMP, count)]


def _limit(axes: Sequence[Sequence[Axes]], drawn: Sequence[Gains]) -> None:
    """Around all differences and their intervals, but no further than `REACH`: intervals of two seeds are very wide."""
    gains = [gain for line in drawn for gain in line.values()]
    far = REACH * max((abs(gain.difference) for gain in gains), default=0.0) or 0.1
    ends = [end for gain in gains for end in (gain.difference, *gain.interval) if not np.isnan(end)]
    low, high = max(-far, min([0.0, *ends])), min(far, max([0.0, *ends]))
    margin = 0.06 * (high - low) or far
    for row in axes:
        for ax in row:
            ax.set_ylim(low - margin, high + margin)


def _name_lines(ax: Axes, lines: dict[int, Gains], shades: Sequence[str]) -> None:
    """Write the number of sites at the end of each line."""
    ends = [
        (max(gains) + 2 * ASIDE, gains[max(gains)].difference, f"K = {count}", shade)
        for (count, gains), shade in zip(lines.items(), shades, strict=True)
        if gains
    ]
    name_ends(ax, ends, apart=0.085)


def _note(readings: Readings, counts: set[int], sites: Sequence[int]) -> str:
    null = f", with {sites[0]} (pale) and {sites[-1]} sites (dark)" if len(set(sites)) > 1 else ""
    seeds = f"{seeds_name(counts)}{' for tuning' if readings.is_tuning else ''}"
    return f"bars: 95 % intervals over {seeds}, paired; grey: the null, alone once more minus alone{null}"
