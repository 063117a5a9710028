"""The sheet on the bench: designs to run, as CSV; a person fills in what came out, and `cboc tell` reads it.

trial,temperature,solvent,y,sem,status
7,62.5,water,,,

y is the outcome and sem its standard error, if known. A line without an outcome has not been run yet, unless its status
says failed or abandoned. Where a design was changed by hand, the changed one is what was run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cboc.errors import CbocError, at, did_you_mean
from cboc.site import Site
from cboc.space import Space
from cboc.table import place_design, read_design, read_number, read_texts
from cboc.trial import Status, Trial

OUTCOME = ("y", "sem", "status")
SAME = 1e-6  # of a parameter's range: a spreadsheet may round so much


@dataclass(frozen=True)
class Entry:
    """One filled-in line."""

    place: str
    trial: int
    x: tuple[float, ...]  # in the unit cube
    design: dict[str, Any]  # as it is written
    y: float | None
    sem: float | None
    status: Status


def write(trials: Sequence[Trial], space: Space) -> str:
    """The sheet for these trials, with nothing filled in."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["trial", *space.names, *OUTCOME])
    for trial in trials:
        writer.writerow([trial.number, *trial.design(space).values(), *("" for _ in OUTCOME)])
    return file.getvalue()


def read(path: str | PathLike[str], space: Space) -> list[Entry]:
    """The lines that have been filled in."""
    lines = read_texts(path, ("trial", *space.names, "y"), OUTCOME[1:])
    return [_entry(place, texts, space) for place, texts in lines if texts["y"] or texts.get("status")]


def _entry(place: str, texts: dict[str, str], space: Space) -> Entry:
    with at(f"{place}, column trial"):
        if not texts["trial"].isdecimal():
            raise CbocError(f"expected a trial's number, but '{texts['trial']}' came.")
    with at(f"{place}, column status"):
        status = _status(texts)
    values: dict[str, float | None] = {"y": None, "sem": None}
    for name in values:
        with at(f"{place}, column {name}"):
            values[name] = read_number(texts[name]) if texts.get(name) else None
    design = read_design(texts, space, place)
    x = tuple(place_design(design, space, place).tolist())
    return Entry(place, int(texts["trial"]), x, design, values["y"], values["sem"], status)


def _status(texts: dict[str, str]) -> Status:
    said = (texts.get("status") or "complete").lower()
    if said not in (Status.COMPLETE, Status.FAILED, Status.ABANDONED):
        known = (Status.COMPLETE, Status.FAILED, Status.ABANDONED)
        raise CbocError(f"unknown status '{said}'; {did_you_mean(said, known)}")
    if (said == Status.COMPLETE) != bool(texts["y"]):
        raise CbocError(f"'{said}' does not go with the outcome '{texts['y']}'; mend one of them.")
    return Status(said)


def enter(site: Site, entry: Entry) -> Trial:
    """Tell a site what a line says; once more is fine."""
    with at(entry.place):
        if entry.trial >= len(site.trials):
            raise CbocError(
                f"site '{site.name}' has asked for no trial {entry.trial}; its last is {len(site.trials) - 1}."
            )
        trial = site.trials[entry.trial]
        if entry.status == Status.FAILED:
            return site.fail(trial)
        if entry.status == Status.ABANDONED:
            return site.abandon(trial)
        outcome = entry.y if entry.sem is None else (entry.y, entry.sem)
        is_as_asked = trial.proposed is not None and bool(np.all(np.abs(np.array(entry.x) - trial.x) <= SAME))
        return site.tell(trial, outcome, ran=None if is_as_asked else entry.design)  # type: ignore[arg-type]
