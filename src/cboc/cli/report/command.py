"""`cboc report`: from a directory to a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.notes import notes
from cboc.cli.report.page import page
from cboc.cli.run import RECORD
from cboc.errors import CbocError
from cboc.plots import style

RESULTS = "biosensor.jsonl"


def report(
    directory: Annotated[Path, typer.Argument(help="A run of `cboc simulate`, or results of `cboc bench biosensor`.")],
    out: Annotated[Path | None, typer.Option(help="The file to write.", show_default="DIRECTORY/report.html")] = None,
) -> None:
    """Write one page about a directory of results, to mail, to print or to show.

    Tables, pictures and how they were made, in a single HTML file that loads nothing from anywhere. Of a simulated
    study: progress together and alone, the gains and the best designs of every site. Of the case study: its tables,
    the paths of the sites through the design space, and the sample that passes the best sensor found; that takes about
    a hundred short simulations.

    Examples: `cboc report runs/first-study`, `cboc report runs/bench-biosensor --out biosensor.html`
    """
    style.figure_class()  # is there matplotlib? Better asked before the work
    target = out or directory / "report.html"
    with notes.status("reading") as status:
        text = _text(directory, lambda what: status.update(what))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    typer.echo(target)


def _text(directory: Path, say: Callable[[str], None]) -> str:
    """Each kind is loaded only when it is met: the case study needs the extra `fem`."""
    if (directory / RECORD).exists():
        from cboc.cli.report import study

        return page(*study.content(directory, say))
    if (directory / RESULTS).exists():
        from cboc.cli.report import casestudy

        return page(*casestudy.content(directory, say))
    raise CbocError(
        f"{directory} holds neither a run of `cboc simulate` ({RECORD}) nor results of `cboc bench biosensor` "
        f"({RESULTS}); give a directory that does."
    )
