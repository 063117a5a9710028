"""The commands `cboc feed`: feeds in a file, to go by mail or on a stick."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.cli.lab import site_of
from cboc.cli.notes import notes
from cboc.cli.show import many
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.errors import CbocError

if TYPE_CHECKING:
    from cboc.exchange.feeds.network import Feeds

HELP = """Exchange feeds by files, where no folder is shared: by mail, on a stick.

Example: `cboc feed export lab-a.cboc`, and at the others `cboc feed import lab-a.cboc`
"""
app = typer.Typer(no_args_is_help=True, help=HELP)


@app.command("export")
def write_feeds(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, such as lab-a.cboc.")],
    file: SiteOption = FILE,
) -> None:
    """Write this site's feed into a file, and what it may pass on of the others'. Nothing in it is an outcome.

    Hand it to the other sites in any way; they `cboc feed import` it, in any order, as often as they like.

    Example: `cboc feed export lab-a.cboc`
    """
    from cboc.exchange.feeds.bundle import TITLE, write_bundle

    if output.exists() and not output.read_bytes().startswith(TITLE):
        raise CbocError(f"{output} exists, and is not a file of feeds; choose another name.")
    network = _feeds(file)
    count = write_bundle(output, network.to_pass_on())
    said = f"Wrote {many(count, 'entry', 'entries')} to {output}: give it to the other sites."
    notes.print(f"{said} {network.standing().trouble}".strip())


@app.command("import")
def read_feeds(
    given: Annotated[Path, typer.Argument(metavar="FILE", help="A file that another site has exported.")],
    file: SiteOption = FILE,
) -> None:
    """Take in the feeds of a file. What is known already, damaged or not ours is left out, and said.

    Example: `cboc feed import lab-b.cboc`
    """
    from cboc.exchange.feeds.bundle import read_bundle
    from cboc.exchange.feeds.replica import Taken

    network = _feeds(file)
    damaged: list[None] = []
    entries = sorted(read_bundle(given, lambda: damaged.append(None)), key=lambda entry: entry.number)
    taken = Counter(network.bring(entry) for entry in entries)
    parts = [f"{taken[kind]} {kind}" for kind in Taken if taken[kind] or kind is Taken.NEW]
    read = many(sum(taken.values()), "entry", "entries")
    notes.print(f"{read} in {given}: {', '.join(parts)}. Next: {hint('ask', file)}.")
    if damaged:
        lines = many(len(damaged), "line")
        notes.print(f"{lines} of {given} left out: damaged, or cut off. Ask for the file again.", style="red")
    if taken[Taken.LATER]:
        notes.print("Some entries wait for earlier ones, which are in another file.")
    for reason in dict.fromkeys([*network.replica.troubles, *network.replica.refused.values()]):
        notes.print(f"Refused: {reason}.", style="red")


def _feeds(file: Path) -> Feeds:
    from cboc.exchange.feeds.network import Feeds

    network = site_of(file).network
    if not isinstance(network, Feeds):
        raise CbocError(f"{file} has joined through a coordinator, and has no feed; see cboc join --help.")
    return network
