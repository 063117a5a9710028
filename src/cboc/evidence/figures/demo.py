"""The one picture of `cboc demo`: the Gap together and alone, and how every single site fared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.plots import style
from cboc.plots.style import ALONE, INK, TOGETHER
from cboc.runs.metrics import area, lead

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR = 0.06  # the height of the arrow, below the curves


def demo(together: Array, alone: Array, finding: str, setting: str) -> Figure:
    """Gap curves (seeds, K, T + 1) of both; `finding` is the headline, `setting` says who they are."""
    fig, [[left, right]] = style.figure(4.3, 1, 2, width_ratios=[1.45, 1.0])
    style.headline(fig, finding)
    _curves(left, together, alone, setting)
    _sites(right, area(together) - area(alone))
    return fig


def _curves(ax: Axes, together: Array, alone: Array, setting: str) -> None:
    curves = [style.mean_and_band(alone, "alone", ALONE), style.mean_and_band(together, "together", TOGETHER)]
    style.draw_curves(ax, curves)
    style.whole_rounds(ax, together.shape[-1] - 1)
    ax.set_ylim(0.0, 1.02)
    style.label_ends(ax, curves)
    _lead(ax, curves[1].mean, curves[0].mean)
    style.axis_labels(ax, "round", "mean Gap (1 = optimum found)")
    style.title(ax, f"{setting}; {style.band_name(len(together))}")


def _lead(ax: Axes, together: Array, alone: Array) -> None:
    """Show how much earlier together reaches alone's final Gap: two vertical lines and an arrow between them."""
    first, last = map(float, lead(together, alone))
    if not first < last:
        return
    ax.vlines([first, last], FLOOR, float(alone[-1]), colors=INK, linestyles=":", linewidth=1.0)
    ax.annotate(
        "", (first, FLOOR), (last, FLOOR), arrowprops={"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 0}
    )
    ax.annotate(
        f"{last - first:.0f} rounds earlier",
        (last, FLOOR),
        xytext=(-5, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=style.NORMAL,
        color=INK,
    )


def _sites(ax: Axes, gains: Array) -> None:
    """Draw a bar for every site and seed, sorted."""
    bars = np.sort(gains.ravel())[::-1]
    ax.bar(np.arange(len(bars)), bars, width=0.9, color=[TOGETHER if bar > 0 else ALONE for bar in bars])
    ax.axhline(0.0, color=INK, linewidth=1.0)
    ax.set_xlim(-0.8, len(bars) - 0.2)
    ax.set_xticks([])
    ax.grid(visible=False, axis="x")
    ax.spines["bottom"].set_visible(False)
    style.axis_labels(ax, "each bar: one site in one seed", "mean Gap, together minus alone")
    style.title(ax, f"{int((bars > 0).sum())} of {len(bars)} sites did better together")
