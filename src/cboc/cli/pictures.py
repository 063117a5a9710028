"""From the directory of a run to pictures on disk."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cboc import plots
from cboc.cli.run import ALONE, TOGETHER, Run
from cboc.errors import CbocError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200


class Kind(StrEnum):
    """Which picture."""

    ALL = "all"
    PROGRESS = "progress"
    PATHS = "paths"
    MATRIX = "matrix"
    MOVES = "moves"
    GAIN = "gain"


def draw(run: Run, kind: Kind, directory: Path) -> list[Path]:
    """Write the pictures and say where they are; of all kinds, those that the run has something for."""
    if not run.seeds(TOGETHER):
        raise CbocError(f"{run.directory} holds no trials yet; cboc simulate with --resume continues it.")
    if kind == Kind.GAIN and not run.seeds(ALONE):
        raise CbocError(f"{run.directory} has nobody working alone to compare with; simulate it with --alone.")
    kinds = [kind] if kind != Kind.ALL else [each for each in PICTURES if each != Kind.GAIN or run.seeds(ALONE)]
    return [save(PICTURES[each](run), directory / f"{each}.png") for each in kinds]


def save(figure: Figure, path: Path) -> Path:
    """Write a picture, and the directory it is to be in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    return path


def _progress(run: Run) -> Figure:
    together, alone = ([run.noiseless(history) for history in run.histories(how)] for how in (TOGETHER, ALONE))
    return plots.progress(together, alone, run.optima)


def _gain(run: Run) -> Figure:
    together, alone = ([run.noiseless(history) for history in run.histories(how)] for how in (TOGETHER, ALONE))
    return plots.gain(together, alone, run.optima)


def _paths(run: Run) -> Figure:
    """Of the first seed."""
    return plots.paths(run.histories(TOGETHER)[0], next(iter(run.histories(ALONE)), None), run.problems)


PICTURES: dict[Kind, Callable[[Run], Figure]] = {
    Kind.PROGRESS: _progress,
    Kind.PATHS: _paths,
    Kind.MATRIX: lambda run: plots.matrix(run.histories(TOGETHER)[0]),
    Kind.MOVES: lambda run: plots.moves(run.histories(TOGETHER)[0]),
    Kind.GAIN: _gain,
}
