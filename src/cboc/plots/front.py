"""The results of a site by two outcomes: the front, what breaks a limit, and what is expected of the next design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from cboc.insight.found import Found
from cboc.insight.outcome import direction_of, is_ranked
from cboc.insight.prospect import Prospect
from cboc.insight.surface import Expectation
from cboc.plots import style
from cboc.plots.experiments import NEXT
from cboc.plots.style import INK
from cboc.site.outcomes import wish
from cboc.site.site import Site

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ON_FRONT: dict[str, Any] = {"marker": "D", "color": "#0e7c86"}
OTHER: dict[str, Any] = {"marker": "o", "color": "#d55e00"}
BROKEN: dict[str, Any] = {"marker": "X", "color": "#c2185b"}
BEST: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markeredgewidth": 2.0, "color": "#d97706"}
ROOM = 0.08  # around what is drawn
Range = tuple[float, float]


def front(site: Site, found: Sequence[Found], best: Found | None, prospect: Prospect | None) -> Figure:
    """A panel for each pair of objectives; `best` is the result on the front that the site's own weights choose."""
    pairs = list(combinations(site.goal.aims, 2))
    fig, axes = style.panels(len(pairs), 3 if len(pairs) > 1 else 1, 4.4 if len(pairs) == 1 else 3.2)
    expected = {} if prospect is None else prospect.expected
    for (across, up), ax in zip(pairs, axes, strict=True):
        _panel(ax, site, found, (across, up), expected)
        if best is not None:
            ax.plot(best.outcomes[across], best.outcomes[up], markersize=15, linestyle="none", zorder=5, **BEST)
    style.legend(fig, _legend(site, found, best, expected))
    return fig


def _panel(
    ax: Axes, site: Site, found: Sequence[Found], names: tuple[str, str], expected: Mapping[str, Expectation]
) -> None:
    drawn = [each for each in found if each.is_on_front]
    others = [each for each in found if not each.is_on_front and not each.broken]
    _stairs(ax, site, drawn, names)
    for some, look, size in ((others, OTHER, 26), ([e for e in found if e.broken], BROKEN, 34), (drawn, ON_FRONT, 38)):
        x, y = ([each.outcomes[name] for each in some] for name in names)
        ax.scatter(x, y, s=size, linewidths=0, zorder=3, **look)
    ends = [_range([each.outcomes[name] for each in found], expected.get(name)) for name in names]
    ax.set_xlim(*ends[0])
    ax.set_ylim(*ends[1])
    if all(name in expected for name in names):
        across, up = (expected[name] for name in names)
        ax.hlines(up.middle, across.low, across.high, color=INK, linewidth=1.2, zorder=2)
        ax.vlines(across.middle, up.low, up.high, color=INK, linewidth=1.2, zorder=2)
        ax.scatter(across.middle, up.middle, s=110, zorder=4, linewidths=0, **NEXT)
    across_label, up_label = (f"{site.study.objective_called(name).head}, {wish(site.goal, name)}" for name in names)
    style.axis_labels(ax, across_label, up_label)


def _stairs(ax: Axes, site: Site, drawn: Sequence[Found], names: tuple[str, str]) -> None:
    """The edge of what is reached, where two objectives are all and each has a direction."""
    if len(site.goal.aims) != 2 or not all(is_ranked(site.goal, name) for name in names) or not drawn:
        return
    x, y = zip(*sorted(tuple(each.outcomes[name] for name in names) for each in drawn), strict=True)
    is_more = direction_of(site.goal, names[0]).sign > 0.0
    ax.plot(x, y, drawstyle="steps-pre" if is_more else "steps-post", color=ON_FRONT["color"], linewidth=1.6, zorder=1)


def _range(values: Sequence[float], expected: Expectation | None) -> Range:
    """From where to where an axis goes: a bit beyond the results and what is expected, but not its whole interval."""
    shown = [*values, *([] if expected is None else [expected.middle])]
    width = max(shown) - min(shown) or abs(shown[0]) or 1.0
    return min(shown) - ROOM * width, max(shown) + ROOM * width


def _legend(
    site: Site, found: Sequence[Found], best: Found | None, expected: Mapping[str, Expectation]
) -> list[dict[str, Any]]:
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 7}
    entries = []
    if best is not None:
        entries += [dot | ON_FRONT | {"label": "on the front"}, dot | BEST | {"label": "best by the weights"}]
    if any(not each.is_on_front and not each.broken for each in found):
        entries.append(dot | OTHER | {"label": "other results"})
    if any(each.broken for each in found):
        entries.append(dot | BROKEN | {"label": "breaks a limit"})
    if any(name in expected for name in site.goal.aims):
        entries.append(dot | NEXT | {"label": "next design, as expected", "markersize": 10})
    return entries
