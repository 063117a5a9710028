"""Which parameter matters: a bar for each with its interval, the most important one on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.insight.learned import Learned
from cboc.plots import style
from cboc.plots.experiments import EXPECTED
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAR, INNER = 0.62, 0.3  # their heights
FAINT = 0.35


def importance(learned: Learned) -> Figure:
    """The share with others as a bar, inside it what the parameter does by itself, in percent."""
    shares = learned.importance.shares
    rows, total = np.arange(len(shares)), np.array([100.0 * share.total for share in shares])
    ends = np.array([share.total_interval for share in shares]).T * 100.0
    fig, [[ax]] = style.figure(1.2 + 0.42 * len(shares))
    ax.barh(rows, total, BAR, color=EXPECTED, alpha=FAINT, linewidth=0)
    ax.barh(rows, [100.0 * share.alone for share in shares], INNER, color=EXPECTED, linewidth=0)
    ax.hlines(rows, *ends, color=INK, linewidth=1.2)
    ax.set_yticks(rows, [style.plain(share.name, style.LONGEST) for share in shares])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set_xlim(0.0, 100.0)
    style.axis_labels(ax, "% of the differences between outcomes")
    bar: dict[str, Any] = {"color": EXPECTED, "linewidth": 7.0, "solid_capstyle": "butt"}
    line: dict[str, Any] = {"color": INK, "linewidth": 1.2, "label": "90 % interval of that"}
    style.legend(fig, [bar | {"label": "by itself"}, bar | {"label": "with others", "alpha": FAINT}, line])
    return fig
