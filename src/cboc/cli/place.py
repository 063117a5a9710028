"""What a command looks at: the directory of a run, or a site's own file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.lab import site_of
from cboc.cli.site_option import FILE, VARIABLE, usual_file
from cboc.errors import CbocError
from cboc.runs.course import Course, OwnCourse
from cboc.runs.run import Run

RunOrFile = Annotated[
    Path, typer.Argument(metavar="[RUN|FILE]", envvar=VARIABLE, help="A run's directory, or a site's own file.")
]
FileOption = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="FILE", help="A site's own file.", show_default=False)
]


def file_in(where: Path, file: Path | None) -> Path | None:
    """The site's file that is meant, by --file, by position or by default; None if it is a run's directory."""
    if file is not None:
        if where != usual_file():
            raise CbocError(f"give one place, {where} or --file {file}, not both.")
        return file
    if where == FILE and not where.exists():
        raise CbocError(
            f"there is no site file {where} here; cboc join makes one. Or name another, or the directory of a run, "
            "such as runs/first-study."
        )
    if not where.exists():
        raise CbocError(f"there is no {where}; name a site's own file, or the directory of a run (cboc simulate).")
    return where if where.is_file() or where == FILE else None


def course_of(where: Path, file: Path | None = None) -> Course:
    """How the searches went, of a run's directory or of a site's own file."""
    known = file_in(where, file)
    return Run(where) if known is None else OwnCourse(site_of(known), known)
