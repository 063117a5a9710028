"""The Gap, or the best outcome so far, against experiments: together and alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.plots import style
from cboc.plots.reached import way, what_is_reached
from cboc.plots.style import ALONE, INK, TOGETHER, Curve
from cboc.runs.history import History
from cboc.runs.metrics import best_curves, gap_curves, standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def progress(
    together: Sequence[History], alone: Sequence[History] = (), optima: Mapping[str, float] | None = None
) -> Figure:
    """One panel with the mean Gap if the optima are known, else one panel per site with its best outcome so far."""
    groups = [("alone", ALONE, alone), ("together", TOGETHER, together)]
    present = [(label, colour, histories) for label, colour, histories in groups if histories]
    if optima is None:
        return _by_site(present)
    fig, [[ax]] = style.figure(4.2)
    curves = [style.mean_and_band(gap_curves(group, optima), label, colour) for label, colour, group in present]
    style.draw_curves(ax, curves)
    last = max(len(curve.mean) for curve in curves) - 1
    style.whole_rounds(ax, last)
    ax.set_ylim(0.0, 1.02)
    style.label_ends(ax, curves)
    style.axis_labels(ax, "experiment", "Gap (1 = optimum found)")
    sites = len(together[0].sites)
    style.title(ax, f"Mean over {sites} {'site' if sites == 1 else 'sites'}; {style.band_name(len(together))}")
    return fig


def _by_site(groups: Sequence[tuple[str, str, Sequence[History]]]) -> Figure:
    first, seeds = groups[-1][2][0], len(groups[-1][2])
    fig, axes = style.panels(len(first.sites), 3, 2.4)
    for k, (site, ax) in enumerate(zip(first.sites, axes, strict=True)):
        curves = [_outcomes(histories, k, label, colour) for label, colour, histories in groups]
        style.draw_curves(ax, curves)
        style.whole_rounds(ax, max(len(curve.mean) for curve in curves) - 1)
        style.title(ax, f"{style.shortened(site, style.LONGEST)}{way(first.goals[site])}")
    band = f" (band: standard error over {seeds} seeds)" if seeds > 1 else ""
    fig.supylabel(what_is_reached(first), fontsize=style.NORMAL, color=INK)
    fig.supxlabel(f"experiment{band}", fontsize=style.NORMAL, color=INK)
    style.legend(fig, [{"color": colour, "label": label, "linewidth": 2.2} for label, colour, _ in reversed(groups)])
    return fig


def _outcomes(histories: Sequence[History], k: int, label: str, colour: str) -> Curve:
    """One site's mean over seeds."""
    best = best_curves(histories)[:, k]
    error = np.nan_to_num(standard_error(best))
    mean = best.mean(axis=0)
    return Curve(label, colour, mean, mean - error, mean + error)
