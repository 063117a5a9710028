"""Draw the pictures of a run's directory and save them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cboc import plots
from cboc.errors import CbocError
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.site.trial import TOLD, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200
FOLDER = "plots"  # in the directory of a run


class Kind(StrEnum):
    """The pictures that can be drawn."""

    ALL = "all"
    PROGRESS = "progress"
    CALENDAR = "calendar"
    PATHS = "paths"
    MATRIX = "matrix"
    MOVES = "moves"
    GAIN = "gain"


COURSES = (Kind.PROGRESS, Kind.CALENDAR)


def draw(run: Run, kind: Kind, directory: Path) -> tuple[list[Path], str]:
    """Write the pictures that the run has data for; return their paths, and which were left out and why."""
    if not run.histories(TOGETHER):
        raise run.emptiness
    kinds = list(PICTURES) if kind == Kind.ALL else [kind]
    missing = {each: needed for each in kinds if (needed := lack(run, each))}
    left_out = ", ".join(f"{each} ({needed})" for each, needed in missing.items())
    if len(missing) == len(kinds):
        raise CbocError(f"cannot draw {run.directory}: {left_out}; see cboc simulate --help.")
    drawn = [save(PICTURES[each](run), directory / f"{each}.png") for each in kinds if each not in missing]
    return drawn, left_out


def lack(run: Run, kind: Kind) -> str:
    """Say what a picture needs and the run does not have; empty if nothing is missing."""
    together, alone = run.histories(TOGETHER), run.histories(ALONE)
    if kind in (Kind.MATRIX, Kind.MOVES) and not any(trial.answer for trial in together[0].trials):
        return "no proposal has been answered yet"
    if kind in (Kind.PATHS, Kind.MOVES, Kind.GAIN) and not any(map(_is_of_a_turn, together[0].trials)):
        return "nothing but initial designs has been run yet"
    if kind == Kind.CALENDAR and not run.has_times:
        return "its experiments take no time; give the sites a duration"
    if kind == Kind.GAIN and not alone:
        return "nobody worked alone; simulate with --alone"
    has_outcome = any(trial.y is not None for history in together for trial in history.trials)
    if kind in COURSES and not has_outcome:
        return "no experiment has succeeded so far"
    if kind == Kind.GAIN or (kind in COURSES and run.optima is not None):
        starts = [history.best_so_far(site)[0] for history in (*together, *alone) for site in history.study.sites]
        return "" if np.isfinite(starts).all() else "a Gap needs an initial outcome of every site"
    return ""


def _is_of_a_turn(trial: Trial) -> bool:
    return trial.turn is not None and trial.status in TOLD


def save(figure: Figure, path: Path) -> Path:
    """Write a picture, and make its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    return path


def _progress(run: Run) -> Figure:
    together, alone = ([run.noiseless(history) for history in run.histories(how)] for how in (TOGETHER, ALONE))
    return plots.progress(together, alone, run.optima)


def _calendar(run: Run) -> Figure:
    together, alone = ([run.noiseless(history) for history in run.histories(how)] for how in (TOGETHER, ALONE))
    return plots.calendar(together, alone, run.optima)


def _gain(run: Run) -> Figure:
    together, alone = ([run.noiseless(history) for history in run.histories(how)] for how in (TOGETHER, ALONE))
    return plots.gain(together, alone, run.optima)


def _paths(run: Run) -> Figure:
    """The histories of the first seed."""
    return plots.paths(run.histories(TOGETHER)[0], next(iter(run.histories(ALONE)), None), run.problems)


PICTURES: dict[Kind, Callable[[Run], Figure]] = {
    Kind.PROGRESS: _progress,
    Kind.CALENDAR: _calendar,
    Kind.PATHS: _paths,
    Kind.MATRIX: lambda run: plots.matrix(run.histories(TOGETHER)[0]),
    Kind.MOVES: lambda run: plots.moves(run.histories(TOGETHER)[0]),
    Kind.GAIN: _gain,
}
