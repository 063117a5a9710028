"""The command `cboc doctor`: check that a site has everything it needs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import typer

from cboc import __version__
from cboc.cli.address import is_private
from cboc.cli.lab import QUICK, site_of
from cboc.cli.show import many
from cboc.cli.site_option import FILE, SiteOption
from cboc.errors import CbocError
from cboc.private_files import is_open_to_others
from cboc.site.copies import check_newest
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile

SKEW = 60.0  # seconds by which two clocks may differ unnoticed


def doctor(file: SiteOption = FILE) -> None:
    """Check what a site needs: its file, the coordinator, its token, the agreement, the clocks; or the other sites.

    Exits with code 1 if something is wrong.

    Example: `cboc doctor`
    """
    is_well = True
    for what, finding, is_good in _examine(file):
        is_well &= is_good
        typer.echo(f"{'ok ' if is_good else 'BAD'}  {what}: {finding}")
    if not is_well:
        raise typer.Exit(1)


def _examine(file: Path) -> Iterator[tuple[str, str, bool]]:
    """Run the checks in order: name, finding, and whether it is good; later checks need the earlier ones."""
    yield "cboc", __version__, True
    try:
        site = site_of(file)
    except CbocError as error:
        yield "site file", str(error), False
        return
    yield "site file", f"{file}, '{site.name}' in '{site.study.name}', {len(site.trials)} trials", True
    from cboc.joining import connect, feeds  # here: they need an extra, which has been checked by now

    own = [each for each in (file, feeds.feeds_path(file)) if each.exists()]  # outcomes and token, keys
    shown = " ".join(str(each) for each in own if is_open_to_others(each))
    yield "privacy", f"others can read it: chmod 600 {shown}" if shown else "only you can read the file", not shown
    if feeds.is_address(SiteFile(file).about["url"]):
        yield from _others(site)
        return
    network = connect(SiteFile(file), QUICK)
    try:
        ahead = network.clock() - time.time()
    except CbocError as error:
        yield "coordinator", str(error), False
        return
    yield "coordinator", f"{network.client.url} answers", True
    is_safe = is_private(network.client.url)
    yield "encryption", "HTTPS, or this machine" if is_safe else "plain HTTP: everybody on the way can read it", is_safe
    if abs(ahead) > SKEW:
        yield (
            "clocks",
            f"the coordinator's is {abs(ahead):.0f} s {'ahead' if ahead > 0 else 'behind'}; set one right",
            False,
        )
    else:
        yield "clocks", "the same", True
    try:
        there = network.membership()
    except CbocError as error:
        yield "token", str(error), False
        return
    yield "token", f"speaks for '{there.site}'", there.site == site.name
    try:
        check_newest(site.name, site.log.next_turn, there.turn)
    except CbocError as error:
        yield "copies", str(error), False
        return
    yield "copies", "the coordinator has no turn that is not in the file", True
    is_same = there.digest == site.study.digest
    yield (
        "agreement",
        f"{site.study.digest}, the same at both ends"
        if is_same
        else "differs from the coordinator's; cboc accept shows how",
        is_same,
    )


def _others(site: Site) -> Iterator[tuple[str, str, bool]]:
    """Whether the others can be reached where there is no coordinator."""
    try:
        standing = site.network.standing()
    except CbocError as error:
        yield "the others", str(error), False
        return
    yield "the others", standing.trouble or "can be reached", not standing.trouble
    for peer in standing.peers:
        wrong = peer.trouble or peer.silence
        unheard = (
            "" if peer.entries else "nothing was heard of it yet; has it joined this study, and has all come here?"
        )
        yield peer.site, wrong or unheard or f"{many(peer.entries, 'entry', 'entries')} known", not (wrong or unheard)
