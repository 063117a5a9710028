"""The walk of each site in one history: its initial designs in order, then its later ones, and how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.arrays import Array
from cboc.plots.style import ALONE, INK, TOGETHER
from cboc.runs.history import History
from cboc.site.trial import TOLD, Status, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = {ALONE: 34, TOGETHER: 18}  # different, to show both of two equal designs
NAMES = {TOGETHER: "together", ALONE: "alone"}


@dataclass(frozen=True)
class Step:
    """One experiment that was run."""

    number: int  # 1, 2, ... after the initial ones, which are ..., -1, 0
    design: Mapping[str, Any]
    has_failed: bool


@dataclass(frozen=True)
class Walk:
    """A history, together or alone, in its colour."""

    history: History
    colour: str

    def steps(self, site: str) -> tuple[list[Step], list[Step]]:
        """The initial experiments of a site that were run, and the later ones."""
        initial = sum(trial.turn is None for trial in self.history.of(site))
        told = [trial for trial in self.history.of(site) if trial.status in TOLD]
        steps = [(trial.turn, self._step(trial, trial.number - initial + 1)) for trial in told]
        return [step for turn, step in steps if turn is None], [step for turn, step in steps if turn is not None]

    def _step(self, trial: Trial, number: int) -> Step:
        return Step(number, trial.design(self.history.study.space), trial.status is Status.FAILED)


def pluses(ax: Axes, points: Array, steps: Sequence[Step], **look: Any) -> None:
    """Draw a plus where an initial experiment was run, in a ring if it failed."""
    ax.plot(*points.T, marker="+", linestyle="none", color=INK, markeredgewidth=1.2, zorder=4, **look)
    failed = points[[step.has_failed for step in steps]]
    if len(failed):
        x, y = failed.T
        ax.scatter(x, y, s=40, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=4)


def dots(ax: Axes, points: Array, steps: Sequence[Step], colour: str, **look: Any) -> None:
    """Draw a dot where an experiment was run, hollow if it failed."""
    has_failed = np.array([step.has_failed for step in steps], dtype=bool)
    ax.scatter(*points[~has_failed].T, color=colour, linewidths=0, **look)
    if has_failed.any():
        ax.scatter(*points[has_failed].T, facecolors="none", edgecolors=colour, linewidths=1.2, **look)


def legend(walks: Sequence[Walk], sites: Sequence[str]) -> list[dict[str, Any]]:
    """An entry for every way of working, and for every mark that there is."""
    dot: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 6}
    entries = [dot | {"color": walk.colour, "label": NAMES[walk.colour]} for walk in reversed(walks)]
    walked = [walk.steps(site) for walk in walks for site in sites]
    if any(first for first, _ in walked):
        entries.append(dot | {"color": INK, "label": "initial", "marker": "+"})
    if any(step.has_failed for first, then in walked for step in (*first, *then)):
        entries.append(dot | {"color": INK, "label": "failed", "markerfacecolor": "none"})
    return entries
