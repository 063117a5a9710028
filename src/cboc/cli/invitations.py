"""Invitations: made at a coordinator as codes or as a file, and looked at where a site joins."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cboc.cli.address import is_private
from cboc.cli.coordinator import StudyName, chosen, opened
from cboc.cli.named import aim
from cboc.cli.notes import notes
from cboc.cli.operations import DATABASE, Database
from cboc.cli.show import Format, Row, write
from cboc.data.dataset import Direction
from cboc.errors import CbocError
from cboc.exchange.invitation import ENDING, Invitation, check_free

if TYPE_CHECKING:
    from cboc.coordinator.tokens import Tokens

LONGEST_DAYS = 3650
NO_URL = "URL"


def invite(
    site: Annotated[str | None, typer.Argument(help="Whom to invite.", show_default="all that have not joined")] = None,
    study: StudyName = None,
    days: Annotated[float, typer.Option(help="For how many days the invitation is valid.")] = 7.0,
    url: Annotated[str, typer.Option(help="The coordinator's address, as the site reaches it.")] = NO_URL,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="SITE.cboc", help="Write one file that holds address, code and certificate."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="PEM", help="For --file: the coordinator's certificate, if it made its own.")
    ] = None,
    database: Database = DATABASE,
    format: Annotated[Format, typer.Option(help="How to print the rows.")] = Format.TABLE,
) -> None:
    """Invite a site, or all that have not joined; each gets a code that works once.

    With `--file` all that one site needs is in a file, which it opens with `cboc join lab-b.cboc` or on its page. The
    code, and so the file, is as secret as a key: whoever has it can join as that site until it is used. Hand it over
    in a way that you trust, such as encrypted mail or a stick. The site makes the token by which it is known from then
    on, and the file is worth nothing any more.

    Examples: `cboc invite --file lab-b.cboc --url https://cboc.example.org`, `cboc invite lab-b --url
    https://cboc.example.org`
    """
    if not 0.0 < days <= LONGEST_DAYS:
        raise CbocError(f"--days is above 0 and at most {LONGEST_DAYS}; got {days:g}.")
    if certificate is not None and file is None:
        raise CbocError("--certificate is for --file; a site that joins with a code gets the certificate beside it.")
    with opened(database) as engine:
        from cboc.coordinator.tokens import Tokens

        name, door = chosen(engine, study), Tokens(engine)
        if file is not None:
            _write_file(door, name, site, file, _checked_url(url), _pem(certificate), 86400.0 * days)
            return
        wanted = door.absent(name) if site is None else [site]
        if not wanted:
            raise CbocError(f"all sites of '{name}' have joined; name one to invite it again.")
        rows: list[Row] = [{"site": each, "code": door.invite(name, each, 86400.0 * days)} for each in wanted]
    typer.echo(write(rows, format))
    notes.print(
        f"At the site: cboc join {url} CODE --direction maximise|minimise, and --certificate if you made your own; "
        "a site that takes part in this study already, without a coordinator, uses cboc move in place of join. "
        "Earlier codes for these sites that were not used are no longer valid."
    )


def _write_file(
    door: Tokens, study: str, site: str | None, path: Path, url: str, certificate: str | None, lifetime: float
) -> None:
    """Write the invitation of one site to a file."""
    if path.suffix != ENDING:
        raise CbocError(f"an invitation file ends in {ENDING}, as in lab-b{ENDING}; got {path}.")
    check_free(path)  # before an earlier invitation ends
    who = _meant(door, study, path) if site is None else site
    expires_at = time.time() + lifetime
    Invitation(study, who, url, door.invite(study, who, lifetime), certificate, expires_at).write(path)
    notes.print(
        f"Wrote {path}, the invitation of '{who}' to '{study}'. Whoever has this file can join as '{who}' until it is "
        f"used: hand it over as you would a key. At the site: cboc join {path.name}. Earlier invitations of this site "
        "that were not used are no longer valid."
    )


def _meant(door: Tokens, study: str, path: Path) -> str:
    """The site that a file is for, if none is named: the one that it is called after, or the only one to come."""
    absent = door.absent(study)
    if path.stem in absent:
        return path.stem
    if len(absent) == 1:
        return absent[0]
    known = f"{', '.join(absent)} have not joined yet" if absent else f"all sites of '{study}' have joined"
    raise CbocError(f"--file is the invitation of one site; name it, as in cboc invite SITE --file {path} ({known}).")


def _checked_url(url: str) -> str:
    from cboc.exchange.http import check_address

    if url == NO_URL:
        raise CbocError("the file says where the coordinator is: also give --url, its address as the site reaches it.")
    check_address(url)
    if not is_private(url):
        notes.print(f"{url} is not HTTPS: anybody on the way can read designs and speak for this site.", style="red")
    return url


def _pem(certificate: Path | None) -> str | None:
    """The text of a certificate to trust."""
    if certificate is None:
        return None
    text = certificate.read_text(encoding="ascii", errors="replace")
    if "BEGIN CERTIFICATE" not in text or "PRIVATE KEY" in text:
        raise CbocError(f"{certificate} is not a certificate in PEM alone; give the .pem file, never its key.")
    return text


def shown_terms(path: str, file: Path, direction: Any) -> Any:
    """Keep an invitation file in the site's own, print what it is for, and return the direction, asked for if none.

    Of several objectives each is asked for.

    Nothing is agreed by this. A site that has joined already is not asked again.
    """
    from cboc.exchange.invitation import read_invitation
    from cboc.joining.invited import keep, leaves, look
    from cboc.storage.sitefile import SiteFile

    given = read_invitation(Path(path))
    if file.exists() and "agreement" in SiteFile(file).about:
        return direction
    study, site = look(keep(given, file))
    others = ", ".join(name for name in study.sites if name != site) or "nobody else"
    typer.echo(f"'{study.name}': you are '{site}', with {others}; {study.budget(site)} experiments.")
    labels = [study.objective_called(name).label for name in study.objectives]
    typer.echo(f"What you measure: {', '.join(labels)}.")
    typer.echo(f"What will leave your lab: {'; '.join(leaves(study))}. Outcomes stay.")
    if direction is not None or not sys.stdin.isatty():
        return direction
    if len(labels) == 1:
        return _asked("What to do with your outcome (maximise or minimise)", Direction.of)
    what = "What to do with {} (maximise, minimise, or near:VALUE)"
    return {name: _asked(what.format(label), aim) for name, label in zip(study.objectives, labels, strict=True)}


def _asked(question: str, read: Callable[[str], Any]) -> Any:
    """What a person types; after a slip the question is asked again."""
    while True:
        try:
            return read(typer.prompt(question))
        except CbocError as error:
            notes.print(str(error))
