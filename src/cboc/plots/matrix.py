"""W(t): who listens to whom, and how the sites become independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.plots import style
from cboc.plots.style import ALONE, TOGETHER, Curve
from cboc.runs.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

MAPS = 6


def matrices(history: History) -> Array:
    """W of every state, (states, K, K), put together from the sites' rows; NaN where a site was absent."""
    study = history.study
    answers = [(trial.site, trial.answer) for trial in history.trials if trial.answer is not None]
    if not answers:
        raise CbocError("no proposal has been answered yet, so there is no W to draw; run the study further.")
    states = 1 + max(answer.snapshot for _, answer in answers)
    W = np.full((states, len(study.sites), len(study.sites)), np.nan)
    for site, answer in answers:
        W[answer.snapshot, study.index(site)] = answer.weights
    return W


def matrix(history: History) -> Figure:
    """A strip of heat maps for some states; below, the weights on own and others' proposals against states.

    A state is a round or, at the free pace, an arrival, which has the row of one site.
    """
    W, state = matrices(history), "round" if history.study.pace.waits else "arrival"
    chosen = np.unique(np.linspace(0, len(W) - 1, MAPS).round().astype(int))
    fig = style.blank(4.6)
    above, below = fig.subfigures(2, 1, squeeze=False, height_ratios=[1.0, 1.1])[:, 0]
    maps = above.subplots(1, len(chosen), squeeze=False)[0]
    for ax, t in zip(maps, chosen, strict=True):
        image = _map(ax, W[t], f"{state} {t + 1}")
    _name_sites(maps[0], history.study.sites)
    _scale(above.colorbar(image, ax=maps, shrink=0.8, pad=0.01, ticks=[0, 0.5, 1]))
    _weights(below.subplots(), W, state)
    return fig


def _map(ax: Axes, W: Array, name: str) -> AxesImage:
    style.quiet(ax)
    image = ax.imshow(W, cmap="Oranges", vmin=0.0, vmax=1.0)
    ax.set_facecolor(style.FAINT)  # shows where a site was absent
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    style.title(ax, name)
    return image


def _scale(bar: Colorbar) -> None:
    bar.ax.spines["outline"].set_visible(False)
    bar.ax.tick_params(length=0, labelsize=style.SMALL)
    bar.set_label("weight", fontsize=style.SMALL)


def _name_sites(ax: Axes, sites: tuple[str, ...]) -> None:
    """Write the names of the sites at the rows of the first map, if they are legible."""
    if len(sites) <= 8:
        ax.set_yticks(range(len(sites)), sites)


def _weights(ax: Axes, W: Array, state: str) -> None:
    style.quiet(ax)
    before = np.full(1, np.nan)  # the initial designs
    own = np.append(before, np.nanmean(np.diagonal(W, axis1=1, axis2=2), axis=1))
    lines = [("own proposal", ALONE, own), ("others' proposals", TOGETHER, 1.0 - own)]
    for name, colour, weight in lines:
        ax.plot(np.arange(len(own)), weight, marker=style.marker(weight[1:]), color=colour, linewidth=2.2, label=name)
    ax.set_ylim(0.0, 1.02)
    style.whole_rounds(ax, len(W))
    style.label_ends(ax, [Curve(name, colour, w, w, w) for name, colour, w in lines])
    style.axis_labels(ax, state, "weight, mean over sites")
