"""The worksheet: a CSV of designs to run; a person fills in the outcomes, and `cboc tell` or the site's page reads it.

trial,temperature,solvent,y,sem,status,cost
7,62.5,water,,,,

y is the outcome, by its name and unit if the study has them, and sem its standard error, if known; cost is what the
experiment cost, if you keep that. Of several outcomes each has its column and its own standard error (`Columns`), and
all of them are filled in. A line without an outcome has not been run yet, unless its status says failed or
abandoned. A sheet for a plate has a column more, with the names of its wells: A1, A2, ... H12. A column remark is read,
too; a sheet has one if there are remarks.

A sheet has as many digits as an experiment can tell apart. A line that comes back as it was printed is the design that
was asked for, with all its digits: nobody can run more of them than the sheet has. In a line that was changed by hand,
the design as it is written there was run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from os import PathLike
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from cboc.data.objective import Measurement
from cboc.data.tables import place_design, read_design, read_number, read_texts, text_of, unknown_status
from cboc.errors import CbocError, at, listed, short
from cboc.exchange.objective import Objective
from cboc.names import as_cell
from cboc.site.columns import COST, REMARK, SEM, STATUS, WELL, Columns
from cboc.site.outcomes import outcomes
from cboc.site.site import Site
from cboc.site.trial import OPEN, Status, Trial
from cboc.space.space import Space

NAMELESS = Objective()
LAYOUTS = {6: 3, 12: 4, 24: 6, 48: 8, 96: 12, 384: 24}  # wells: columns
MOST_DIGITS = 9  # of a trial's number
PRINTED = (b"Trial ", b"trial ", b'{\n  "trial"', b'[\n  {\n    "trial"')  # how designs begin that are not a sheet
SAME = 1e-6  # of a parameter's range: a spreadsheet may round this much
MOST_DECIMALS = 15  # more than those of `Parameter.shown`: enough for any constraint


@dataclass(frozen=True)
class Entry:
    """One filled-in line of a worksheet."""

    place: str
    trial: int
    x: tuple[float, ...]  # in the unit cube
    design: dict[str, Any]  # as written
    outcomes: Mapping[str, Measurement]  # none: it failed, was abandoned, or is pending
    status: Status
    cost: float | None = None
    well: str = ""  # as written, if the sheet has that column
    remark: str = ""  # likewise; empty: it stays what it is

    @property
    def says_more(self) -> bool:
        """Whether it has more than a remark."""
        return self.status is not Status.PENDING

    @property
    def measured(self) -> Measurement | None:
        """The first outcome, if there is one."""
        return next(iter(self.outcomes.values()), None)


@dataclass(frozen=True)
class Entered:
    """How many lines of a sheet were new, how many changed what was told before, how many said the same again."""

    new: int
    changed: int
    known: int
    other: int = 0  # of the new ones, those that ran another design than was asked for


def well_names(layout: int) -> list[str]:
    """The names of all wells of a plate, row by row: A1, A2, ... H12; raises one sentence if there is no such plate."""
    if layout not in LAYOUTS:
        raise CbocError(f"a plate has {', '.join(map(str, LAYOUTS))} wells; this one has {layout}.")
    columns = LAYOUTS[layout]
    return [f"{ascii_uppercase[place // columns]}{place % columns + 1}" for place in range(layout)]


def free_wells(site: Site, layout: int, count: int) -> list[str]:
    """The first wells of a plate that no open experiment has; raises one sentence if they are too few."""
    taken = {trial.place for trial in site.open_trials}
    free = [name for name in well_names(layout) if name not in taken]
    if count > len(free):
        used = f", of which {layout - len(free)} have an open experiment" if taken - {""} else ""
        raise CbocError(
            f"{count} experiments do not fit on a plate of {layout}{used}; ask for fewer, for a larger plate, or name "
            "the wells."
        )
    return free[:count]


def write(trials: Sequence[Trial], space: Space, objective: Objective = NAMELESS, *more: Objective) -> str:
    """The sheet for these trials, with nothing filled in; with the names of their wells, if they have any.

    `more` are further outcomes, each of which has a column, too.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    to_fill = Columns(space, (objective, *more)).to_fill
    has_wells = WELL not in space.names and any(trial.place for trial in trials)
    has_remarks = REMARK not in space.names and any(trial.remark for trial in trials)
    after = [REMARK] if has_remarks else []
    writer.writerow(["trial", *([WELL] if has_wells else []), *space.names, *to_fill, *after])
    for trial in trials:
        well, remark = [trial.place] if has_wells else [], [trial.remark] if has_remarks else []
        texts = map(as_cell, (*well, *printed(trial, space).values(), *("" for _ in to_fill), *remark))
        writer.writerow([trial.number, *texts])
    return file.getvalue()


