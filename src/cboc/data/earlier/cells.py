"""What is in the cells of a column: a value of a parameter, an outcome, a status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from enum import Enum
from typing import Any

from cboc.data.earlier.grid import Trouble, shown
from cboc.data.earlier.numerals import Numerals
from cboc.data.headers import plain
from cboc.data.tables import MEAN_COMPLETE
from cboc.errors import CbocError, short
from cboc.space.fixed import Parameter

NOTHING = (
    "",
    "-",
    "--",
    "\N{EN DASH}",
    "\N{EM DASH}",
    "n/a",
    "na",
    "#n/a",
    "#nv",
    "nan",
    "null",
    "none",
    "<na>",
    "nat",
)
FAILED = ("failed", "fail", "failure", "fails", "fehlgeschlagen", "misslungen", "crashed", "unsuccessful")
COMPLETE = ("complete", "completed", *MEAN_COMPLETE[:-1], "fertig", "passed")
NOT_RUN = (
    "pending", "proposed", "submitted", "abandoned", "stopped", "planned", "open", "todo", "to do", "not run",
    "not started", "cancelled", "canceled", "skipped", "running", "offen", "geplant", "abgebrochen",
)  # fmt: skip
YES, NO = ("yes", "true", "1", "y", "x", "ja", "wahr"), ("no", "false", "0", "n", "nein", "falsch")
GOOD, BAD = ("success", "successful", "ok", "okay", "valid", "complete", "completed", "passed"), ("failed", "fail")
SUMMARIES = (
    "total", "totals", "sum", "mean", "average", "avg", "median", "mean ± sd", "summe", "gesamt", "mittelwert",
    "mittel", "durchschnitt", "standard deviation", "standardabweichung",
)  # fmt: skip
SHORT_SUMMARIES = ("min", "max", "minimum", "maximum", "count", "sd", "stdev", "std", "sem")  # also names, and units


class Said(Enum):
    """What a cell of a status says."""

    NOTHING = "nothing"
    COMPLETE = "complete"
    FAILED = "failed"
    NOT_RUN = "not run"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """What a cell of the outcome says: a number, a failure, nothing, or what is no number."""

    y: float | None = None
    is_failure: bool = False
    trouble: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the cell."""
        return self.y is None and not self.is_failure and not self.trouble


def is_nothing(cell: Any) -> bool:
    """Whether a cell is empty, or says that there is nothing in it."""
    return cell is None or (isinstance(cell, str) and cell.casefold() in NOTHING)


def number(cell: Any, numerals: Numerals) -> float:
    """The number in a cell; raises why there is none."""
    if isinstance(cell, Trouble):
        raise CbocError(f"{cell.reason}.")
    if isinstance(cell, date | time | timedelta):
        raise CbocError(f"{cell} is a time, and a number is needed; has a spreadsheet made one of the other?")
    if isinstance(cell, str) and any(sign in cell for sign in ("±", "+/-")):
        raise CbocError(f"{short(cell)} is two numbers; write what follows ± into a column of its own.")
    value = numerals.read(cell) if isinstance(cell, str) else cell
    if value is None or isinstance(value, bool):
        raise CbocError(f"{short(shown(cell))} is no number.")
    return float(value)


def value_of(cell: Any, parameter: Parameter, numerals: Numerals) -> Any:
    """The value of a parameter in a cell; raises why there is none."""
    if parameter.is_choice:
        return _option(cell, parameter, numerals)
    if is_nothing(cell):
        raise CbocError("there is no value.")
    value = number(cell, numerals)
    parameter.to_unit(value)
    return value


def _option(cell: Any, parameter: Parameter, numerals: Numerals) -> Any:
    """The option that a cell means: also in another case, with other blanks, or as another way to write a number."""
    if isinstance(cell, Trouble):
        raise CbocError(f"{cell.reason}.")
    if cell is None:
        raise CbocError("there is no value.")
    try:
        return parameter.read(shown(cell))
    except CbocError:
        alike = [option for option in parameter.axis.options if plain(option) and plain(option) == plain(shown(cell))]
        if len(alike) == 1:
            return parameter.read(alike[0])
        value = numerals.read(cell) if isinstance(cell, str) else None
        if value is None:
            raise
        return parameter.read(f"{value:.15g}")


def outcome_of(cell: Any, numerals: Numerals) -> Outcome:
    """What a cell of the outcome says."""
    if is_nothing(cell):
        return Outcome()
    if is_failure(cell):
        return Outcome(is_failure=True)
    try:
        return Outcome(number(cell, numerals))
    except CbocError as error:
        return Outcome(trouble=str(error))


def status_of(cell: Any, header: str) -> Said:
    """What a cell of a status says; yes and no are read if the header says of what."""
    text = plain(shown(cell))
    if is_nothing(cell):
        return Said.NOTHING
    if plain(header) in (*GOOD, *BAD) and text in (*YES, *NO):
        return Said.COMPLETE if (text in YES) == (plain(header) in GOOD) else Said.FAILED
    known = {Said.COMPLETE: COMPLETE, Said.FAILED: FAILED, Said.NOT_RUN: NOT_RUN}
    return next((said for said, words in known.items() if text in words), Said.UNKNOWN)


def is_failure(cell: Any) -> bool:
    """Whether a cell says in so many words that an experiment failed."""
    return isinstance(cell, str) and plain(cell) in FAILED


def is_summary(cell: Any, beside: Iterable[Any]) -> bool:
    """Whether a cell says that its line is about other lines, such as Total; `beside` are the cells of its column."""
    if not isinstance(cell, str) or plain(cell) not in (*SUMMARIES, *SHORT_SUMMARIES):
        return False
    if plain(cell) in SUMMARIES:
        return True
    others = [each for each in beside if each is not None and plain(shown(each)) not in (*SUMMARIES, *SHORT_SUMMARIES)]
    return bool(others) and not any(isinstance(each, str) and not each.isdecimal() for each in others)
