"""Tables as files that a spreadsheet opens: CSV, and XLSX (with openpyxl, from the extra xlsx).

Numbers stay numbers and times stay times; the header of a time says its zone, as cells have none. A text that a
spreadsheet would run as a formula is written as text.
"""

from __future__ import annotations

import csv
import io
from datetime import datetime
from math import isfinite
from typing import Any

from cboc.data.numbers import NUMBER
from cboc.data.tables import Table
from cboc.errors import CbocError, installing

FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how a text begins that a spreadsheet would run
SHOWN, ISO = "yyyy-mm-dd hh:mm:ss", "%Y-%m-%d %H:%M:%S"  # a time, in XLSX and in CSV
WIDEST = 60  # of a column of XLSX, in characters
MOST_TEXT = 32_767  # characters of a cell, by the format


def as_csv(table: Table) -> str:
    """The table as CSV text."""
    file = io.StringIO()
    rows = [[_in_csv(cell) for cell in row] for row in table.cells]
    csv.writer(file, lineterminator="\n").writerows([list(map(_in_csv, table.columns)), *rows])
    return file.getvalue()


def as_xlsx(table: Table, title: str) -> bytes:
    """The table as an XLSX file with one sheet; its header stays in view."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "".join(" " if sign in "[]:*?/\\'" else sign for sign in title)[:31].strip() or "table"
    for row, cells in enumerate([table.columns, *table.cells], start=1):
        for column, value in enumerate(cells, start=1):
            _write(sheet.cell(row, column), value)
    sheet.freeze_panes = "A2"
    for column, name in enumerate(table.columns):
        widest = max(len(_in_csv(cells[column])) for cells in [table.columns, *table.cells])
        letter = openpyxl.utils.get_column_letter(column + 1)
        sheet.column_dimensions[letter].width = min(WIDEST, max(widest, len(name)) + 2)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def unescaped(text: str) -> str:
    """A text as it was before `as_csv` kept a spreadsheet from running it."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULAS) else text


def as_text(value: Any) -> str:
    """A cell as text; empty if there is nothing in it."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return ""
    return value.strftime(ISO) if isinstance(value, datetime) else str(value)


def _in_csv(value: Any) -> str:
    """A cell as text that no spreadsheet runs."""
    is_formula = isinstance(value, str) and value.startswith(FORMULAS) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else as_text(value)


def _write(cell: Any, value: Any) -> None:
    """Fill a cell; a text is never a formula, whatever it begins with."""
    if isinstance(value, datetime):
        cell.value, cell.number_format = value.replace(tzinfo=None), SHOWN
    elif isinstance(value, str):
        printable = "".join(
            sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in value
        )
        cell.value = printable[:MOST_TEXT]
        cell.data_type, cell.quotePrefix = "s", True
    else:
        cell.value = value if not isinstance(value, float) or isfinite(value) else None


def _openpyxl() -> Any:
    try:
        import openpyxl
        import openpyxl.utils
    except ImportError:
        raise CbocError(f"XLSX files need openpyxl, which is not installed; {installing('xlsx')}.") from None
    return openpyxl
