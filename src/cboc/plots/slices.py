"""The expected outcome along each parameter, with its interval, and the experiments as shadows on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cboc.insight.learned import Learned
from cboc.insight.slices import ParameterSlice, outcomes_shown
from cboc.plots import experiments, style, terrain
from cboc.plots.experiments import EXPECTED
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOTTOM = 0.04  # where failures lie, as a share of the height
BOX = 0.5  # the width of the interval of an option


def slices(learned: Learned) -> Figure:
    """A panel for each parameter, through the best design; all have the same scale of outcomes."""
    drawn = learned.slices()
    columns = 2 if len(drawn) in (2, 4) else 3
    fig, axes = style.panels(len(drawn), columns, 2.5, sharey=True)
    low, high = outcomes_shown(drawn)
    axes[0].set_ylim(low, high)
    for along, ax in zip(drawn, axes, strict=True):
        _slice(ax, learned, along)
    for ax in axes[::columns]:
        ax.set_ylabel(style.plain(learned.outcome, style.LONGEST), fontsize=style.NORMAL, color=INK)
    line = {"color": EXPECTED, "label": "expected", "linewidth": 2.2}
    best = {"color": INK, "label": "best design", "linestyle": "--", "linewidth": 1.0}
    style.legend(fig, [line, best, *experiments.legend(learned)])
    return fig


def _slice(ax: Axes, learned: Learned, along: ParameterSlice) -> None:
    space = learned.surface.space
    terrain.draw_axis(ax, "x", space, along.name)
    style.axis_labels(ax, terrain.axis_label(space, along.name))
    if space.parameters[along.name].is_choice:
        _boxes(ax, along)
    else:
        ax.fill_between(along.places, along.expected.low, along.expected.high, color=EXPECTED, alpha=0.16, linewidth=0)
        ax.plot(along.places, along.expected.middle, color=EXPECTED, marker=style.marker(along.places), linewidth=2.2)
    ax.axvline(along.here, color=INK, linewidth=1.0, linestyle="--", zorder=1)
    _next(ax, learned, along.name)
    low, high = ax.get_ylim()
    bottom = low + BOTTOM * (high - low)
    shadows = [(each.place, bottom if each.measured.y is None else each.measured.y, each) for each in along.shadows]
    experiments.scatter(ax, [(x, y, each.measured, each.nearness) for x, y, each in shadows], s=26)


def _boxes(ax: Axes, along: ParameterSlice) -> None:
    """For options: the interval as a box, with the expected outcome as the line in it."""
    expected = along.expected
    ax.bar(along.places, expected.high - expected.low, BOX, expected.low, color=EXPECTED, alpha=0.16, linewidth=0)
    ax.hlines(expected.middle, along.places - BOX / 2, along.places + BOX / 2, color=EXPECTED, linewidth=2.2)


def _next(ax: Axes, learned: Learned, name: str) -> None:
    """The next design with the interval of its own; it lies beside the slice where it differs in other parameters."""
    if learned.next is None:
        return
    space, expected = learned.surface.space, learned.expected(learned.next)
    place = space.parameters[name].position(space.from_unit(learned.next)[name])
    ax.vlines(place, expected.low, expected.high, color=INK, linewidth=1.2, zorder=2)
    ax.scatter(place, expected.middle, s=90, zorder=4, linewidths=0, clip_on=False, **experiments.NEXT)
