"""From the proposed to the mixed design, and which of the two a site ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.exchange.messages import Point
from cboc.plots import style, terrain
from cboc.plots.style import ALONE, INK, TOGETHER
from cboc.runs.history import History
from cboc.site.trial import TOLD, Trial
from cboc.site.turn import Decision

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ARROW = {"arrowstyle": "-|>,head_length=0.35,head_width=0.16", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
FOLLOWED: dict[str, Any] = {"color": TOGETHER, "linestyle": "-"}
DECLINED: dict[str, Any] = {"color": ALONE, "linestyle": ":"}
FULL: dict[str, Any] = {"s": 24, "edgecolors": "white", "linewidths": 0.5, "zorder": 4, "clip_on": False}
HOLLOW: dict[str, Any] = FULL | {"facecolors": "white", "edgecolors": ALONE, "linewidths": 1.2}


def moves(history: History, site: str | None = None) -> Figure:
    """An arrow per experiment in a space of two parameters, else its length, for one site or for all."""
    sites = history.sites if site is None else (site,)
    is_plane = terrain.is_plane(history.study.space)
    fig, axes = style.panels(
        len(sites), 2 if len(sites) in (2, 4) else 3, 3.1 if is_plane else 2.1, sharex=True, sharey=True
    )
    for name, ax in zip(sites, axes, strict=True):
        mixed = [trial for trial in ran(history, name) if trial.answer is not None]
        (_arrows if is_plane else _lengths)(ax, history, mixed)
        shown = style.shortened(name, style.LONGEST)
        style.title(ax, f"{shown}: followed {sum(map(_is_followed, mixed))} of {len(mixed)}")
        ax.label_outer()
    if not is_plane:
        axes[0].set_ylim(bottom=0.0)
        fig.supxlabel("experiment", fontsize=style.NORMAL, color=INK)
        fig.supylabel("distance, proposed to mixed", fontsize=style.NORMAL, color=INK)
    _legend(fig)
    return fig


def ran(history: History, site: str) -> list[Trial]:
    """The trials that were run in a turn."""
    return [trial for trial in history.of(site) if trial.turn is not None and trial.status in TOLD]


def experiment_of(history: History, trial: Trial) -> int:
    """The number of a site's experiment after its initial ones, counted from 1."""
    initial = sum(other.turn is None for other in history.of(trial.site))
    return trial.number - initial + 1


def _is_followed(trial: Trial) -> bool:
    return trial.decision is Decision.FOLLOWED


def _mix(trial: Trial) -> Point:
    return trial.proposed if trial.answer is None else trial.answer.mix


def _arrows(ax: Axes, history: History, trials: list[Trial]) -> None:
    space = history.study.space
    terrain.draw_plane(ax, space)
    proposed = terrain.natural_points(space, [trial.proposed for trial in trials])
    mixed = terrain.natural_points(space, [_mix(trial) for trial in trials])
    is_followed = np.array([_is_followed(trial) for trial in trials], dtype=bool)
    for start, end, follows in zip(proposed, mixed, is_followed, strict=True):
        look = ARROW | (FOLLOWED if follows else DECLINED)
        ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=look)
    ran = terrain.natural_points(space, [tuple(trial.x.tolist()) for trial in trials])
    ax.scatter(ran[is_followed, 0], ran[is_followed, 1], color=TOGETHER, **FULL)
    ax.scatter(ran[~is_followed, 0], ran[~is_followed, 1], **HOLLOW)


def _lengths(ax: Axes, history: History, trials: list[Trial]) -> None:
    places = np.array([experiment_of(history, trial) for trial in trials])
    length = np.array([np.linalg.norm(np.subtract(_mix(trial), trial.proposed)) for trial in trials])
    is_followed = np.array([_is_followed(trial) for trial in trials], dtype=bool)
    for look, chosen in ((FOLLOWED, is_followed), (DECLINED, ~is_followed)):
        ax.vlines(places[chosen], 0, length[chosen], linewidth=0.9, **look)
    ax.scatter(places[is_followed], length[is_followed], color=TOGETHER, **FULL)
    ax.scatter(places[~is_followed], length[~is_followed], **HOLLOW)
    style.whole_rounds(ax, int(history.study.all_budgets.max()))


def _legend(fig: Figure) -> None:
    """Explain the dots: they are the designs that were run, full if mixed, empty if not."""
    dot: dict[str, Any] = {"marker": "o", "linewidth": 0.9}
    followed = dot | FOLLOWED | {"label": "mixed design, followed"}
    declined = dot | DECLINED | {"label": "own design run, or another site's best", "markerfacecolor": "white"}
    style.legend(fig, [followed, declined])
