"""The case study in one picture: the best so far against rounds, together and alone  (the paper's Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.bench.casesheet import shown
from cboc.bench.casestudy import SETUPS, Account, by_method, optima
from cboc.plots import style
from cboc.plots.evidence.look import error_name, look, over_seeds
from cboc.plots.style import ALONE, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {
    "paper": "the paper's sensor, 3 sites",
    "labs": "6 labs, constructed",
    "trouble": "the same, some slow, some failing",
}


def casestudy(accounts: Sequence[Account]) -> Figure:
    """A panel for each setup; dashed: what there is to reach."""
    setups = [setup for setup in SETUPS if by_method(accounts, setup)]
    fig, axes = style.figure(3.9, 1, len(setups))
    counts: set[int] = set()
    methods: dict[str, None] = {}
    for ax, setup in zip(axes[0], setups, strict=True):
        groups = by_method(accounts, setup)
        counts |= {len(group) for group in groups.values()}
        methods |= dict.fromkeys(groups)
        _panel(ax, setup, groups)
    style.legend(fig, [{"color": look(m).colour, "linewidth": 2.2, "label": look(m).name} for m in methods])
    note = f"mean over sites; {error_name(counts, 'bands')}; dashed: the optimum"
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _panel(ax: Axes, setup: str, groups: dict[str, list[Account]]) -> None:
    is_constructed = SETUPS[setup].is_constructed
    curves = [
        over_seeds(np.array([shown(setup, account).mean(axis=0) for account in group]), method, look(method).colour)
        for method, group in groups.items()
    ]
    style.draw_curves(ax, curves)
    ax.axhline(100.0 if is_constructed else 1e3 * optima(setup)[0], color=ALONE, linewidth=0.9, linestyle="--")
    style.title(ax, TITLES[setup])
    style.whole_rounds(ax, SETUPS[setup].rounds)
    style.axis_labels(ax, "round", "% of the lab's optimum" if is_constructed else "largest coverage θ_max × 10³")
