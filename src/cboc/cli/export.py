"""`cboc export`: every experiment of a run, or of a site's own file, as a table to work with."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cboc.cli.lab import site_of
from cboc.cli.notes import notes
from cboc.cli.place import FileOption, RunOrFile, file_in
from cboc.cli.rows import trial_rows
from cboc.cli.show import Format, Row, columns, write
from cboc.cli.site_option import FILE
from cboc.data.spreadsheets import as_csv, as_xlsx
from cboc.data.tables import Table
from cboc.errors import CbocError, did_you_mean
from cboc.private_files import write_bytes, write_text
from cboc.runs.run import Run
from cboc.site.table import table_of

FOREIGN = ("xls", "xlsm", "ods", "pdf", "html", "htm", "db", "doc", "docx")  # of files that hold no text table


class As(StrEnum):
    """The forms in which experiments are exported."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
    TABLE = "table"


def export(
    where: RunOrFile = FILE,
    file: FileOption = None,
    format: Annotated[As | None, typer.Option(help="In which form.", show_default="by the name, or csv")] = None,
    output: Annotated[Path | None, typer.Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Export every experiment of a site, or of a run, as a table for your own records.

    Of a site, a line for each experiment: its number and well, the design in natural units, outcome, standard error,
    cost, status, why this design was chosen, notes, and when it was begun and told. Results from before the study come
    first. Of a run, also how, with which seed and at which site. XLSX needs the extra `xlsx`; in it numbers are numbers
    and times are times, whose zone the header says.

    Examples: `cboc export --output results.xlsx` at a site, `cboc export runs/first-study --output trials.csv`
    """
    known = file_in(where, file)
    form = _form(output, format)
    if form is As.XLSX and output is None:
        raise CbocError("an XLSX file is not for a terminal; say where to write it, as in --output results.xlsx.")
    table = _table(trial_rows(Run(where))) if known is None else table_of(site_of(known))
    if form is As.XLSX and output is not None:
        title = where.name if known is None else known.stem
        write_bytes(output, as_xlsx(table, title))
    else:
        text = as_csv(table) if form is As.CSV else write(_rows(table), Format(form))
        if output is None:
            typer.echo(text.rstrip("\n"))
            return
        is_for_excel = form is As.CSV and known is not None  # which takes the °C for something else without a mark
        write_text(output, text.rstrip("\n") + "\n", encoding="utf-8-sig" if is_for_excel else "utf-8")
    notes.print(f"Wrote {output}.")


def _form(output: Path | None, format: As | None) -> As:
    """The form that is asked for, by --format or by the file's name, which must not contradict it."""
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    if ending in FOREIGN:
        raise CbocError(f"--output {output} ends in .{ending}, which is not written here; {did_you_mean('xlsx', As)}")
    named = As(ending) if ending in (As.CSV, As.XLSX, As.JSON) else None
    if format is not None and named not in (None, format):
        raise CbocError(f"--output {output} ends in .{ending}, and --format says {format}; leave one of them out.")
    return format or named or As.CSV


def _table(rows: list[Row]) -> Table:
    names = columns(rows)
    return Table(names, [[row.get(name) for name in names] for row in rows])


def _rows(table: Table) -> list[Row]:
    """A table as rows for people and for JSON; a time says its zone."""
    return [dict(zip(table.columns, map(_said, cells), strict=True)) for cells in table.cells]


def _said(value: Any) -> Any:
    return value.isoformat(" ", "seconds") if isinstance(value, datetime) else value
