"""How experiments are drawn: a shape for each kind, as on the site's page; and the best design and the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cboc.insight.learned import Learned
from cboc.insight.measured import Kind, Measured, opacity
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The colours of the page, in light; the shapes say the same.
EXPECTED = "#3a6fb0"
LOOKS: dict[Kind, dict[str, Any]] = {
    Kind.INITIAL: {"marker": "o", "color": "#6a4c93"},
    Kind.OWN: {"marker": "D", "color": "#d55e00"},
    Kind.SHARED: {"marker": "^", "color": "#0e7c86"},
    Kind.EARLIER: {"marker": "s", "color": "#b8860b"},
    Kind.FAILED: {"marker": "X", "color": "#c2185b"},
}
ON_COLOURS: dict[str, Any] = {"color": "white", "edgecolors": "#111111", "linewidths": 0.9}  # seen on all of them
NEXT: dict[str, Any] = {"marker": "*", "color": INK}
DOT: dict[str, Any] = {"linestyle": "none", "markersize": 6, "markeredgewidth": 0}
Place = tuple[float, float, Measured, float]  # across, up, what was measured, and how near it is


def scatter(ax: Axes, places: Sequence[Place], **look: Any) -> None:
    """Draw experiments, the fainter the less they tell about what is drawn."""
    for kind, own in LOOKS.items():
        some = [(x, y, opacity(near)) for x, y, point, near in places if point.kind is kind]
        if some:
            x, y, strength = zip(*some, strict=True)
            full: dict[str, Any] = {"linewidths": 0, "alpha": strength, "zorder": 3, "clip_on": False} | own | look
            ax.scatter(x, y, **full)


def legend(learned: Learned, **look: Any) -> list[dict[str, Any]]:
    """An entry for the next design, if there is one, and for every kind that there is."""
    kinds = {point.kind for point in learned.points}
    upcoming = [] if learned.next is None else [DOT | NEXT | look | {"label": "next design", "markersize": 9}]
    return upcoming + [DOT | own | look | {"label": str(kind)} for kind, own in LOOKS.items() if kind in kinds]
