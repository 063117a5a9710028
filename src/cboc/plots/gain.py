"""What each site gains by working together: its Gap together minus its Gap alone, half way and at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.plots import style
from cboc.plots.style import ALONE, INK, TOGETHER
from cboc.runs.history import History
from cboc.runs.metrics import after, best_found, gap_curves, standard_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {"after half of the experiments": 0.5, "at the end": 1.0}
SMALLEST = 0.01  # the axis shows at least this much to either side: less is rounding


def gain(together: Sequence[History], alone: Sequence[History], optima: Mapping[str, float] | None = None) -> Figure:
    """Bars from zero, the largest gain on top; the best outcome found replaces an unknown optimum."""
    targets = optima or best_found([*together, *alone])
    ours, theirs = gap_curves(together, targets), gap_curves(alone, targets)
    gains = [after(ours, share) - after(theirs, share) for share in PANELS.values()]  # each (seeds, K)
    order = np.argsort(np.mean(gains, axis=(0, 1)), kind="stable")
    names = [together[0].study.sites[k] for k in order]
    fig, [axes] = style.figure(1.3 + 0.32 * len(names), 1, len(PANELS), sharex=True, sharey=True)
    for ax, values, name in zip(axes, gains, PANELS, strict=True):
        _draw(ax, values[:, order], names)
        style.title(ax, name)
    reach = max(SMALLEST, 1.35 * max(abs(value) for ax in axes for value in ax.dataLim.intervalx))
    axes[0].set_xlim(-reach, reach)
    axes[0].locator_params(axis="x", nbins=6)
    scale = "Gap" if optima else "share of the best improvement found"
    fig.supxlabel(f"{scale}: together minus alone (right of zero: better together)", fontsize=style.NORMAL, color=INK)
    return fig


def _draw(ax: Axes, values: Array, names: Sequence[str]) -> None:
    mean, error = values.mean(axis=0), np.nan_to_num(standard_error(values))
    rows = np.arange(len(names))
    colours = [TOGETHER if value > 0 else ALONE for value in mean]
    ax.barh(
        rows, mean, height=0.62, color=colours, xerr=error if error.any() else None, error_kw={"lw": 1, "ecolor": INK}
    )
    ax.axvline(0.0, color=INK, linewidth=1.0)
    ax.set_yticks(rows, [style.plain(name, style.LONGEST) for name in names])
    ax.grid(visible=False, axis="y")
    for row, value, width in zip(rows, mean, error, strict=True):
        side = 1 if value >= 0 else -1
        ax.annotate(
            f"{value:+.2f}".replace("+0.00", "0").replace("-0.00", "0").replace("-", "−"),
            (value + side * width, row),
            xytext=(4 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=style.SMALL,
            color=INK,
        )
