"""The Gap, or the best outcome so far, against time: together and alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.plots import style
from cboc.plots.reached import way, what_is_reached
from cboc.plots.style import ALONE, INK, TOGETHER, Curve
from cboc.runs.history import History
from cboc.runs.metrics import bests_at, gaps_at, standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOMENTS = 241


def calendar(
    together: Sequence[History],
    alone: Sequence[History] = (),
    optima: Mapping[str, float] | None = None,
    time: str = "time",
) -> Figure:
    """One panel with the mean Gap if the optima are known, else one per site with its best outcome so far."""
    groups = [("alone", ALONE, alone), ("together", TOGETHER, together)]
    present = [(label, colour, histories) for label, colour, histories in groups if histories]
    ends = [trial.ended for _, _, group in present for h in group for trial in h.trials if trial.ended is not None]
    moments = np.linspace(0.0, max(ends), MOMENTS)
    if optima is None:
        return _by_site(present, moments, time)
    fig, [[ax]] = style.figure(4.2)
    curves = [
        style.mean_and_band(gaps_at(group, optima, moments), label, colour)._replace(x=moments)
        for label, colour, group in present
    ]
    style.draw_curves(ax, curves)
    ax.set_xlim(0.0, moments[-1])
    ax.set_ylim(0.0, 1.02)
    style.label_ends(ax, curves)
    style.axis_labels(ax, time, "Gap (1 = optimum found)")
    sites = len(together[0].sites)
    style.title(ax, f"Mean over {sites} {'site' if sites == 1 else 'sites'}; {style.band_name(len(together))}")
    return fig


def _by_site(groups: Sequence[tuple[str, str, Sequence[History]]], moments: Array, time: str) -> Figure:
    first, seeds = groups[-1][2][0], len(groups[-1][2])
    fig, axes = style.panels(len(first.sites), 3, 2.4)
    for k, (site, ax) in enumerate(zip(first.sites, axes, strict=True)):
        style.draw_curves(ax, [_outcomes(group, k, label, colour, moments) for label, colour, group in groups])
        ax.set_xlim(0.0, moments[-1])
        style.title(ax, f"{style.shortened(site, style.LONGEST)}{way(first.goals[site])}")
    band = f" (band: standard error over {seeds} seeds)" if seeds > 1 else ""
    fig.supylabel(what_is_reached(first), fontsize=style.NORMAL, color=INK)
    fig.supxlabel(f"{time}{band}", fontsize=style.NORMAL, color=INK)
    style.legend(fig, [{"color": colour, "label": label, "linewidth": 2.2} for label, colour, _ in reversed(groups)])
    return fig


def _outcomes(histories: Sequence[History], k: int, label: str, colour: str, moments: Array) -> Curve:
    """One site's mean over seeds, from the moment at which all have a result."""
    best = bests_at(histories, moments)[:, k]
    error, mean = np.nan_to_num(standard_error(best)), best.mean(axis=0)
    return Curve(label, colour, mean, mean - error, mean + error, x=moments)
