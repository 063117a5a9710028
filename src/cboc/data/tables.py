"""Measurements as CSV files and DataFrames in natural units, to rows of the unit cube and back.

One column per parameter, the outcome, and optionally "sem" (its standard error) and "status" (complete or failed). A
row without an outcome says that it failed: it may as well not have been run. Other columns are notes, and are not read;
one that looks like a standard error or a status is refused. `cboc.data.earlier` reads tables of any other form.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cboc.arrays import Array
from cboc.data.headers import Meaning, meaning, plain
from cboc.data.numbers import as_number, have_decimal_commas, pointed
from cboc.data.numbers import read_number as read_handwritten
from cboc.errors import CbocError, at, did_you_mean, installing, listed, short
from cboc.names import as_cell, from_cell
from cboc.private_files import for_owner
from cboc.space.space import Space

if TYPE_CHECKING:
    from _csv import Reader

STATUSES = ("complete", "failed")
MEAN_COMPLETE = ("done", "ok", "okay", "finished", "success", "successful", "succeeded", "measured", "told", "yes")


class Row(NamedTuple):
    """A measurement; y is None if it failed, sem is NaN if unknown."""

    x: Array  # (D,)
    y: float | None
    sem: float = math.nan


class Table(NamedTuple):
    """A table of natural values; None is an empty cell."""

    columns: list[str]
    cells: list[list[Any]]


def read_csv(path: str | PathLike[str], space: Space, outcome: str) -> list[Row]:
    """Read the rows of a CSV file separated by comma, semicolon or tab; see `read_texts` for decimal commas."""
    _check_names(space, outcome)
    lines = read_texts(text_of(path), str(path), (*space.names, outcome), ("sem", "status"))
    return _rows([(place, _values(texts, space, outcome, place)) for place, texts in lines], space, outcome, str(path))


def text_of(path: str | PathLike[str]) -> str:
    """The text of a file; raises one sentence if it cannot be read, or is not text."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CbocError(f"cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CbocError(f"{path} is not UTF-8 text; save it as 'CSV UTF-8'.") from None


def read_texts(
    text: str,
    name: str,
    needed: Sequence[str],
    known: Sequence[str] = (),
    heads: Mapping[str, str] | None = None,
) -> list[tuple[str, dict[str, str]]]:
    """The lines of a CSV text that are not empty: the place of each, and its cells by column name.

    Places and errors call the text by its `name`: "sheet.csv, line 3". `heads` are other names for columns, such
    as "yield (%)".

    Numbers are returned with decimal points. In texts separated by semicolons or tabs a comma is read as a decimal
    point: 0,25 always, 1,234 only if other numbers show that the text has decimal commas (0,25 somewhere, 0.25
    nowhere). Otherwise 1,234 stays, and its reader refuses it: it may mean a thousand times as much.
    """
    delimiter = _delimiter(text.partition("\n")[0], set(needed))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    lines = _lines(reader, name)
    written = [column.strip() for column in next(lines, [])]
    columns = [(heads or {}).get(column, column) for column in written]
    with at(f"{name}, line 1"):
        _check_columns(columns, needed, known)
    found = []
    for cells in lines:
        if any(cell.strip() for cell in cells):
            place = f"{name}, line {reader.line_num}"
            with at(place):
                found.append((place, _named(columns, cells, delimiter)))
    return found if delimiter == "," else _with_points(found, {*needed, *known})


def _with_points(lines: list[tuple[str, dict[str, str]]], wanted: set[str]) -> list[tuple[str, dict[str, str]]]:
    """The lines with decimal points in place of commas, where the meaning is clear."""
    are_decimal = have_decimal_commas(text for _, texts in lines for name, text in texts.items() if name in wanted)

    def clear(text: str) -> str:
        try:
            return pointed(text, has_decimal_commas=are_decimal)
        except CbocError:
            return text

    return [(place, {name: clear(text) for name, text in texts.items()}) for place, texts in lines]


def _lines(reader: Reader, name: str) -> Iterator[list[str]]:
    """The lines of a table; raises one sentence if it cannot be read, as with a cell above 131 072 characters."""
    try:
        yield from reader
    except csv.Error as error:
        raise CbocError(
            f"{name}, line {reader.line_num}: not a line of a table ({error}); is a quote left open?"
        ) from None


