"""CSV in any of its forms: commas, semicolons, tabs or bars; UTF-8, UTF-16 or what Windows writes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from cboc.data.earlier.grid import MOST_COLUMNS, Grid, Line, cell_of
from cboc.data.earlier.numerals import parts_of
from cboc.errors import CbocError, at
from cboc.names import from_cell

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LARGEST = 10_000_000  # bytes of a text
MOST_SAMPLED = 60  # lines, to see how a text is separated
DECLARED = re.compile(r'"?sep=(?P<delimiter>.)"?', re.IGNORECASE)  # in the first line
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # how such a file begins
WINDOWS = "It is not UTF-8, and was read as Windows-1252: look at letters such as ° and ä."


def read_text(content: bytes, name: str, rating: Callable[[Grid], int]) -> Grid:
    """The table in a text, separated in the way that its header is rated best."""
    if len(content) > LARGEST:
        raise CbocError(f"{name} has {len(content):,} bytes; a table of text has at most {LARGEST:,}.")
    text, remarks = _decoded(content, name)
    first, _, below = text.partition("\n")
    declared = DECLARED.fullmatch(first.strip())
    if declared:  # for Excel
        text = f"\n{below}"
    delimiters = [declared["delimiter"]] if declared else list(DELIMITERS)
    samples = {delimiter: _sample(text, delimiter, name) for delimiter in delimiters}
    best = max(delimiters, key=lambda delimiter: (rating(samples[delimiter]), _width(samples[delimiter])))
    said = f"It is separated by {DELIMITERS.get(best, repr(best))}."
    lines = tuple(_lines(text, best, name))
    return Grid(name, lines, has_notes=False, remarks=(*remarks, *([said] if best != "," else [])))


def _sample(text: str, delimiter: str, name: str) -> Grid:
    """The first lines as they are with a delimiter, whether that is the right one or not."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    found = []
    with suppress(csv.Error):
        for cells in islice(reader, MOST_SAMPLED):
            found.append(Line(reader.line_num, tuple(map(cell_of, cells[:MOST_COLUMNS]))))
    return Grid(name, tuple(found), has_notes=False)


def _width(grid: Grid) -> int:
    return max((len(line.cells) for line in grid.lines[:5]), default=0)


def _decoded(content: bytes, name: str) -> tuple[str, list[str]]:
    encoding = next((known for mark, known in MARKS.items() if content.startswith(mark)), "utf-8")
    remarks: list[str] = []
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        try:
            text, remarks = content.decode("cp1252" if encoding == "utf-8" else encoding), [WINDOWS]
        except UnicodeDecodeError:
            raise CbocError(f"{name} is no table of text; save it as 'CSV UTF-8' or as XLSX.") from None
    text = text.rstrip("\x1a")  # how DOS ends a text
    if any(sign < " " and sign not in "\t\n\r\x0b\x0c" for sign in text):
        raise CbocError(f"{name} is no table of text; save it as 'CSV UTF-8' or as XLSX.")
    return text, remarks


def _lines(text: str, delimiter: str, name: str) -> Iterator[Line]:
    """All lines; raises one sentence at what is no line, such as a quote that is left open."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    begun = 1
    try:
        for cells in reader:
            with at(f"{name}, line {begun}"):
                _check_cells(cells, delimiter)
            yield Line(begun, tuple(cell_of(from_cell(cell.strip())) for cell in cells))
            begun = reader.line_num + 1
    except csv.Error as error:
        raise CbocError(
            f"{name}, line {begun}: not a line of a table ({error}); is a quote left open, or one too many?"
        ) from None


def _check_cells(cells: list[str], delimiter: str) -> None:
    """Raise one sentence if a quote that was left open has swallowed lines: they would be lost without a word."""
    for place, cell in enumerate(cells):
        first, *others = cell.splitlines() or [""]
        if any(_is_line(line.split(delimiter), place) for line in others):
            raise CbocError(f"a cell holds several lines of a table ({first[:40]!r} ...); is a quote left open?")


def _is_line(cells: list[str], place: int) -> bool:
    """Whether a line within a cell looks as if it were one of the table, up to that cell."""
    return len(cells) > max(1, place) and any(parts_of(cell) is not None for cell in cells)
