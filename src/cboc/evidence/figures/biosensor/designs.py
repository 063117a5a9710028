"""Where the sites of the case study went in their design space, alone and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.arrays import Array, Mask
from cboc.evidence.biosensor.labs import SPACE
from cboc.evidence.casestudy import INITIAL, SETUPS, Account
from cboc.evidence.figures.biosensor.landscape import FINE, PAIRS, Landscape
from cboc.evidence.figures.look import look
from cboc.plots import style
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = (("inflow [mm/s]", 1e3), ("receptors [nmol/m²]", 1e9), ("pulse [min]", 1.0))
MARKERS = "os^Dvp"  # a shape for each site
FRAME = 0.05  # the margin around the box, as a share of a range


def designs(accounts: Mapping[str, Account], landscape: Landscape | None = None) -> Figure:
    """A row for each method's account of one seed, a column for each pair of parameters.

    Dots are the experiments of rounds, hollow where they failed; a line goes from the best initial design through the
    best so far to the best found.
    """
    setup = next(iter(accounts.values())).job.setup
    optima = np.array([_unit(problem.optimisers[0]) for problem in SETUPS[setup].problems()])
    fig, axes = style.figure(0.7 + 2.75 * len(accounts), len(accounts), len(PAIRS))
    for row, (method, account) in zip(axes, accounts.items(), strict=True):
        for ax, pair in zip(row, PAIRS, strict=True):
            _frame(ax, pair, landscape)
            for site, (optimum, marker) in enumerate(zip(optima, MARKERS, strict=False)):
                best = _path(ax, pair, account, site, {"color": look(method).colour, "marker": marker})
                _mark(ax, pair, best, optimum)
        style.title(row[0], look(method).name)
    has_failures = any(_failed(account).any() for account in accounts.values())
    _legend(fig, SETUPS[setup].names, has_failures=has_failures, has_contours=landscape is not None)
    return fig


def _failed(account: Account) -> Mask:  # (K, n + T)
    """Where a site ran a design and got no result; an absent site ran no design."""
    return np.isnan(account.outcomes) & ~np.isnan(account.designs).any(axis=2)


def _frame(ax: Axes, pair: tuple[int, int], landscape: Landscape | None) -> None:
    x, y = (_natural(FINE, parameter) for parameter in pair)
    for axis, parameter, values in zip("xy", pair, (x, y), strict=True):
        margin = FRAME * (values[-1] - values[0])
        getattr(ax, f"set_{axis}lim")(values[0] - margin, values[-1] + margin)
        getattr(ax, f"set_{axis}label")(AXES[parameter][0], fontsize=style.SMALL, color=INK)
    ax.grid(visible=landscape is None)
    if landscape is not None:
        landscape.draw(ax, pair, x, y)
        ax.spines[:].set_visible(False)


def _unit(design: Array) -> Array:  # (D,)
    return SPACE.to_unit(dict(zip(SPACE.names, design.tolist(), strict=True)))


def _natural(values: Array, parameter: int) -> Array:
    """Convert values from the unit cube to the units of the axes."""
    X = np.zeros((len(values), len(AXES)))
    X[:, parameter] = values
    return AXES[parameter][1] * SPACE.array_from_unit(X)[:, parameter]


def _path(ax: Axes, pair: tuple[int, int], account: Account, site: int, look: dict[str, Any]) -> Array:  # (D,)
    """Draw the site's experiments and its best so far; return the final best."""
    X, y = account.designs[site], np.where(np.isnan(account.outcomes[site]), -np.inf, account.outcomes[site])
    best = [int(np.argmax(y[:n])) for n in range(INITIAL, len(y) + 1)]  # after the initial designs and every round
    has_failed, is_of_round = _failed(account)[site], np.arange(len(X)) >= INITIAL
    ax.scatter(*_points(X[is_of_round & ~has_failed], pair), s=14, alpha=0.6, linewidths=0, zorder=3, **look)
    edge = {"facecolors": "none", "edgecolors": look["color"], "marker": look["marker"]}
    ax.scatter(*_points(X[is_of_round & has_failed], pair), s=11, linewidths=0.8, zorder=3, **edge)
    x, y = _points(X[best], pair)
    ax.plot(x, y, color=look["color"], linewidth=1.3, zorder=4)
    hollow = look | {"markerfacecolor": "white", "markersize": 6, "zorder": 5}
    full = look | {"markeredgecolor": "white", "markersize": 8, "zorder": 6}
    ax.plot(x[0], y[0], **hollow)
    ax.plot(x[-1], y[-1], **full)
    return X[best[-1]]


def _mark(ax: Axes, pair: tuple[int, int], best: Array, optimum: Array) -> None:
    """Mark the optimum, and with a dotted line how far from it the site ended."""
    x, y = _points(np.array([best, optimum]), pair)
    ax.plot(x, y, color=INK, linewidth=1.0, linestyle=":", zorder=5)
    ax.plot(x[1], y[1], marker="x", color=INK, markersize=9, markeredgewidth=1.6, linestyle="none", zorder=7)


def _points(X: Array, pair: tuple[int, int]) -> tuple[Array, Array]:
    """Designs of the unit cube on two axes; those of absent sites are left out."""
    here = X[~np.isnan(X).any(axis=1)]
    x, y = (_natural(here[:, parameter], parameter) for parameter in pair)
    return x, y


def _legend(fig: Figure, names: Sequence[str], *, has_failures: bool, has_contours: bool) -> None:
    shape: dict[str, Any] = {"marker": "o", "color": INK, "linestyle": "none"}
    marks = [
        shape | {"label": "best initial design", "markerfacecolor": "white", "markersize": 6},
        shape | {"label": "best found", "markersize": 7},
        shape | {"label": "experiment of a round", "markersize": 4, "alpha": 0.6},
        shape | {"label": "failed", "markersize": 3.5, "markerfacecolor": "none", "markeredgewidth": 0.8},
        shape | {"label": "optimum", "marker": "x", "markersize": 7, "markeredgewidth": 1.8},
    ]
    shapes = [shape | {"label": name, "marker": mark} for name, mark in zip(names, MARKERS, strict=False)]
    style.legend(fig, shapes, [mark for mark in marks if has_failures or mark["label"] != "failed"])
    contours = "; contours: θ_max × 10³ on the plane through the optimum" if has_contours else ""
    fig.supxlabel(
        f"lines: a site's best design so far; dotted: from there to its optimum{contours}",
        fontsize=style.SMALL,
        color=INK,
    )