def read_frame(frame: Any, space: Space, outcome: str) -> list[Row]:
    """Read the rows of a pandas DataFrame."""
    pandas = _pandas("from_frame")
    if not isinstance(frame, pandas.DataFrame):
        raise CbocError(f"from_frame reads a pandas DataFrame, but got {frame!r}.")
    columns = [str(name).strip() for name in frame.columns]
    _check_names(space, outcome)
    with at("the frame"):
        _check_columns(columns, (*space.names, outcome), ("sem", "status"))
    lines = []
    for i, cells in enumerate(frame.itertuples(index=False, name=None)):
        values = {name: None if pandas.isna(cell) else cell for name, cell in zip(columns, cells, strict=True)}
        lines.append((f"the frame, row {i}", values))
    return _rows(lines, space, outcome, "the frame")


def tabulate(rows: Sequence[Row], space: Space, outcome: str) -> Table:
    """The rows as a table in natural units; "sem" and "status" only if they say something."""
    _check_names(space, outcome)
    has_sem, has_status = any(not math.isnan(row.sem) for row in rows), any(row.y is None for row in rows)
    columns = [*space.names, outcome] + ["sem"] * has_sem + ["status"] * has_status
    cells = []
    for x, y, sem in rows:
        extra = [None if math.isnan(sem) else sem] * has_sem + ["failed" if y is None else "complete"] * has_status
        cells.append([*space.from_unit(x).values(), y, *extra])
    return Table(columns, cells)


def write_csv(path: str | PathLike[str], table: Table) -> None:
    """Write a table as a CSV file, each float with enough digits to read the same float again."""
    with open(path, "w", encoding="utf-8", newline="", opener=for_owner) as file:
        rows = [list(map(as_cell, cells)) for cells in (table.columns, *table.cells)]
        csv.writer(file, lineterminator="\n").writerows(rows)


def to_frame(table: Table) -> Any:
    """The table as a pandas DataFrame."""
    return _pandas("to_frame").DataFrame(table.cells, columns=table.columns)


def _delimiter(header: str, wanted: set[str]) -> str:
    """The separator that yields most of the wanted columns; names never contain one."""
    return max(",;\t", key=lambda separator: len({name.strip(' "\r') for name in header.split(separator)} & wanted))


def _check_columns(columns: Sequence[str], needed: Sequence[str], known: Sequence[str]) -> None:
    if not any(columns):
        raise CbocError(f"expected a header with the columns {', '.join(needed)}, but it is empty.")
    for name in needed:
        if columns.count(name) == 0:
            raise CbocError(f"column '{name}' is missing; {did_you_mean(name, filter(None, columns))}")
    for name in (*needed, *known):
        if columns.count(name) > 1:
            raise CbocError(f"column '{name}' is there twice; keep one.")
    for column in columns:
        if column not in (*needed, *known):
            _check_unread(column, columns, known)


def _check_unread(column: str, columns: Sequence[str], known: Sequence[str]) -> None:
    """Raise one sentence if a column that would not be read looks like one that is."""
    kind, name = meaning(column), plain(column)
    name = {Meaning.SEM: "sem", Meaning.STATUS: "status"}.get(kind, name) if kind is not None else name
    if name in known and (name not in columns or plain(column) == name):
        raise CbocError(
            f"column '{column}' would not be read, and may be the {kind or name}; call it '{name}', or take it out."
        )
    for meant in known:
        if meant not in columns and _is_one_letter_from(plain(column), meant):
            raise CbocError(f"column {short(column)} would not be read; did you mean '{meant}'? If not, take it out.")
    if kind is Meaning.SD and "sem" in known and "sem" not in columns:
        raise CbocError(
            f"column '{column}' would not be read: a standard deviation is not a standard error; write that into a "
            "column 'sem', or take this one out."
        )


def _is_one_letter_from(name: str, meant: str) -> bool:
    """Whether one letter was lost, added or exchanged: statu, costs, sen."""
    k = next(
        (k for k, pair in enumerate(zip(name, meant, strict=False)) if pair[0] != pair[1]), min(len(name), len(meant))
    )
    return name[k + 1 :] == meant[k + 1 :] or name[k:] == meant[k + 1 :] or name[k + 1 :] == meant[k:]


def _check_names(space: Space, outcome: str) -> None:
    for name in (outcome, "sem", "status"):
        if name in space.names:
            raise CbocError(f"a table's column '{name}' cannot be both a parameter and {_meaning(name)}; rename one.")
    if outcome in ("sem", "status"):
        raise CbocError(f"a table's column '{outcome}' cannot be both the outcome and {_meaning(outcome)}; rename it.")


def _meaning(column: str) -> str:
    return {"sem": "the standard error", "status": "the status"}.get(column, "the outcome")


