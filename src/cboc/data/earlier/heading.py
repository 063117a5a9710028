"""Which line has the names of the columns: often not the first one, and sometimes with the units in a line below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cboc.data.earlier.answers import Answers
from cboc.data.earlier.cells import is_nothing
from cboc.data.earlier.columns import Header, rating
from cboc.data.earlier.grid import Grid, Line, letter, shown
from cboc.data.earlier.numerals import Numerals, parts_of
from cboc.data.headers import plain, plain_unit, split_unit
from cboc.errors import CbocError
from cboc.space.space import Space

MOST_LINES_BEFORE = 50  # above the names: a title, who did it, when
LONGEST_UNIT = 15  # characters


@dataclass(frozen=True)
class Heading:
    """The names of the columns, and the lines below them."""

    line: Line
    headers: tuple[Header, ...]
    lines: tuple[Line, ...]
    remarks: tuple[str, ...] = ()
    others: frozenset[int] = frozenset()  # the numbers of lines below that have the names of another table

    def is_another(self, line: Line) -> bool:
        """Whether a line looks as if it had the names of another table."""
        return line.number in self.others and not self.is_again(line)

    def is_again(self, line: Line) -> bool:
        """Whether a line has the names again, as on the top of every printed page."""
        return [shown(cell) for cell in line.cells if cell is not None] == [
            shown(cell) for cell in self.line.cells if cell is not None
        ]


def rated(line: Line, space: Space, outcome: str, answers: Answers) -> int:
    """How likely a line has the names of the columns; 0 if it has none that is known."""
    return rating([cell for cell in line.cells if isinstance(cell, str)], space, outcome, answers)


def best_rating(grid: Grid, space: Space, outcome: str, answers: Answers) -> int:
    """How likely the likeliest line of a table has the names."""
    return max((rated(line, space, outcome, answers) for line in _candidates(grid)), default=0)


def find_heading(grid: Grid, space: Space, outcome: str, answers: Answers) -> Heading:
    """The names of the columns: in the line that has most of the known ones, or where somebody has said that it is."""
    place = _place(grid, space, outcome, answers)
    line, below = grid.lines[place], grid.lines[place + 1 :]
    units = _units(line, below, space)
    remarks = [f"The names of the columns are in {grid.place(line)}."] if line.number > 1 else []
    if units is not None:
        remarks.append(f"The units are in {grid.place(units)}.")
        below = below[1:]
    width = max(len(each.cells) for each in (line, *below)) if grid.has_notes else len(line.cells)
    texts = [_text(line, column) for column in range(width)]
    names = _different([text or f"column {letter(column)}" for column, text in enumerate(texts)])
    headers = []
    for column, text in enumerate(texts):
        cells = tuple(_cell(each, column) for each in below)
        unit = "" if units is None or split_unit(text)[1] else _text(units, column)
        headers.append(Header(names[column], text, unit, cells, _numbers(cells)))
    usual = rated(line, space, outcome, answers)
    others = {each.number for each in below if usual and rated(each, space, outcome, answers) >= max(2, usual // 2)}
    return Heading(line, tuple(headers), below, tuple(remarks), frozenset(others))


def _candidates(grid: Grid) -> Sequence[Line]:
    return grid.lines[: 1 if grid.has_header else MOST_LINES_BEFORE]


def _place(grid: Grid, space: Space, outcome: str, answers: Answers) -> int:
    """Where the names are."""
    if answers.header is not None and not grid.has_header:
        for place, line in enumerate(grid.lines):
            if line.number == answers.header:
                return place
        raise CbocError(f"{grid.name} has nothing in {grid.word} {answers.header}; which one has the names?")
    ratings = [rated(line, space, outcome, answers) for line in _candidates(grid)]
    if any(ratings):
        return ratings.index(max(ratings))
    widest = max(len(_texts(line)) for line in _candidates(grid))
    return next(place for place, line in enumerate(_candidates(grid)) if len(_texts(line)) == widest)


def _texts(line: Line) -> list[str]:
    return [cell for cell in line.cells if isinstance(cell, str) and parts_of(cell) is None]


def _units(line: Line, below: Sequence[Line], space: Space) -> Line | None:
    """The line right below the names, if it has units: of no parameter a value, but the next line has some."""
    if len(below) < 2:
        return None
    first, second = below[:2]
    cells = [cell for cell in first.cells if not is_nothing(cell)]
    is_short = bool(cells) and all(isinstance(cell, str) and len(cell) <= LONGEST_UNIT for cell in cells)
    names = {plain(_text(line, column)): column for column in range(len(line.cells))}
    known = [(p, names[plain(name)]) for name, p in space.parameters.items() if plain(name) in names]
    if not is_short or any(_is_value(_cell(first, column), parameter) for parameter, column in known):
        return None
    is_followed = any(_is_value(_cell(second, column), parameter) for parameter, column in known)
    is_unit = any(
        parameter.unit and plain_unit(_text(first, column)) == plain_unit(parameter.unit) for parameter, column in known
    )
    return first if is_unit or (is_followed and not any(parts_of(cell) for cell in cells)) else None


def _is_value(cell: Any, parameter: Any) -> bool:
    """Whether a cell may be a value of a parameter, in its range or not."""
    if parameter.is_choice:
        return shown(cell) in parameter.axis.options
    return isinstance(cell, int | float) or (isinstance(cell, str) and Numerals(parameter.unit).read(cell) is not None)


def _cell(line: Line, column: int) -> Any:
    return line.cells[column] if column < len(line.cells) else None


def _text(line: Line, column: int) -> str:
    return shown(_cell(line, column))


def _different(names: Sequence[str]) -> list[str]:
    """The names, with a number behind each that is there already."""
    found: list[str] = []
    for name in names:
        number = 1 + sum(each == name for each in names[: len(found)])
        new = name if number == 1 else f"{name} ({number})"
        while new in found:
            new = f"{new}'"
        found.append(new)
    return found


def _numbers(cells: Sequence[Any]) -> tuple[float, ...]:
    """The numbers in cells that are clear without their column."""
    values = (cell if not isinstance(cell, str) else Numerals(commas="comma").read(cell) for cell in cells)
    return tuple(float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool))
