"""Draw the pictures of a run's directory, or of one site's file, and save them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cboc import plots
from cboc.cli import captions
from cboc.cli.view import View
from cboc.errors import CbocError
from cboc.insight.found import by_weights, found
from cboc.plots import style
from cboc.private_files import for_owner
from cboc.runs.history import History
from cboc.runs.run import ALONE, TOGETHER
from cboc.site.trial import TOLD, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200
FOLDER = "plots"  # in the directory of a run
ENDINGS = (".png", ".svg", ".pdf", ".jpg", ".jpeg")  # of pictures, which no directory has


class Kind(StrEnum):
    """The pictures that can be drawn."""

    ALL = "all"
    PROGRESS = "progress"
    CALENDAR = "calendar"
    PATHS = "paths"
    MATRIX = "matrix"
    MOVES = "moves"
    GAIN = "gain"
    FRONT = "front"
    IMPORTANCE = "importance"
    PREDICTED = "predicted"
    SLICES = "slices"
    CONTOURS = "contours"


LESSONS = (Kind.IMPORTANCE, Kind.PREDICTED, Kind.SLICES, Kind.CONTOURS)  # what one site has learned of an outcome
OF_ONE = (Kind.FRONT, *LESSONS)
COURSES = (Kind.PROGRESS, Kind.CALENDAR)
OF_ALL = (*COURSES, Kind.GAIN, Kind.MATRIX)  # never of a single site of a run


def draw(view: View, kind: Kind, directory: Path) -> tuple[list[Path], str]:
    """Write the pictures that there are data for; return their paths, and which were left out and why."""
    if not view.course.histories(TOGETHER):
        raise view.course.emptiness
    style.figure_class()  # is matplotlib installed? Better asked before the work
    if view.only is not None and kind in OF_ALL:
        raise CbocError(f"{kind} is a picture of all sites; leave --site out, or choose another --kind.")
    has_front = len(view.course.study.objectives) > 1
    kinds = [each for each in PICTURES if each is not Kind.FRONT or has_front] if kind == Kind.ALL else [kind]
    missing = {each: needed for each in kinds if (needed := lack(view, each))}
    left_out = _grouped(missing)
    if len(missing) == len(kinds):
        raise CbocError(f"cannot draw {view.course.place}: {left_out}; see cboc plot --help.")
    drawn = [save(framed(view, each), directory / _file(view, each)) for each in kinds if each not in missing]
    return drawn, left_out


def _file(view: View, kind: Kind) -> str:
    """The name of a picture's file; of one of several outcomes that was asked for, by its place."""
    names = view.site.goal.measured if kind in LESSONS else ()
    asked = view.outcome is not None and len(names) > 1
    return f"{kind}-{names.index(view.outcome or '') + 1}.png" if asked else f"{kind}.png"


def _grouped(missing: Mapping[Kind, str]) -> str:
    """Which pictures are left out, those of one reason together: 'gain (nobody worked alone), slices and ... (...)'."""
    reasons: dict[str, list[str]] = {}
    for kind, needed in missing.items():
        reasons.setdefault(needed, []).append(str(kind))
    return ", ".join(f"{_listed(kinds)} ({needed})" for needed, kinds in reasons.items())


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def framed(view: View, kind: Kind) -> Figure:
    """A picture, with whose it is and what it shows if it does not go without saying."""
    figure = PICTURES[kind](view)
    if kind not in SAID:
        return figure
    title, said = SAID[kind]
    whose = view.whose if kind in OF_ONE or len(view.sites) == 1 else view.what
    has_several = kind in LESSONS and len(view.site.goal.measured) > 1
    whose = f"{whose}, {view.learned.objective.name}" if has_several else whose
    return style.framed(figure, f"{whose}: {title[0].lower()}{title[1:]}", said(view))