def printed(trial: Trial, space: Space) -> dict[str, str]:
    """The design as a sheet has it: in so many digits that it is still a design of the space."""
    design = trial.design(space)
    texts = {name: p.shown(design[name]) for name, p in space.parameters.items()}
    linear = [name for name, p in space.parameters.items() if p.count is None and p.axis.scale == "linear"]
    decimals = {name: max(0, -int(Decimal(texts[name]).as_tuple().exponent)) for name in linear}
    for more in range(1, MOST_DECIMALS):
        if space.is_box or _is_in(space, texts):
            break
        texts |= {name: f"{design[name]:.{decimals[name] + more}f}" for name in linear}  # rounding broke a constraint
    return texts


def _is_in(space: Space, texts: dict[str, str]) -> bool:
    try:
        space.to_unit({name: p.read(texts[name]) for name, p in space.parameters.items()})
    except CbocError:
        return False
    return True


def read(path: str | PathLike[str], space: Space, objective: Objective = NAMELESS, *more: Objective) -> list[Entry]:
    """Read the filled-in lines of a file."""
    return read_text(text_of(path), space, str(path), objective, *more)


def read_text(
    text: str, space: Space, name: str = "the sheet", objective: Objective = NAMELESS, *more: Objective
) -> list[Entry]:
    """Read the filled-in lines; raises if two lines for one trial differ. Errors call the sheet by its `name`."""
    columns = Columns(space, (objective, *more))
    beside = [*columns.sems.values(), *columns.rest, WELL, REMARK, *([SEM] if more else [])]
    means = list(columns.means.values())
    lines = read_texts(text, name, ("trial", *space.names, *means), beside, columns.heads)
    with at(f"{name}, line 1"):
        columns.check_sem(any(SEM in texts for _, texts in lines))
    found: dict[int, Entry] = {}
    for place, texts in lines:
        if any(texts.get(column) for column in (*columns.to_fill, *([] if REMARK in space.names else [REMARK]))):
            entry = _entry(place, texts, columns)
            before = found.setdefault(entry.trial, entry)
            if replace(before, place=place) != entry:
                raise CbocError(
                    f"{place}: trial {entry.trial} is also in {before.place}, but differs; keep one of them."
                )
    return list(found.values())


def _entry(place: str, texts: dict[str, str], columns: Columns) -> Entry:
    space = columns.space
    with at(f"{place}, column trial"):
        if not texts["trial"].isdecimal() or len(texts["trial"]) > MOST_DIGITS:
            raise CbocError(f"expected the number of a trial, but found {short(texts['trial'])}.")
    for name, column in columns.sems.items():
        with at(f"{place}, column {column}"):
            if texts.get(column) and not texts[mean := columns.means[name]]:
                raise CbocError(f"a standard error is given, but no outcome; fill in {mean}, or empty this cell.")
    told = [texts[column] for column in columns.means.values() if texts[column]]
    with at(place):
        _check_all(texts, columns, told)
    with at(f"{place}, column status"):
        status = _status(texts, columns, ", ".join(told))
    found = {name: _measured(place, texts, columns, name) for name in columns.means} if told else {}
    with at(f"{place}, column {COST}"):
        cost = read_number(texts[COST]) if COST in columns.rest and texts.get(COST) else None
    design = read_design(texts, space, place)
    x = tuple(place_design(design, space, place).tolist())
    well = "" if WELL in space.names else texts.get(WELL) or ""
    remark = "" if REMARK in space.names else texts.get(REMARK) or ""
    return Entry(place, int(texts["trial"]), x, design, found, status, cost, well, remark)


def _check_all(texts: dict[str, str], columns: Columns, told: list[str]) -> None:
    """Raise one sentence if some outcomes of an experiment are filled in, and others are not."""
    empty = [column for column in columns.means.values() if not texts[column]]
    if told and empty:
        raise CbocError(
            f"{listed(empty)} {'is' if len(empty) == 1 else 'are'} empty, and other outcomes are filled in; fill in "
            "all of them, or none and say failed."
        )


def _measured(place: str, texts: dict[str, str], columns: Columns, name: str) -> Measurement:
    """The outcome of this name in a line."""
    mean, error = columns.means[name], columns.sems.get(name)
    with at(f"{place}, column {mean}"):
        value = read_number(texts[mean])
    with at(f"{place}, column {error}"):
        return Measurement(value, read_number(texts[error]) if error is not None and texts.get(error) else None)


def _status(texts: dict[str, str], columns: Columns, told: str) -> Status:
    """What a line says of an experiment of which these outcomes were told."""
    if not any(texts.get(column) for column in columns.to_fill):  # a remark, and nothing else
        return Status.PENDING
    said = (texts.get(STATUS) or "complete").lower()
    if said not in (Status.COMPLETE, Status.FAILED, Status.ABANDONED):
        raise unknown_status(said, (Status.COMPLETE, Status.FAILED, Status.ABANDONED))
    if not texts.get(STATUS) and not told:
        raise CbocError("a cost is given, but no outcome; fill that in, or say failed or abandoned.")
    if (said == Status.COMPLETE) != bool(told):
        raise CbocError(f"'{said}' does not go with the outcome '{told}'; correct one of them.")
    return Status(said)


