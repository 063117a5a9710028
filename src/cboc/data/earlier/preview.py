"""What of a table with results from before a study is taken as what, what is not, and what has to be asked.

shown = cboc.preview("old.xlsx", study.space, outcome="yield")
print(shown)                                                # columns, rows, and questions if there are any
shown = cboc.preview("old.xlsx", study.space, outcome="yield", columns={"SD": "ignore"}, empty="drop")
site = cboc.join(..., data=shown)

Nothing is dropped without a word: each column and each row that is not taken is named, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from cboc.data.dataset import Dataset, Direction
from cboc.data.earlier.answers import READ, USES, Answers, Question
from cboc.data.earlier.books import is_book, read_book
from cboc.data.earlier.cells import is_nothing
from cboc.data.earlier.columns import NO_COLUMN, Column, sort_columns
from cboc.data.earlier.frames import is_frame, read_frame
from cboc.data.earlier.grid import Grid
from cboc.data.earlier.heading import best_rating, find_heading
from cboc.data.earlier.numerals import Numerals, Texts, numerals_of
from cboc.data.earlier.rows import LeftOut, Reading, Taken, read_rows
from cboc.data.earlier.texts import read_text
from cboc.data.objective import Measurement
from cboc.errors import CbocError, check_kind, did_you_mean, listed
from cboc.space.space import Space

MANY = 2000  # rows from which on an experiment is waited for
MOST_SHOWN, MOST_OPTIONS = 20, 4  # rows that are left out, and answers to a question, in a text
LONGEST = 40  # characters of a cell there


@dataclass(frozen=True)
class Preview:
    """A table as it would be taken: its columns, its rows, and the questions that are open."""

    name: str
    space: Space
    columns: tuple[Column, ...]
    questions: tuple[Question, ...]
    taken: tuple[Taken, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    remarks: tuple[str, ...] = ()
    answers: Answers = field(default_factory=Answers)

    @property
    def is_settled(self) -> bool:
        """Whether no question is open, and there is something to take."""
        return not self.questions and bool(self.taken)

    def check(self) -> None:
        """Raise one sentence while a question is open, or if no row can be taken."""
        if self.questions:
            first, *more = self.questions
            end = f" ({len(more)} more to answer.)" if more else ""
            how = f" Say {' or '.join(first.arguments[:3])}." if first.arguments else ""
            raise CbocError(f"{self.name}: {first.text}{how}{end}")
        if not self.taken:
            left = self.left_out[0] if self.left_out else LeftOut("below the names", "there are no rows.")
            raise CbocError(f"{self.name}: no row can be taken; {left.place}: {left.reason}")

    def dataset(self, direction: Direction | str) -> Dataset:
        """The rows that are taken; raises one sentence if `check` does."""
        self.check()
        return Dataset.from_rows([each.row for each in self.taken], self.space.dimension, direction)

    @property
    def summary(self) -> str:
        """One sentence: how many rows are taken, how many of them as failures, and how many are not."""
        failed = sum(each.row.y is None for each in self.taken)
        failures = f", {failed} of them as {'a failure' if failed == 1 else 'failures'}" if failed else ""
        left = f"; {len(self.left_out)} left out" if self.left_out else ""
        return f"{len(self.taken)} {'row is' if len(self.taken) == 1 else 'rows are'} taken{failures}{left}."

    @property
    def first(self) -> str:
        """The first row that is taken as it was read: 'line 5: T = 62.50 °C, p = 1.5: 83.5'."""
        place, row = self.taken[0].place, self.taken[0].row
        design, parameters = self.space.from_unit(row.x), self.space.parameters
        values = (f"{name} = {p.shown(design[name])} {p.unit}".rstrip() for name, p in parameters.items())
        return f"{place}: {', '.join(values)}: {'failed' if row.y is None else Measurement(row.y, _known(row.sem))}"

    def __str__(self) -> str:
        """All of it as text, for a terminal."""
        lines = [self.name, "", *_table([("column", "taken as", "because", "such as"), *map(_line, self.columns)]), ""]
        lines += [*self.remarks, self.summary, *([f"The first, {self.first}"] if self.taken else [])]
        lines += [f"  {left.place}: {left.reason}" for left in self.left_out[:MOST_SHOWN]]
        lines += [f"  and {len(self.left_out) - MOST_SHOWN} more"] if len(self.left_out) > MOST_SHOWN else []
        for question in self.questions:
            more = len(question.options) - MOST_OPTIONS
            lines += ["", f"? {question.text}", *(f"    {option}" for option in question.options[:MOST_OPTIONS])]
            lines += ["    or another one"] if more > 0 else []
        return "\n".join(lines)


def preview(table: Any, space: Space, outcome: str = "y", unit: str = "", **answers: Any) -> Preview:
    """A table with results from before a study, as it would be taken; nothing is kept.

    `table` is the path of a CSV or XLSX file, or a frame of pandas or polars; `outcome` and `unit` are those of the
    study. Answers: `columns` ({"Yield / %": "y", "SD": "ignore"}: a parameter, or one of `y`, `sem`, `status`, `cost`,
    `remark`, `time`, `well`, `ignore`), `empty` ("failed" or "drop"), `repeats` ("keep" or "drop"), `decimal` ("comma"
    or "point"), `percent` ("written" or "fraction"), `others` ("ignore"), `sheet`, and `header`, the line of the names.
    """
    known = tuple(Answers.__dataclass_fields__)
    for name in answers:
        if name not in known:
            raise CbocError(f"preview() has no answer '{name}'; {did_you_mean(name, known)}")
    return look(table, space, outcome, unit, Answers(**answers))


def look(table: Any, space: Space, outcome: str, unit: str, answers: Answers) -> Preview:
    """The preview of a path or of a frame."""
    check_kind("the space of a preview", space, Space, "a Space(...), such as study.space")
    if is_frame(table):
        return look_at([read_frame(table)], space, outcome, unit, answers)
    check_kind("a table", table, str | PathLike, "the path of a CSV or XLSX file, or a frame of pandas or polars")
    try:
        content = Path(table).read_bytes()
    except OSError as error:
        raise CbocError(f"cannot read {table}: {error.strerror}.") from None
    return look_into(content, Path(table).name, space, outcome, unit, answers)


def look_into(content: bytes, name: str, space: Space, outcome: str, unit: str, answers: Answers) -> Preview:
    """The preview of the content of a file."""
    for reserved in READ:
        if reserved in space.names:
            raise CbocError(f"a parameter is called '{reserved}', which is {USES[reserved]} here; rename it.")
    if is_book(content):
        return look_at(read_book(content, name), space, outcome, unit, answers, name)
    grid = read_text(content, name, lambda grid: best_rating(grid, space, outcome, answers))
    return look_at([grid], space, outcome, unit, answers, name)


def look_at(
    grids: Sequence[Grid], space: Space, outcome: str, unit: str, answers: Answers, name: str = "the frame"
) -> Preview:
    """The preview of a table in one of these grids."""
    grid, remarks, question = _sheet([grid for grid in grids if grid.lines], space, outcome, answers, name)
    if grid is None:
        return Preview(name, space, (), () if question is None else (question,), answers=answers)
    name = f"{name}, sheet '{grid.sheet}'" if grid.sheet else name
    heading = find_heading(grid, space, outcome, answers)
    columns, questions = sort_columns(heading.headers, space, outcome, unit, answers)
    remarks = [*remarks, *grid.remarks, *heading.remarks]
    taken: Sequence[Taken] = ()
    left_out: Sequence[LeftOut] = ()
    places = {column.use: place for place, column in enumerate(columns) if column.is_read}
    if {"y", *space.names} <= places.keys():
        numerals, said, doubtful = _numerals(columns, space, unit, answers)
        header = columns[places["status"]].header.text if "status" in places else ""
        reading = Reading(space, places, numerals, header, answers)
        taken, left_out, asked = read_rows(grid, heading, columns, reading)
        remarks += [*said, *_of_many(len(taken))]
        questions = [*questions, *doubtful, *([] if doubtful else asked)]
    named = tuple(column for column in columns if column.reason != NO_COLUMN)
    return Preview(name, space, named, tuple(questions), tuple(taken), tuple(left_out), tuple(remarks), answers)


def _sheet(
    grids: Sequence[Grid], space: Space, outcome: str, answers: Answers, name: str
) -> tuple[Grid | None, list[str], Question | None]:
    """The sheet with the table, what is said of the others, and the question if several may be it."""
    if not grids:
        raise CbocError(f"{name} has nothing in it.")
    by_name = {grid.sheet: grid for grid in grids}
    if answers.sheet and answers.sheet not in by_name:
        raise CbocError(
            f"{name} has no sheet '{answers.sheet}' with anything in it; {did_you_mean(answers.sheet, by_name)}"
        )
    ratings = {grid.sheet: best_rating(grid, space, outcome, answers) for grid in grids if not grid.is_hidden}
    complete = [sheet for sheet, rated in ratings.items() if rated >= 3 * len(space.names)]
    likely = complete or [sheet for sheet, rated in ratings.items() if rated] or list(ratings)
    chosen = [answers.sheet] if answers.sheet else likely
    if len(chosen) != 1:
        choices = tuple((grid.sheet, f"{grid.sheet}: {len(grid.lines)} rows{_hidden(grid)}") for grid in grids)
        return None, [], Question(f"{name} has several sheets; which one is it?", "sheet", choices=choices)
    others = [f"'{grid.sheet}'{_hidden(grid)}" for grid in grids if grid.sheet != chosen[0]]
    return by_name[chosen[0]], [f"Other sheets were not read: {listed(others)}."] if others else [], None


def _hidden(grid: Grid) -> str:
    return " (hidden)" if grid.is_hidden else ""


def _numerals(
    columns: Sequence[Column], space: Space, unit: str, answers: Answers
) -> tuple[Mapping[str, Numerals], list[str], list[Question]]:
    """How the columns that are read write numbers, by use, what is to be said of that, and what is to be asked."""
    texts = {}
    for column in columns:
        if column.is_read and column.use != "status":
            cells = [cell for cell in column.header.cells if isinstance(cell, str) and not is_nothing(cell)]
            if (parameter := space.parameters.get(column.use)) is not None and parameter.is_choice:
                cells = [cell for cell in cells if cell not in parameter.axis.options]
            expected = unit or column.header.unit if parameter is None else parameter.unit
            texts[column.name] = Texts(cells, expected, parameter is None)
    found, remarks, questions = numerals_of(texts, answers)
    return {column.use: found[column.name] for column in columns if column.name in found}, remarks, questions


def _of_many(count: int) -> list[str]:
    """What to say of more rows than a surrogate learns from at once: its time grows with their cube."""
    if count < MANY:
        return []
    return [
        f"{count} rows are many: every design is found from all of them, in a time that grows with their cube, minutes "
        "from 3,000 on. A part of them that has the best ones may do."
    ]


def _known(sem: float) -> float | None:
    return None if sem != sem else sem


def _line(column: Column) -> tuple[str, str, str, str]:
    use = column.meant if column.is_read else "-" if column.use else "?"
    return column.name, use, column.reason, column.header.example


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    cells = [[text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST]}..." for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def as_data(table: Any, space: Space, outcome: str, unit: str, direction: Direction | str) -> Dataset:
    """The data of a preview that somebody has seen, or of a table in which nothing is doubtful or left out."""
    if isinstance(table, Preview):  # a value that users give in place of a table
        if table.space != space:
            raise CbocError(f"{table.name} was looked at for another space; make its preview for that of this study.")
        return table.dataset(direction)
    seen = look(table, space, outcome, unit, Answers())
    data = seen.dataset(direction)
    if seen.left_out:
        first, count = seen.left_out[0], len(seen.left_out)
        raise CbocError(
            f"{seen.name}: {count} {'row' if count == 1 else 'rows'} would be left out, the first in {first.place}: "
            f"{first.reason} Look at cboc.preview(...) of it, and give that as data."
        )
    return data
