"""The case study in one picture: the best so far against rounds, together and alone  (the paper's Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.evidence.casestudy import SETUPS, Account, by_method, optima
from cboc.evidence.figures.look import error_name, look, over_seeds
from cboc.evidence.tables.casestudy import shown
from cboc.plots import style
from cboc.plots.style import INK, Curve
from cboc.runs.metrics import margin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {
    "paper": "the paper's sensor, 3 sites",
    "labs": "6 labs, constructed",
    "trouble": "the same, some slow, some failing",
}
REACH = 0.5  # how far bands are shown beyond the means, as a share of their range: bands of two seeds are very wide


def casestudy(accounts: Sequence[Account]) -> Figure:
    """A panel for each setup; a dotted line marks the best possible outcome."""
    setups = [setup for setup in SETUPS if by_method(accounts, setup)]
    fig, axes = style.figure(3.9, 1, len(setups))
    counts: set[int] = set()
    methods: dict[str, None] = {}
    for ax, setup in zip(axes[0], setups, strict=True):
        groups = by_method(accounts, setup)
        counts |= {len(group) for group in groups.values()}
        methods |= dict.fromkeys(groups)
        _panel(ax, setup, groups)
    looks = [{"color": look(m).colour, "linestyle": look(m).line, "label": look(m).name} for m in methods]
    style.legend(fig, [{"linewidth": 2.2, **each} for each in looks])
    note = f"mean over sites; {error_name(counts, 'bands', '95 % interval')}; dotted: the optimum"
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _panel(ax: Axes, setup: str, groups: dict[str, list[Account]]) -> None:
    is_constructed = SETUPS[setup].is_constructed
    optimum = 100.0 if is_constructed else 1e3 * optima(setup)[0]
    curves = [_curve(setup, method, group) for method, group in groups.items()]
    style.draw_curves(ax, curves)
    ax.axhline(optimum, color=INK, linewidth=1.1, linestyle=":")
    _limit(ax, [optimum, *(value for curve in curves for value in curve.mean)])
    style.title(ax, TITLES[setup])
    style.whole_rounds(ax, SETUPS[setup].rounds)
    style.axis_labels(ax, "round", "% of the lab's optimum" if is_constructed else "largest coverage θ_max × 10³")


def _curve(setup: str, method: str, group: Sequence[Account]) -> Curve:
    values = np.array([shown(setup, account).mean(axis=0) for account in group])  # (seeds, T + 1)
    return over_seeds(values, method, look(method).colour, margin)._replace(line=look(method).line)


def _limit(ax: Axes, values: Sequence[float]) -> None:
    """Limit the axis to show all values, and as much of the bands as leaves the values legible."""
    (bottom, top), low, high = ax.get_ylim(), min(values), max(values)
    reach = REACH * (high - low)
    ax.set_ylim(max(bottom, low - reach), min(top, high + reach))
