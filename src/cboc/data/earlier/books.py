"""Sheets of an XLSX book, as a person sees them: values of formulas, per cent as per cent."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from decimal import Decimal
from typing import Any

from cboc.data.earlier.grid import Grid, Line, Trouble, cell_of
from cboc.errors import CbocError, installing

ZIP, OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # how a book begins, and one of before 2007 or with a password
LARGEST = 10_000_000  # bytes of a book
MOST_UNPACKED = 16_000_000  # bytes of its sheets and texts
MOST_CELLS = 500_000  # of a sheet, empty ones included
SUMMARY = re.compile(
    r"\b(?:SUM|AVERAGE|MEAN|MEDIAN|MIN|MAX|STDEV|STDEVP|STDEV\.[SP]|VAR|COUNT|SUBTOTAL)\(", re.IGNORECASE
)
REFERENCE = re.compile(r"(?<![A-Za-z!'])\$?[A-Z]{1,3}\$?(\d+)(?!\d*[A-Za-z(])")
MERGED = re.compile(rb"mergeCell\b[^>]*?\bref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
LISTED = re.compile(rb"<(?:\w+:)?sheet\s")
UNKEPT = "a formula whose value is not in the file; open it in the spreadsheet, and save it"


def is_book(content: bytes) -> bool:
    """Whether a file begins as a book does, of whatever kind."""
    return content.startswith((ZIP, OLD))


def read_book(content: bytes, name: str) -> list[Grid]:
    """The sheets of a book that have anything in them, also hidden ones."""
    openpyxl = _openpyxl(name)
    try:
        _check(content, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it has no use for, such as a drop-down
            values = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
            formulas = openpyxl.load_workbook(io.BytesIO(content)) if _has_formulas(content) else values
            _check_sheets(content, values.sheetnames)
            sheets = [_sheet(sheet, formulas[sheet.title], name) for sheet in values.worksheets]
    except CbocError:
        raise
    except Exception as error:  # a damaged book raises anything: KeyError, ParseError, BadZipFile, ...
        raise CbocError(
            f"{name} cannot be read as XLSX ({type(error).__name__}); open it in the spreadsheet, and save it again."
        ) from None
    return [sheet for sheet in sheets if sheet.lines]


def _check(content: bytes, name: str) -> None:
    """Raise one sentence if a file is another kind of book, or would fill the memory."""
    if content.startswith(OLD):
        raise CbocError(
            f"{name} is an XLS file of before 2007, or has a password; save it as XLSX without one, or as CSV."
        )
    if len(content) > LARGEST:
        raise CbocError(
            f"{name} has {len(content):,} bytes; a book has at most {LARGEST:,}. Copy its table into a new one."
        )
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        sizes = {part.filename: part.file_size for part in parts.infolist()}
        if not any(part.startswith("xl/") for part in sizes):
            raise CbocError(f"{name} is no XLSX file; save it as XLSX or as 'CSV UTF-8'.")
        if sum(sizes.values()) > MOST_UNPACKED:
            raise CbocError(
                f"{name} holds {sum(sizes.values()):,} bytes when it is unpacked, of which at most {MOST_UNPACKED:,} "
                "are read; copy its table into a new book, or save it as 'CSV UTF-8'."
            )
        areas = [match.groups() for sheet in _sheets(parts) for match in MERGED.finditer(parts.read(sheet))]
    cells = sum(
        (1 + int(last) - int(first)) * (1 + _column(right) - _column(left)) for left, first, right, last in areas
    )
    if cells > MOST_CELLS:
        raise CbocError(f"{name} has merged cells that fill whole rows or columns; unmerge them, and save it again.")


def _check_sheets(content: bytes, found: list[str]) -> None:
    """Raise if a book lacks a sheet that it lists: openpyxl leaves such a sheet out without a word."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        if len(LISTED.findall(parts.read("xl/workbook.xml"))) != len(found):
            raise ValueError("a sheet is missing")


def _column(letters: bytes) -> int:
    return sum((sign - ord("A") + 1) * 26**place for place, sign in enumerate(reversed(letters)))


def _sheets(parts: zipfile.ZipFile) -> list[str]:
    return [part for part in parts.namelist() if part.startswith("xl/worksheets/") and part.endswith(".xml")]


def _has_formulas(content: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        return any(mark in parts.read(sheet) for sheet in _sheets(parts) for mark in (b"<f>", b"<f ", b"<f/", b":f"))


def _sheet(values: Any, formulas: Any, name: str) -> Grid:
    if values.max_row * values.max_column > MOST_CELLS:
        raise CbocError(
            f"{name}, sheet '{values.title}': it reaches to row {values.max_row:,} and column {values.max_column:,}; "
            "delete what lies beyond its table, or copy that into a new book."
        )
    merged = {
        place: str(area)
        for area in values.merged_cells.ranges
        for place in ((row, column) for row, column in area.cells if (row, column) != (area.min_row, area.min_col))
    }
    lines = [
        Line(row[0].row, tuple(_cell(cell, formulas, merged) for cell in row)) for row in values.iter_rows() if row
    ]
    hidden = [number for number, row in values.row_dimensions.items() if row.hidden]
    filled = [line.number for line in lines if line.number in hidden and not line.is_empty]
    rows = "1 hidden row is" if len(filled) == 1 else f"{len(filled)} hidden rows are"
    remarks = [f"{rows} read as others are."] if filled else []
    state = {"sheet": values.title, "is_hidden": values.sheet_state != "visible", "remarks": tuple(remarks)}
    return Grid(name, tuple(lines), "row", **state)


def _cell(cell: Any, formulas: Any, merged: dict[tuple[int, int], str]) -> Any:
    if (area := merged.get((cell.row, cell.column))) is not None:
        return Trouble(f"it is one cell with others ({area}); write its value into each row")
    formula = formulas.cell(cell.row, cell.column).value
    text = str(getattr(formula, "text", formula))  # a formula of an array is an object
    if text.startswith("=") and formula != cell.value:
        rows = {int(row) for row in REFERENCE.findall(text)}
        if SUMMARY.search(text) and len(rows) > 1:
            return Trouble(f"it is computed from other rows, {text[:60]}")
        if cell.value is None:
            return Trouble(UNKEPT)
    value = cell.value
    if isinstance(value, int | float) and not isinstance(value, bool) and "%" in str(cell.number_format):
        return f"{(Decimal(repr(value)) * 100).normalize():f}%"
    return cell_of(value)


def _openpyxl(name: str) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise CbocError(
            f"{name} is a book, which is read with openpyxl, and that is not installed; {installing('xlsx')}. Or save "
            "it as 'CSV UTF-8'."
        ) from None
    return openpyxl
