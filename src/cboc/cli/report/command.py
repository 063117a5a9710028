"""`cboc report`: write a page about a directory of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from cboc.cli.notes import notes
from cboc.cli.place import FileOption, RunOrFile, file_in
from cboc.cli.report.html import Html
from cboc.cli.report.page import page
from cboc.cli.site_option import FILE
from cboc.errors import CbocError
from cboc.evidence.casestudy import RESULTS
from cboc.plots import style
from cboc.private_files import for_owner
from cboc.runs.run import RECORD, check_directory

Content = Callable[[Path, Callable[[str], None]], tuple[str, str, Sequence[Html]]]

PAGE = "report.html"  # in the directory, unless the user names another file


def report(
    where: RunOrFile = FILE,
    file: FileOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output", help="The file to write.", show_default="report.html, in the run or beside the file"
        ),
    ] = None,
) -> None:
    """Write one page about a site, or about a directory of results, to mail, to print or to show.

    Tables, pictures and how they were made, in a single HTML file that loads nothing from anywhere. Of a site: its
    best design and the next one with its expected outcome, what was learned, progress, failures with their reasons and
    all its experiments, for its own people. For a simulated study: progress together and alone, the gains and the best
    designs of every site, and what they have learned. For the case study: its tables,
    the paths of the sites through the design space, and the sample that passes the best sensor found; this takes about
    a hundred short simulations.

    Examples: `cboc report` at a site, `cboc report runs/first-study`, `cboc report runs/evidence-biosensor --out
    biosensor.html`
    """
    style.figure_class()  # is matplotlib installed? Better asked before the work
    known = file_in(where, file)
    place = where if known is None else known
    target = out or (place if known is None else place.parent) / PAGE
    content = _content(place) if known is None else _own()
    with _draft(target) as draft, notes.status("reading") as status:
        draft.write(page(*content(place, lambda what: status.update(what))))
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
        with open(draft, "w", encoding="utf-8", opener=for_owner) as file:
            if place.exists():  # it keeps its permissions
                draft.chmod(place.stat().st_mode & 0o777)
            yield file
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _own() -> Content:
    """Return the content for a site's own file."""
    from cboc.cli.report import own

    return own.content


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
