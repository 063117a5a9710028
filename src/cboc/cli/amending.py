"""The commands for changing a study that runs: one proposes the change, every site accepts it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.cli.agreeing import is_agreed
from cboc.cli.coordinator import opened
from cboc.cli.lab import QUICK, site_file, site_of
from cboc.cli.notes import notes
from cboc.cli.operations import DATABASE
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.errors import CbocError, did_you_mean
from cboc.exchange.amendment import changes, successor
from cboc.exchange.study import Study
from cboc.exchange.study_diff import differences
from cboc.storage.sitefile import SiteFile
from cboc.studyfile import read_terms

if TYPE_CHECKING:
    from cboc.coordinator.drafts import Drafts

GivenDatabase = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="CBOC_DATABASE",
        help="At a coordinator: its database, sqlite:///FILE.db or postgresql+psycopg://USER@HOST/NAME.",
        show_default=DATABASE,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def amend(
    study: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study as it shall be from now on.")],
    database: GivenDatabase = None,
    file: SiteOption = FILE,
    yes: Yes = False,
) -> None:
    """Change a study that runs: admit sites, extend the horizon or budgets, add edges, set another deadline.

    Edit the study file, new sites at its end, and give it here. At a coordinator its operator does this, and invites
    the new sites. Without one, the sites that the study names as its stewards do it, each at its own site (by default
    all sites are stewards); the change is in force when all of them have given the same file. Every site sees what has
    changed, and accepts it before its next turn. As long as nobody has joined at a coordinator, everything may change.

    Example: `cboc amend study.toml --database sqlite:///coordinator.db`, or at a steward's site `cboc amend study.toml`
    """
    given = read_terms(study).study
    if database is None and _is_without_centre(file):
        _sign(file, given, is_sure=yes)
        return
    with opened(database or DATABASE) as engine:
        from cboc.coordinator.drafts import Drafts
        from cboc.coordinator.transactions import Transactions

        transactions = Transactions(engine)
        names = transactions.names()
        if given.name not in names:
            raise CbocError(f"there is no study '{given.name}' here; {did_you_mean(given.name, names)}")
        before = transactions.study(given.name)
        if Drafts(engine).is_draft(given.name):
            _redraft(Drafts(engine), before, given, is_sure=yes)
            return
        _confirm(before, successor(before, given), is_sure=yes)
        new = transactions.amend(given)
    admitted = new.sites[len(before.sites) :]
    invite = f" cboc invite makes invitations for {', '.join(admitted)}." if admitted else ""
    notes.print(f"Study '{new.name}' goes on as version {new.version}; every site accepts it by cboc accept.{invite}")


def _redraft(drafts: Drafts, before: Study, given: Study, *, is_sure: bool) -> None:
    """Replace the terms of a study that nobody has joined: everything may change."""
    lines = differences(given.agreement(), before.agreement())
    if not lines:
        raise CbocError(f"study '{given.name}' is agreed exactly so; there is nothing to change.")
    typer.echo("\n".join(lines))
    _ask(is_sure=is_sure)
    drafts.replace(given)
    notes.print(f"Study '{given.name}' has these terms now. Nobody had joined it; invitations of its sites stay good.")


def accept(file: SiteOption = FILE, yes: Yes = False) -> None:
    """Accept a change of the study: shows what changes, and asks. Without it the site takes no further turn.

    What is open goes on: a proposal that was handed in is answered as it was agreed then.

    Example: `cboc accept`
    """
    site = site_of(file, patience=QUICK)
    newest = site.offered()
    if newest is None:
        site.accept()  # says again what may not have been heard
        notes.print(f"Nothing to accept: study '{site.study.name}' is as this site knows it.")
        return
    _confirm(site.study, newest, is_sure=yes)
    site.accept()
    notes.print(f"Accepted. Next: {hint('ask', file)}.")


def _confirm(before: Study, after: Study, *, is_sure: bool) -> None:
    """Print what changes, and ask whether that is meant."""
    for line in changes(before, after):
        typer.echo(line)
    _ask(is_sure=is_sure)


def _ask(*, is_sure: bool) -> None:
    if not is_sure and not is_agreed("Is that what you want?", "this change"):
        raise CbocError("nothing was changed.")


def _is_without_centre(file: Path) -> bool:
    """Whether a site is here that exchanges feeds: then a change is signed in its feed."""
    if not file.exists():
        return False
    from cboc.joining.feeds import is_address

    return is_address(SiteFile(file).about.get("url"))


def _sign(file: Path, given: Study, *, is_sure: bool) -> None:
    """Sign the change in the feed of a steward's site."""
    from cboc.exchange.feeds.network import Feeds

    site_file(file)
    network = site_of(file).network
    if not isinstance(network, Feeds):
        raise CbocError(f"{file} has joined through a coordinator, whose operator changes the study.")
    before = network.agreed()
    if before.version > network.study.version:
        raise CbocError(f"the study has changed already; {hint('accept', file)} shows how.")
    wanted = replace(successor(before, given), version=network.next_version(given))
    _confirm(before, wanted, is_sure=is_sure)
    missing = network.amend(wanted)
    if missing:
        notes.print(f"Signed. It is in force when {', '.join(missing)} has done the same, with the same study file.")
    else:
        notes.print(f"Signed by all stewards: it is in force. Next: {hint('ask', file)}.")
