"""A table as cells, from wherever it comes, and what was decided in reading it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from math import isfinite
from typing import Any

import numpy as np

from cboc.errors import CbocError

MOST_LINES, MOST_COLUMNS = 20_000, 1000
INVISIBLE = {0xFEFF: None, 0x200B: None, 0xAD: None}  # marks that come along when a text is copied


@dataclass(frozen=True)
class Trouble:
    """A cell that cannot be read, and why. Among plain values, texts and times it is told by its type as these are."""

    reason: str


@dataclass(frozen=True)
class Line:
    """A line of a table. An empty cell is None, others are texts, numbers, times or trouble."""

    number: int  # as people count: of a file and of a sheet from 1, of a frame from 0
    cells: tuple[Any, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it."""
        return all(cell is None for cell in self.cells)


@dataclass(frozen=True)
class Grid:
    """The lines of a table that are not empty."""

    name: str  # for a sentence: old.xlsx
    lines: tuple[Line, ...]
    word: str = "line"  # what its lines are called
    sheet: str = ""  # its name in a book
    is_hidden: bool = False
    has_header: bool = False  # the first line has the names, and no other can
    has_notes: bool = True  # cells may stand beside the columns that have a name
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        lines = tuple(line for line in self.lines if not line.is_empty)
        width = max((len(line.cells) for line in lines), default=0)
        if len(lines) > MOST_LINES or width > MOST_COLUMNS:
            raise CbocError(
                f"{self.name} has {len(lines):,} lines and {width:,} columns; a table has at most {MOST_LINES:,} and "
                f"{MOST_COLUMNS:,}. Take out what does not belong to it."
            )
        object.__setattr__(self, "lines", lines)

    def place(self, line: Line) -> str:
        """Where a line is, for a sentence."""
        return f"{self.word} {line.number}"

    def saying(self, *remarks: str) -> Grid:
        """The grid with more remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))


def cell_of(value: Any) -> Any:
    """A value as a cell: a text without blanks at its ends, a finite number, a time, or nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | datetime | date | time | timedelta):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None if value != value else str(value)
    return None if value is None else _printable(str(value)) or None


def _printable(text: str) -> str:
    """A text as a person sees it: in one line, without what takes no room, and with a mark for what nobody can see."""
    seen = " ".join(text.translate(INVISIBLE).split())
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in seen)


def shown(cell: Any) -> str:
    """A cell as a person sees it."""
    if cell is None or isinstance(cell, Trouble):
        return ""
    return f"{cell:.12g}" if isinstance(cell, float) else str(cell)


def letter(column: int) -> str:
    """The letter of a column of a spreadsheet, from 0: A, B, ... Z, AA."""
    before, here = divmod(column, 26)
    return (letter(before - 1) if before else "") + chr(ord("A") + here)
