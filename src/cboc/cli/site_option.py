"""The site's own file: the option that names it, and hints that a user can type as they stand."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

FILE, VARIABLE = Path("site.db"), "CBOC_SITE"  # the file, unless this variable or --file names another

SiteOption = Annotated[Path, typer.Option("--file", "-f", envvar=VARIABLE, metavar="FILE", help="The site's own file.")]


def usual_file() -> Path:
    """The site's file that a command takes if none is named."""
    return Path(os.environ.get(VARIABLE) or FILE)


def hint(command: str, file: Path) -> str:
    """A command as the user would type it: with the site's file, unless it is the usual one."""
    return f"cboc {command}" if file == usual_file() else f"cboc {command} --file {quote(str(file))}"