def _named(columns: Sequence[str], cells: Sequence[str], delimiter: str) -> dict[str, str]:
    """The cells by column name."""
    if len(cells) != len(columns):
        hint = " Is a decimal comma taken for a separator?" if delimiter == "," and len(cells) > len(columns) else ""
        raise CbocError(f"expected {len(columns)} cells as in the header, but found {len(cells)}.{hint}")
    return {name: from_cell(cell.strip()) for name, cell in zip(columns, cells, strict=True)}


def _values(texts: Mapping[str, str], space: Space, outcome: str, place: str) -> dict[str, Any]:
    """The natural values of a line of a text file."""
    values: dict[str, Any] = {"status": texts.get("status") or None}
    values |= read_design(texts, space, place)
    for name in (outcome, "sem"):
        with at(f"{place}, column {name}"):
            values[name] = read_number(texts[name]) if texts.get(name) else None
    return values


def read_design(texts: Mapping[str, str], space: Space, place: str) -> dict[str, Any]:
    """The natural values of a design by name; None for an empty cell."""
    values: dict[str, Any] = {}
    for name, parameter in space.parameters.items():
        with at(f"{place}, column {name}"):
            text = texts[name] if parameter.is_choice else pointed(texts[name])
            values[name] = parameter.read(text) if text else None
    return values


def read_number(text: str) -> float:
    """The number in a cell; raises if it is not a number."""
    number = read_handwritten(text)
    if number is None:
        raise CbocError(f"expected a number or an empty cell, but found {text!r}.")
    return number


def _rows(lines: Sequence[tuple[str, Mapping[str, Any]]], space: Space, outcome: str, name: str) -> list[Row]:
    """The rows of lines, each with its place; what has neither an outcome nor a status is asked about."""
    silent = [
        place.removeprefix(f"{name}, ")
        for place, values in lines
        if values[outcome] is None and all(values.get(other) is None for other in ("status", "sem"))
    ]
    if silent:
        what = "1 row has" if len(silent) == 1 else f"{len(silent)} rows have"
        raise CbocError(
            f"{name}: {what} no outcome in column '{outcome}', and no status: {listed(silent)}. Drop what was not run, "
            "and write failed into a column status where an experiment failed."
        )
    return [_row(values, space, outcome, place) for place, values in lines]


def _row(values: Mapping[str, Any], space: Space, outcome: str, place: str) -> Row:
    x = place_design(values, space, place)
    with at(f"{place}, column status"):
        status = _status(values.get("status"), values[outcome])
    if status == "failed":
        with at(f"{place}, column sem"):
            if values.get("sem") is not None:
                raise CbocError("a standard error is given, but no outcome; fill in the outcome, or empty this cell.")
        return Row(x, None)
    with at(f"{place}, column {outcome}"):
        y = _finite(values[outcome])
    if values.get("sem") is None:
        return Row(x, y)
    with at(f"{place}, column sem"):
        return Row(x, y, _finite(values["sem"], least=0.0))


def place_design(values: Mapping[str, Any], space: Space, place: str) -> Array:  # (D,)
    """The design in the unit cube; raises with the name of the column if a value does not fit."""
    for name, parameter in space.parameters.items():
        with at(f"{place}, column {name}"):
            if values[name] is None:
                raise CbocError("expected a value, but the cell is empty.")
            parameter.to_unit(values[name])
    with at(place):
        return space.to_unit({name: values[name] for name in space.names})


def _status(status: Any, y: Any) -> str:
    given = "" if status is None else str(status).strip().lower()
    if given and given not in STATUSES:
        raise unknown_status(given, STATUSES)
    if given == "complete" and y is None:
        raise CbocError("a complete measurement has an outcome, but this cell is empty; if it failed, write failed.")
    if given == "failed" and y is not None:
        raise CbocError(f"'failed' does not go with the outcome '{y}'; correct one of them.")
    return given or ("failed" if y is None else "complete")


def unknown_status(said: str, known: Sequence[str]) -> CbocError:
    """The sentence for a status that is none: 'done' is close to 'abandoned', and means 'complete'."""
    meant = "complete" if said in MEAN_COMPLETE else said
    return CbocError(f"unknown status '{said}'; {did_you_mean(meant, known)}")


def _finite(value: Any, least: float = -math.inf) -> float:
    number = as_number(value)
    if number is None or not math.isfinite(number) or number < least:
        wanted = "a finite number" if least < 0 else "a finite number that is not negative"
        raise CbocError(f"expected {wanted}, but found {value!r}; leave the cell empty if there is none.")
    return number


def _pandas(caller: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise CbocError(f"{caller} needs pandas, which is not installed; {installing('pandas')}.") from None
    return pandas
