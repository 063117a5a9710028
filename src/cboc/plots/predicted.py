"""Each outcome as it is predicted from all others, against what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cboc.insight.learned import Learned
from cboc.insight.predicted import Prediction
from cboc.plots import style
from cboc.plots.experiments import EXPECTED
from cboc.plots.style import INK, TOGETHER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM, MORE = 0.05, 0.25  # around the measured outcomes, and above and below the predicted ones
OUTSIDE = TOGETHER


def predicted(learned: Learned) -> Figure:
    """The expected outcomes with their intervals, around the diagonal; those that lay outside are diamonds."""
    each = learned.predicted.predictions
    measured = [prediction.y for prediction in each]
    fig, [[ax]] = style.figure(5.4)
    low, high = _range(measured, ROOM)
    ax.set_xlim(low, high)
    ax.set_ylim(*_range([*measured, *(prediction.expected.middle for prediction in each)], MORE))
    ax.plot([low, high], [low, high], color=INK, linewidth=1.0, linestyle="--", zorder=1)
    _draw(ax, [prediction for prediction in each if prediction.is_inside], "o", EXPECTED)
    _draw(ax, [prediction for prediction in each if not prediction.is_inside], "D", OUTSIDE)
    ax.set_box_aspect(0.62)
    style.axis_labels(ax, f"measured {learned.outcome}", "expected from the others")
    dot = {"linestyle": "none", "markersize": 6, "markeredgewidth": 0}
    entries = [dot | {"marker": "o", "color": EXPECTED, "label": "inside its interval"}]
    entries += [dot | {"marker": "D", "color": OUTSIDE, "label": "outside"}] * (learned.predicted.inside < len(each))
    style.legend(fig, [*entries, {"color": INK, "linewidth": 1.0, "linestyle": "--", "label": "as measured"}])
    return fig


def _draw(ax: Axes, some: Sequence[Prediction], marker: str, colour: str) -> None:
    y = [prediction.y for prediction in some]
    ends = [prediction.expected for prediction in some]
    ax.vlines(y, [end.low for end in ends], [end.high for end in ends], color=colour, linewidth=1.0, alpha=0.6)
    ax.scatter(y, [end.middle for end in ends], marker=marker, color=colour, s=30, linewidths=0, zorder=3)


def _range(values: Sequence[float], room: float) -> tuple[float, float]:
    margin = room * (max(values) - min(values))
    return min(values) - margin, max(values) + margin
