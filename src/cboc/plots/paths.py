"""Where the sites went: designs on the contours of each site's function, as in Fig. 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.arrays import Array
from cboc.plots import style, terrain
from cboc.plots.style import ALONE, INK, TOGETHER
from cboc.problems.problem import Problem
from cboc.runs.history import History
from cboc.site.trial import TOLD, Status, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = 7  # iteration indices beside each path
LABEL = np.array([0.05, 0.04])  # from a point to the middle of its index, in shares of the map
CLEAR = 0.08  # the free space that an index needs
SIZES = {ALONE: 34, TOGETHER: 18}  # different, to show both of two equal designs


def paths(together: History, alone: History | None = None, problems: Mapping[str, Problem] | None = None) -> Figure:
    """A map per site for spaces of two parameters; for other spaces, each parameter against experiments."""
    groups = [(history, colour) for history, colour in ((alone, ALONE), (together, TOGETHER)) if history is not None]
    if terrain.is_plane(together.study.space):
        return _maps(groups, problems or {})
    return _strips(groups)


def ran(history: History, site: str | None = None) -> list[Trial]:
    """The trials that were run in a turn, by one site or by all."""
    trials = history.trials if site is None else history.of(site)
    return [t for t in trials if t.turn is not None and t.status in TOLD]


def experiment_of(history: History, trial: Trial) -> int:
    """The number of a site's experiment after its initial ones, counted from 1; 0: an initial one."""
    initial = sum(other.turn is None for other in history.of(trial.site))
    return 0 if trial.turn is None else trial.number - initial + 1


def _maps(groups: Sequence[tuple[History, str]], problems: Mapping[str, Problem]) -> Figure:
    space, sites = groups[-1][0].study.space, groups[-1][0].sites
    fig, axes = style.panels(len(sites), 2 if len(sites) in (2, 4) else 3, 3.1, sharex=True, sharey=True)
    for site, ax in zip(sites, axes, strict=True):
        terrain.draw_plane(ax, space)
        ax.label_outer()
        style.title(ax, site)
        if site in problems:
            terrain.draw_contours(ax, problems[site])
        dots = np.array([trial.x for history, _ in groups for trial in ran(history, site)]).reshape(-1, 2)
        taken: list[Array] = []
        for history, colour in groups:
            _path(ax, history, site, colour, dots, taken)
    _legend(fig, groups, bool(problems))
    return fig


def _path(ax: Axes, history: History, site: str, colour: str, dots: Array, taken: list[Array]) -> None:
    """The designs, and the numbers of some experiments where there is room for them."""
    trials = ran(history, site)
    points = terrain.natural_points(history.study.space, [tuple(trial.x) for trial in trials])
    _dots(ax, points, trials, colour, s=SIZES[colour], zorder=4, clip_on=False)
    room = LABELS
    for k in sorted(range(len(trials)), key=lambda k: (k % 4 != 0, k)):
        label = trials[k].x + LABEL * np.where(trials[k].x < 0.9, 1, -1)
        is_free = all(np.abs(label - other).max() > CLEAR for other in taken)
        if room and is_free and (np.abs(label - dots).max(axis=1) > LABEL[1]).all():
            taken.append(label)
            room -= 1
            _index(ax, points[k], experiment_of(history, trials[k]), colour, trials[k].x)


def _dots(ax: Axes, points: Array, trials: Sequence[Trial], colour: str, **look: Any) -> None:
    """Draw a dot where an experiment was run, hollow if it failed."""
    has_failed = np.array([trial.status == Status.FAILED for trial in trials], dtype=bool)
    ax.scatter(*points[~has_failed].T, color=colour, linewidths=0, **look)
    if has_failed.any():
        ax.scatter(*points[has_failed].T, facecolors="none", edgecolors=colour, linewidths=1.2, **look)


def _index(ax: Axes, point: Array, number: int, colour: str, where: Array) -> None:
    """The number beside the point, towards the middle of the map."""
    from matplotlib.patheffects import withStroke

    right, up = where < 0.9
    ax.annotate(
        str(number),
        (point[0], point[1]),
        xytext=(4 if right else -4, 3 if up else -3),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom" if up else "top",
        fontsize=style.SMALL,
        color=colour,
        fontweight="bold",
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
        zorder=5,
    )


def _legend(fig: Figure, groups: Sequence[tuple[History, str]], has_contours: bool) -> None:
    names = {TOGETHER: "together", ALONE: "alone"}
    entries: list[dict[str, Any]] = [
        {"color": colour, "label": names[colour], "marker": "o", "linestyle": "none", "markersize": 6}
        for _, colour in reversed(groups)
    ]
    shape: dict[str, Any] = {"color": INK, "linestyle": "none"}
    if any(trial.status == Status.FAILED for history, _ in groups for trial in ran(history)):
        entries.append(shape | {"label": "failed", "marker": "o", "markersize": 6, "markerfacecolor": "none"})
    if has_contours:
        entries.append(shape | {"label": "optimum", "marker": "x", "markeredgewidth": 1.8})
    style.legend(fig, entries)


def _strips(groups: Sequence[tuple[History, str]]) -> Figure:
    """A row per site, a column per parameter."""
    space, sites = groups[-1][0].study.space, groups[-1][0].sites
    names = space.names
    fig, axes = style.figure(0.6 + 1.25 * len(sites), len(sites), len(names), sharex=True, sharey="col")
    for row, site in zip(axes, sites, strict=True):
        for ax, name in zip(row, names, strict=True):
            for history, colour in groups:
                trials = ran(history, site)
                points = np.array([(experiment_of(history, t), _level(history, t, name)) for t in trials]).reshape(
                    -1, 2
                )
                _dots(ax, points, trials, colour, s=0.6 * SIZES[colour])
            _scale(ax, groups[-1][0], name)
        row[0].set_ylabel(site, fontsize=style.NORMAL, color=INK)
    for ax, name in zip(axes[0], names, strict=True):
        style.title(ax, terrain.label(space, name))
    fig.supxlabel("experiment", fontsize=style.NORMAL, color=INK)
    _legend(fig, groups, has_contours=False)
    return fig


def _level(history: History, trial: Trial, name: str) -> float:
    """The parameter's value; for a choice, the number of its option."""
    return history.study.space.parameters[name].position(trial.design(history.study.space)[name])


def _scale(ax: Axes, history: History, name: str) -> None:
    axis = history.study.space.parameters[name].axis
    margin = 0.04 * (axis.high - axis.low)
    match axis.scale:
        case "options":
            ax.set_yticks(range(len(axis.options)), axis.options)
            ax.set_ylim(axis.low, axis.high)
        case "log":
            ax.set_yscale("log")
            ax.set_ylim(axis.low * 0.9, axis.high * 1.1)
        case "linear":
            ax.set_ylim(axis.low - margin, axis.high + margin)