def enter_all(site: Site, entries: Sequence[Entry], *, is_correction: bool = False) -> Entered:
    """Tell a site what all lines say, or nothing if one is refused; a correction replaces what was told before."""
    check(site, entries, is_correction=is_correction)
    before = [site.trial(entry.trial) for entry in entries]
    after = [enter(site, entry, is_correction=is_correction) for entry in entries]
    lines = list(zip(entries, before, after, strict=True))
    changed = [(entry, was) for entry, was, now in lines if was != now]
    new = [(entry, was) for entry, was in changed if was.status in OPEN and entry.says_more]
    known = sum(was == now and entry.says_more for entry, was, now in lines)
    other = sum(not is_as_asked(entry, was, site.space) for entry, was in new)
    return Entered(len(new), len(changed) - len(new), known, other)


def check(site: Site, entries: Sequence[Entry], *, is_correction: bool = False) -> None:
    """Raise one sentence if a site refuses a line."""
    mistake = _mistake(site, entries, is_correction)
    if mistake is not None:
        can_correct = not is_correction and _mistake(site, entries, is_correction=True) is None
        hint = " With cboc tell SHEET.csv --again the lines that differ are corrections." if can_correct else ""
        raise CbocError(f"{mistake} Nothing in the sheet was told.{hint}")


def _mistake(site: Site, entries: Sequence[Entry], is_correction: bool) -> CbocError | None:
    """What is wrong with the first line that a site refuses; None if it would take all of them."""
    twin = site.twin()
    try:
        for entry in entries:
            enter(twin, entry, is_correction=is_correction)
    except CbocError as error:
        return error
    return None


def enter(site: Site, entry: Entry, *, is_correction: bool = False) -> Trial:
    """Tell a site what a line says; repeating it is fine. Its remark replaces an earlier one."""
    with at(entry.place):
        trial = _enter(site, entry, site.trial(entry.trial), is_correction)
        return site.annotate(trial, entry.remark) if entry.remark else trial


def _enter(site: Site, entry: Entry, trial: Trial, is_correction: bool) -> Trial:
    if entry.well and trial.place and entry.well != trial.place:
        raise CbocError(
            f"trial {trial.number} is in well {trial.place}, and this line says {entry.well}; is it another sheet?"
        )
    if not entry.says_more:
        return trial
    if entry.status == Status.ABANDONED:
        return site.abandon(trial, cost=entry.cost)
    ran = None if is_as_asked(entry, trial, site.space) else entry.design
    if not entry.outcomes:
        return site.fail(trial, ran=ran, cost=entry.cost)
    return site.tell(trial, _by_name(site, entry), ran=ran, cost=entry.cost, is_correction=is_correction)


def _by_name(site: Site, entry: Entry) -> Mapping[str, Measurement]:
    """The outcomes of a line; a sheet of one outcome may have been read without knowing what it is called."""
    if len(entry.outcomes) > 1 or len(site.goal.measured) > 1:
        return entry.outcomes
    return dict(zip(site.goal.measured, entry.outcomes.values(), strict=True))


def is_as_asked(entry: Entry, trial: Trial, space: Space) -> bool:
    """Whether a line has the design that was asked for, or that as it was printed: each value the one or the other."""
    texts = printed(trial, space)
    values = {name: p.read(texts[name]) for name, p in space.parameters.items()}
    written = np.concatenate([p.to_unit(values[name]) for name, p in space.parameters.items()])
    x = np.array(entry.x)
    return bool(np.all((np.abs(x - trial.x) <= SAME) | (np.abs(x - written) <= SAME)))


def is_told(path: str | PathLike[str], site: Site) -> bool:
    """Whether a file may be overwritten: it is not there, it is empty, or a sheet of which the site knows everything.

    Anything else is somebody's work: a sheet with a mistake, or another file altogether.
    """
    file = Path(path)
    content = file.read_bytes() if file.is_file() else b""
    if file.exists() and not file.is_file():
        return False
    if not content.strip() or content.startswith(PRINTED):
        return True
    try:
        many = _filled_in(content.decode("utf-8-sig"), site.space)
        entries, twin = read(path, site.space, *outcomes(site)) if many else [], site.twin()
        return len(entries) == many and all(enter(twin, entry) == site.trials[entry.trial] for entry in entries)
    except (CbocError, UnicodeDecodeError):
        return False


def _filled_in(text: str, space: Space) -> int:
    """The number of lines with anything that a sheet does not have when it is written; raises if it is no sheet."""
    asked = {"trial", WELL, *space.names}
    for delimiter in ",;\t":
        try:
            header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        except csv.Error:
            continue
        names = [name.strip() for name in header]
        if {"trial", *space.names} <= set(names):
            rows = (zip(names, line, strict=False) for line in lines)
            return sum(any(cell.strip() for name, cell in row if name not in asked) for row in rows)
    raise CbocError("this is not a sheet.")
