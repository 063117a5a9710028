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
    """W of every round, (rounds, K, K), put together from the sites' rows; NaN where a site was absent.

    At the free pace, the rows that the sites had in their first, second, ... turn.
    """
    study = history.study
    answers = [(trial.site, trial.turn.number, trial.answer) for trial in history.trials if trial.turn and trial.answer]
    if not answers:
        raise CbocError("no proposal has been answered yet, so there is no W to draw; run the study further.")
    rows = [(answer.snapshot if study.pace.waits else turn, site, answer) for site, turn, answer in answers]
    W = np.full((1 + max(t for t, *_ in rows), len(study.sites), len(study.sites)), np.nan)
    for t, site, answer in rows:
        W[t, study.index(site)] = 0.0
        W[t, study.index(site), : len(answer.weights)] = answer.weights  # fewer before other sites were admitted
    return W


def matrix(history: History) -> Figure:
    """A strip of heat maps for some rounds or turns; below, the weights on own and others' proposals."""
    W, word = matrices(history), "round" if history.study.pace.waits else "turn of each site"
    rounds = np.unique(np.linspace(0, len(W) - 1, MAPS).round().astype(int))
    fig = style.blank(4.6)
    above, below = fig.subfigures(2, 1, squeeze=False, height_ratios=[1.0, 1.1])[:, 0]
    maps = above.subplots(1, len(rounds), squeeze=False)[0]
    for ax, t in zip(maps, rounds, strict=True):
        image = _map(ax, W[t], f"{word.split()[0]} {t + 1}")
    _name_sites(maps[0], history.study.sites)
    _scale(above.colorbar(image, ax=maps, shrink=0.8, pad=0.01, ticks=[0, 0.5, 1]))
    _weights(below.subplots(), W, word)
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
        ax.set_yticks(range(len(sites)), [style.plain(site, style.LONGEST_OPTION) for site in sites])


def _weights(ax: Axes, W: Array, word: str) -> None:
    style.quiet(ax)
    before = np.full(1, np.nan)  # the initial designs
    own = np.append(before, np.nanmean(np.diagonal(W, axis1=1, axis2=2), axis=1))
    lines = [("own proposal", ALONE, own), ("others' proposals", TOGETHER, 1.0 - own)]
    for name, colour, weight in lines:
        ax.plot(np.arange(len(own)), weight, marker=style.marker(weight[1:]), color=colour, linewidth=2.2, label=name)
    ax.set_ylim(0.0, 1.02)
    style.whole_rounds(ax, len(W))
    style.label_ends(ax, [Curve(name, colour, w, w, w) for name, colour, w in lines])
    style.axis_labels(ax, word, "weight, mean over sites")
