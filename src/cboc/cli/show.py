"""Rows for people, programs and spreadsheets: tables, JSON, CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table

from cboc.names import as_cell, is_printable

Row = Mapping[str, Any]

WIDEST = 10_000  # a row is one line, however long: people scroll, and programs cut


class Format(StrEnum):
    """The formats in which rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def write(rows: Sequence[Row], format: Format) -> str:
    """Write the rows as text; the columns are those of all rows, in order of first appearance."""
    return WRITERS[format](rows)


def _table(rows: Sequence[Row]) -> str:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in columns(rows):
        is_number = all(cell(row.get(name))[:1] in "+-0123456789" for row in rows)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell(row.get(name)) for name in columns(rows)))
    console = Console(file=io.StringIO(), width=WIDEST, color_system=None, markup=False, emoji=False)
    console.print(table)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def _json(rows: Sequence[Row]) -> str:
    return json.dumps(
        [{name: _plain(value) for name, value in row.items()} for row in rows], indent=2, ensure_ascii=False
    )


def _csv(rows: Sequence[Row]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, columns(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: "" if _plain(value) is None else as_cell(value) for name, value in row.items()} for row in rows
    )
    return file.getvalue().rstrip("\n")


WRITERS: dict[Format, Callable[[Sequence[Row]], str]] = {
    Format.TABLE: _table,
    Format.JSON: _json,
    Format.CSV: _csv,
}


def many(count: int, noun: str, nouns: str | None = None) -> str:
    """Write a count with its noun: '1 site', '2 sites'; an unusual plural is given."""
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"


def wrapped(text: str) -> str:
    """Break a long text into lines as wide as the terminal."""
    return textwrap.fill(text, shutil.get_terminal_size().columns, break_long_words=False, break_on_hyphens=False)


def columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns of all rows, in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _plain(value: Any) -> Any:
    """Replace a value that JSON cannot express by None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def cell(value: Any) -> str:
    """Write a value as the text of a table cell."""
    if _plain(value) is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if is_printable(text) else text.encode("unicode_escape").decode()  # of an old study
