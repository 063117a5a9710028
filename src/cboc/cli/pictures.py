"""Draw the pictures of a run's directory, or of one site's file, and save them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cboc import plots
from cboc.errors import CbocError
from cboc.runs.course import Course
from cboc.runs.run import ALONE, TOGETHER
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


def draw(course: Course, kind: Kind, directory: Path) -> tuple[list[Path], str]:
    """Write the pictures that there are data for; return their paths, and which were left out and why."""
    if not course.histories(TOGETHER):
        raise course.emptiness
    kinds = list(PICTURES) if kind == Kind.ALL else [kind]
    missing = {each: needed for each in kinds if (needed := lack(course, each))}
    left_out = ", ".join(f"{each} ({needed})" for each, needed in missing.items())
    if len(missing) == len(kinds):
        raise CbocError(f"cannot draw {course.place}: {left_out}; see cboc plot --help.")
    drawn = [save(PICTURES[each](course), directory / f"{each}.png") for each in kinds if each not in missing]
    return drawn, left_out


def lack(course: Course, kind: Kind) -> str:
    """Say what a picture needs and is not there; empty if nothing is missing."""
    together, alone = course.histories(TOGETHER), course.histories(ALONE)
    if kind in (Kind.MATRIX, Kind.MOVES) and not any(trial.answer for trial in together[0].trials):
        return "no proposal has been answered yet"
    if kind in (Kind.PATHS, Kind.MOVES, Kind.GAIN) and not any(map(_is_of_a_turn, together[0].trials)):
        return "nothing but initial designs has been run yet"
    if kind == Kind.MATRIX and together[0].sites != course.study.sites:
        return "it has a row for every site, and this is one"
    if kind == Kind.CALENDAR and not course.has_times:
        return "no times are known; in a study file, give the sites a duration"
    if kind == Kind.GAIN and not alone:
        return "nobody worked alone; cboc simulate --alone lets them, cboc advise estimates it"
    has_outcome = any(trial.y is not None for history in together for trial in history.trials)
    if kind in COURSES and not has_outcome:
        return "no experiment has succeeded so far"
    if kind == Kind.GAIN or (kind in COURSES and course.optima is not None):
        starts = [history.best_so_far(site)[0] for history in (*together, *alone) for site in history.sites]
        return "" if np.isfinite(starts).all() else "a Gap needs an initial outcome of every site"
    return ""


def _is_of_a_turn(trial: Trial) -> bool:
    return trial.turn is not None and trial.status in TOLD


def save(figure: Figure, path: Path) -> Path:
    """Write a picture, and make its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    return path


def _progress(course: Course) -> Figure:
    together, alone = ([course.noiseless(history) for history in course.histories(how)] for how in (TOGETHER, ALONE))
    return plots.progress(together, alone, course.optima)


def _calendar(course: Course) -> Figure:
    together, alone = ([course.noiseless(history) for history in course.histories(how)] for how in (TOGETHER, ALONE))
    return plots.calendar(together, alone, course.optima, course.time)


def _gain(course: Course) -> Figure:
    together, alone = ([course.noiseless(history) for history in course.histories(how)] for how in (TOGETHER, ALONE))
    return plots.gain(together, alone, course.optima)


def _paths(course: Course) -> Figure:
    """The histories of the first seed."""
    return plots.paths(course.histories(TOGETHER)[0], next(iter(course.histories(ALONE)), None), course.problems)


PICTURES: dict[Kind, Callable[[Course], Figure]] = {
    Kind.PROGRESS: _progress,
    Kind.CALENDAR: _calendar,
    Kind.PATHS: _paths,
    Kind.MATRIX: lambda course: plots.matrix(course.histories(TOGETHER)[0]),
    Kind.MOVES: lambda course: plots.moves(course.histories(TOGETHER)[0]),
    Kind.GAIN: _gain,
}