def lack(view: View, kind: Kind) -> str:
    """Say what a picture needs and is not there; empty if nothing is missing."""
    course = view.course
    together, alone = course.histories(TOGETHER), course.histories(ALONE)
    if kind is Kind.FRONT:
        return _front_lack(view)
    if kind in LESSONS:
        return _lesson_lack(view, kind)
    if kind in (Kind.MATRIX, Kind.MOVES) and not any(trial.answer for trial in together[0].trials):
        return "no proposal has been answered yet"
    if kind in (Kind.MOVES, Kind.GAIN) and not any(map(_is_of_a_turn, together[0].trials)):
        return "nothing but initial designs has been run yet"
    if kind == Kind.PATHS and not any(trial.status in TOLD for trial in together[0].trials):
        return "no experiment has been run yet"
    if kind == Kind.MATRIX and together[0].sites != course.study.sites:
        return "it has a row for every site, and this is one"
    if kind == Kind.CALENDAR and not course.has_times:
        return "no times are known; simulated experiments have some if their site has a duration"
    if kind == Kind.GAIN and not alone:
        return "nobody worked alone; cboc simulate --alone lets them, cboc advise estimates it"
    has_outcome = any(trial.y is not None for history in together for trial in history.trials)
    if kind in COURSES and not has_outcome:
        return "no experiment has succeeded so far"
    if kind == Kind.GAIN or (kind in COURSES and course.optima is not None):
        starts = [history.best_so_far(site)[0] for history in (*together, *alone) for site in history.sites]
        return "" if np.isfinite(starts).all() else "a Gap needs an initial outcome of every site"
    return ""


def _front_lack(view: View) -> str:
    """Why there are no two objectives to draw against each other."""
    if len(view.site.goal.aims) == 1:
        return "there is one objective"
    return "" if len(view.site.results) else f"{view.name}: there is no result yet"


def _lesson_lack(view: View, kind: Kind) -> str:
    """Why there is nothing to draw of what the site has learned."""
    if view.lack:
        return f"{view.name}: {view.lack[0].lower()}{view.lack[1:].removesuffix('.')}"
    if kind is Kind.IMPORTANCE and len(view.site.space.names) == 1:
        return "there is one parameter"
    if kind is Kind.CONTOURS and view.learned.contours() is None:
        return "there are no two parameters that can vary"
    return ""


def _is_of_a_turn(trial: Trial) -> bool:
    return trial.turn is not None and trial.status in TOLD


def save(figure: Figure, path: Path) -> Path:
    """Write a picture, and make its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb", opener=for_owner) as file:
        figure.savefig(file, dpi=DPI)
    return path


def _noiseless(view: View) -> tuple[list[History], list[History]]:
    course = view.course
    together, alone = ([course.noiseless(history) for history in course.histories(how)] for how in (TOGETHER, ALONE))
    return together, alone


def _progress(view: View) -> Figure:
    return plots.progress(*_noiseless(view), view.course.optima)


def _calendar(view: View) -> Figure:
    return plots.calendar(*_noiseless(view), view.course.optima, view.course.time)


def _gain(view: View) -> Figure:
    return plots.gain(*_noiseless(view), view.course.optima)


def _front(view: View) -> Figure:
    results, weights = found(view.site), view.site.goal.weights.tolist()
    on_front = [each for each in results if each.is_on_front]
    return plots.front(view.site, results, by_weights(on_front, weights) if on_front else None, view.prospect)


def _paths(view: View) -> Figure:
    return plots.paths(view.repetition.together, view.repetition.alone, view.grounds, view.sites)


PICTURES: dict[Kind, Callable[[View], Figure]] = {
    Kind.PROGRESS: _progress,
    Kind.CALENDAR: _calendar,
    Kind.PATHS: _paths,
    Kind.MATRIX: lambda view: plots.matrix(view.repetition.together),
    Kind.MOVES: lambda view: plots.moves(view.repetition.together, view.only),
    Kind.GAIN: _gain,
    Kind.FRONT: _front,
    Kind.IMPORTANCE: lambda view: plots.importance(view.learned),
    Kind.PREDICTED: lambda view: plots.predicted(view.learned),
    Kind.SLICES: lambda view: plots.slices(view.learned),
    Kind.CONTOURS: lambda view: plots.contours(view.learned),
}
SAID: dict[Kind, tuple[str, Callable[[View], str]]] = {
    Kind.PATHS: ("Where the experiments went", captions.paths),
    Kind.FRONT: ("The front", captions.front),
    Kind.IMPORTANCE: ("Which parameter matters", captions.importance),
    Kind.PREDICTED: ("Predicted against measured", captions.predicted),
    Kind.SLICES: ("Slices", captions.slices),
    Kind.CONTOURS: ("Contours", captions.contours),
}
