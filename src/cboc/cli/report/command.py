"""`cboc report`: write a page about a directory of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from cboc.cli.notes import notes
from cboc.cli.report.html import Html
from cboc.cli.report.page import page
from cboc.errors import CbocError
from cboc.evidence.casestudy import RESULTS
from cboc.plots import style
from cboc.runs.run import RECORD, check_directory

Content = Callable[[Path, Callable[[str], None]], tuple[str, str, Sequence[Html]]]

PAGE = "report.html"  # in the directory, unless the user names another file


def report(
    directory: Annotated[Path, typer.Argument(help="A run of `cboc simulate`, or of `cboc evidence biosensor`.")],
    out: Annotated[Path | None, typer.Option(help="The file to write.", show_default="DIRECTORY/report.html")] = None,
) -> None:
    """Write one page about a directory of results, to mail, to print or to show.

    Tables, pictures and how they were made, in a single HTML file that loads nothing from anywhere. For a simulated
    study: progress together and alone, the gains and the best designs of every site. For the case study: its tables,
    the paths of the sites through the design space, and the sample that passes the best sensor found; this takes about
    a hundred short simulations.

    Examples: `cboc report runs/first-study`, `cboc report runs/evidence-biosensor --out biosensor.html`
    """
    style.figure_class()  # is matplotlib installed? Better asked before the work
    target = out or directory / PAGE
    content = _content(directory)
    with _draft(target) as file, notes.status("reading") as status:
        file.write(page(*content(directory, lambda what: status.update(what))))
    typer.echo(target)


@contextmanager
def _draft(target: Path) -> Iterator[TextIO]:
    """A file that replaces the target when it is complete; a place that cannot be written is refused at once."""
    if target.is_dir():
        raise CbocError(f"{target} is a directory; give --out the name of a file, such as {target / 'report.html'}.")
    if target.exists() and not target.is_file():  # a device or a pipe is written to, never replaced
        with target.open("w", encoding="utf-8") as file:
            yield file
        return
    place = target.resolve()  # a link stays a link
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f"{place.name}.part")
    try:
        with draft.open("w", encoding="utf-8") as file:
            yield file
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _content(directory: Path) -> Content:
    """Return the content for this kind of directory, loaded only when needed: the case study needs the extra `fem`."""
    if (directory / RECORD).exists():
        from cboc.cli.report import study

        return study.content
    if (directory / RESULTS).exists():
        from cboc.cli.report import casestudy

        return casestudy.content
    check_directory(directory)
    raise CbocError(
        f"{directory} holds neither a run of `cboc simulate` ({RECORD}) nor results of `cboc evidence biosensor` "
        f"({RESULTS}); give a directory that does."
    )
