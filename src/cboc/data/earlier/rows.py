"""Which rows of a table are taken, and why others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cboc.data.earlier.answers import Answers, Question
from cboc.data.earlier.cells import Outcome, Said, is_nothing, is_summary, number, outcome_of, status_of, value_of
from cboc.data.earlier.columns import Column
from cboc.data.earlier.grid import Grid, Line, shown
from cboc.data.earlier.heading import Heading
from cboc.data.earlier.numerals import Numerals
from cboc.data.tables import Row
from cboc.errors import CbocError, at, listed
from cboc.space.space import Space

UNCLEAR = Numerals()


@dataclass(frozen=True)
class Taken:
    """A row that is taken, and where it is."""

    place: str
    row: Row


@dataclass(frozen=True)
class LeftOut:
    """A row that is not taken, and why."""

    place: str
    reason: str


@dataclass(frozen=True)
class Reading:
    """What is needed to read a row."""

    space: Space
    columns: Mapping[str, int]  # by use
    numerals: Mapping[str, Numerals]  # likewise
    status: str  # the header of that column
    answers: Answers

    def cell(self, line: Line, use: str) -> Any:
        """The cell of a use; empty if there is no such column."""
        column = self.columns.get(use, len(line.cells))
        return line.cells[column] if column < len(line.cells) else None

    def numbers(self, use: str) -> Numerals:
        """How the column of a use writes numbers."""
        return self.numerals.get(use, UNCLEAR)


def read_rows(
    grid: Grid, heading: Heading, columns: Sequence[Column], reading: Reading
) -> tuple[list[Taken], list[LeftOut], list[Question]]:
    """The rows that are taken, those that are not, and what has to be asked."""
    taken: list[tuple[Line, Taken]] = []
    left_out: list[LeftOut] = []
    empty: list[str] = []
    for line in heading.lines:
        place = grid.place(line)
        try:
            if heading.is_another(line) and not _is_design(line, reading):
                left_out.append(_another_table(grid, heading, line))
                break
            row = _row(line, heading, columns, reading)
        except CbocError as reason:
            left_out.append(LeftOut(place, str(reason)))
            continue
        if row is not None:
            taken.append((line, Taken(place, row)))
        elif reading.answers.empty:
            left_out.append(LeftOut(place, "it has no outcome."))
        else:
            empty.append(place)
    questions = []
    if empty:
        what = "1 row has" if len(empty) == 1 else f"{len(empty)} rows have"
        questions.append(Question.of("empty", f"{what} no outcome ({listed(empty)}): failed, or not run?"))
    if reading.answers.repeats == "keep":
        return [each for _, each in taken], left_out, questions
    kept, again = _without_repeats(taken)
    if again and reading.answers.repeats != "drop":
        pairs = listed(f"{copy} and {first}" for copy, first in again.items())
        text = f"{_rows(len(again))} the same in every cell as one before ({pairs}): measured again, or copied?"
        questions.append(Question.of("repeats", text))
    left_out += [LeftOut(copy, f"it is the same as {first} in every cell.") for copy, first in again.items()]
    return kept, left_out, questions


def _another_table(grid: Grid, heading: Heading, line: Line) -> LeftOut:
    place = f"{grid.place(line)} to {heading.lines[-1].number}"
    return LeftOut(place, f"another table begins here, and was not read; --answer header={line.number} reads that one.")


def _rows(count: int) -> str:
    return "1 row is" if count == 1 else f"{count} rows are"


def _is_design(line: Line, reading: Reading) -> bool:
    """Whether a line has a design."""
    try:
        _design(line, reading)
    except CbocError:
        return False
    return True


def _row(line: Line, heading: Heading, columns: Sequence[Column], reading: Reading) -> Row | None:
    """The row of a line; None if it has no outcome, and nothing says why. Raises why it is not taken."""
    if heading.is_again(line):
        raise CbocError("it has the names of the columns again.")
    if any(cell is not None for cell in line.cells[len(heading.headers) :]):
        raise CbocError("it has more cells than there are columns; is a decimal comma taken for a separator?")
    for column, cell in zip(columns, line.cells, strict=False):
        is_free = column.use == "remark" or (column.is_parameter and reading.space.parameters[column.use].is_choice)
        if not is_free and is_summary(cell, column.header.cells):
            raise CbocError(f"it says '{cell}': it is about other rows.")
    x = _design(line, reading)
    said, outcome = _said(line, reading), outcome_of(reading.cell(line, "y"), reading.numbers("y"))
    y = _outcome(said, outcome, shown(reading.cell(line, "status")))
    sem = reading.cell(line, "sem")
    has_sem = not is_nothing(sem)
    if y is None and has_sem:
        raise CbocError("it has a standard error, and no outcome.")
    if outcome.is_empty and said is Said.NOTHING:
        return Row(x, None) if reading.answers.empty == "failed" else None
    if y is None or not has_sem:
        return Row(x, y)
    with at("its standard error"):
        value = number(sem, reading.numbers("sem"))
    if value < 0.0:
        raise CbocError(f"its standard error is negative: {value:g}.")
    return Row(x, y, value)


def _design(line: Line, reading: Reading) -> Any:
    design = {}
    for name, parameter in reading.space.parameters.items():
        with at(name):
            design[name] = value_of(reading.cell(line, name), parameter, reading.numbers(name))
    return reading.space.to_unit(design)


def _said(line: Line, reading: Reading) -> Said:
    """What the status of a row says; raises if it was not run, or nobody knows."""
    cell = reading.cell(line, "status")
    said = status_of(cell, reading.status)
    if said is Said.UNKNOWN:
        raise CbocError(f"nobody knows what the status '{shown(cell)[:40]}' means; write complete or failed.")
    if said is Said.NOT_RUN:
        raise CbocError(f"its status is '{shown(cell)}'.")
    return said


def _outcome(said: Said, outcome: Outcome, status: str) -> float | None:
    """The outcome of a row, None if it failed; raises if its cells contradict each other, or hold no number."""
    if said is Said.FAILED:
        if outcome.y is not None:
            raise CbocError(f"its status is '{status}', and it has the outcome {outcome.y:g}; empty one of them.")
        return None
    if outcome.trouble:
        raise CbocError(f"the outcome: {outcome.trouble}")
    if said is Said.COMPLETE and outcome.y is None:
        raise CbocError(f"its status is '{status}', and it has no outcome.")
    return outcome.y


def _without_repeats(taken: Sequence[tuple[Line, Taken]]) -> tuple[list[Taken], dict[str, str]]:
    """The rows without those that are the same in every cell as one before, and of these the place of both."""
    first: dict[tuple[str, ...], str] = {}
    again = {}
    for line, each in taken:
        before = first.setdefault(tuple(map(shown, line.cells)), each.place)
        if before != each.place:
            again[each.place] = before
    return [each for _, each in taken if each.place not in again], again
