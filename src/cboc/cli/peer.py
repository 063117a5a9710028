"""The commands `cboc peer`: sites that reach each other over HTTPS, without anything in between."""

from __future__ import annotations

import socket
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from cboc.cli.lab import needs
from cboc.cli.notes import notes
from cboc.cli.show import Format, Row, write
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.cli.standing import local_time
from cboc.errors import CbocError
from cboc.exchange.network import Unreachable

if TYPE_CHECKING:
    from cboc.exchange.feeds.feedfile import FeedFile

HELP = """Reach the other sites directly over HTTPS, without a coordinator and without a folder.

Every site serves, and adds its neighbours by the command that `cboc peer serve` prints there.

Example: `cboc peer serve --address https://lab-a.example.org:8443`
"""
PORT = 8443
EVERYWHERE = ("0.0.0.0", "::")
app = typer.Typer(no_args_is_help=True, help=HELP)


@app.command()
def serve(
    file: SiteOption = FILE,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = EVERYWHERE[0],
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port to listen on; 0 for any free one.", show_default="that of the address, or 8443"
        ),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="How the neighbours reach it.", show_default="this machine's name")
    ] = None,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two questions to the neighbours.")] = 30.0,
) -> None:
    """Offer what this site has to its neighbours, and to nobody else, until interrupted.

    It reads the site's file of feeds alone, in which there is no outcome. Now and then it asks the neighbours for what
    is new. Give them the command that it prints, in a way that you trust.

    Example: `cboc peer serve --address https://lab-a.example.org:8443`
    """
    needs("page", "uvicorn", "starlette", "httpx2")
    from cboc.exchange.feeds.addresses import as_address
    from cboc.peer.serving import listening
    from cboc.peer.serving import serve as serve_feeds

    kept = _feeds_of(file)
    kept.membership()
    given = address or kept.about.get("given address")
    usual = PORT if given is None else urlsplit(as_address(given)).port or PORT
    with listening(host, usual if port is None else port) as listener:
        port = listener.getsockname()[1]
        kept.remember(address=as_address(given or f"https://{_name_of(host)}:{port}"), **{"given address": given})
        typer.echo(f"At the neighbours: {_invitation(kept)}")
        notes.print(f"Serving on port {port}, over HTTPS, for the neighbours that were added. Ctrl-C stops it.")
        try:
            serve_feeds(kept, listener, every, lambda sentence: notes.print(sentence))
        except KeyboardInterrupt:
            notes.print("Stopped.")


@app.command()
def add(
    site: Annotated[str, typer.Argument(help="The neighbour's name in the study.")],
    address: Annotated[str, typer.Argument(help="Where it is, https://HOST:PORT.")],
    code: Annotated[str, typer.Argument(help="Its code, as its people have given it to you.")],
    again: Annotated[bool, typer.Option("--again", help="Correct a code that was mistyped before.")] = False,
    file: SiteOption = FILE,
) -> None:
    """Add a neighbour, or move it to another address. It has to be added on both sides.

    Whoever answers at the address is asked for its keys: only those that have this code are taken.

    Example: `cboc peer add lab-a https://lab-a.example.org:8443 12345-67890-12345-67890-12345-67890`
    """
    needs("page", "httpx2", "cryptography")
    from cboc.exchange.feeds.addresses import Addresses

    kept = _feeds_of(file)
    added = Addresses(kept).add(site, address, code, is_correction=again)
    try:
        _meet(kept, site)
        notes.print(f"Added {site}: it answers at {added.address}, and its keys have the code {added.code}.")
    except Unreachable as error:
        notes.print(f"Added {site}. {error} It is asked again each time.")
    if "address" in kept.about:
        typer.echo(f"At {site}, if it was not done yet: {_invitation(kept)}")
    else:
        notes.print(f"Next: {hint('peer serve', file)}, which prints the command to run at {site}.")


@app.command("list")
def list_peers(
    file: SiteOption = FILE, format: Annotated[Format, typer.Option(help="How to print it.")] = Format.TABLE
) -> None:
    """Show the neighbours: where they are, their codes, what was heard of them, and whether they answer.

    Example: `cboc peer list`
    """
    needs("page", "httpx2", "cryptography")
    from cboc.exchange.feeds.addresses import Addresses
    from cboc.exchange.feeds.arrival import between_peers
    from cboc.exchange.feeds.replica import neighbours_of

    kept = _feeds_of(file)
    network, added = between_peers(kept), Addresses(kept).all()
    peers = {peer.site: peer for peer in network.standing().peers}
    rows: list[Row] = []
    for site in neighbours_of(network.study, network.site):
        peer, there = peers[site], added.get(site)
        rows.append(
            {
                "site": site,
                "address": "" if there is None else there.address,
                "code": "" if there is None else there.code,
                "entries": peer.entries,
                "heard": "" if peer.heard_at is None else local_time(peer.heard_at),
                "now": peer.trouble or peer.silence or "answers",
            }
        )
    typer.echo(write(rows, format))
    notes.print(f"At the neighbours: {_invitation(kept)}")


def _meet(kept: FeedFile, site: str) -> None:
    """Find out whether a neighbour is there, is who it should be, and has the same study; raises `Unreachable`."""
    from cboc.exchange.feeds.arrival import between_peers

    silences = {peer.site: peer.silence for peer in between_peers(kept).standing().peers}
    if silence := silences.get(site, f"'{site}' is asked once this site has accepted the change of the study."):
        raise Unreachable(silence)


def _feeds_of(file: Path) -> FeedFile:
    from cboc.exchange.feeds.feedfile import FeedFile
    from cboc.joining.feeds import feeds_path

    path = feeds_path(file)
    if not path.exists():
        raise CbocError(f"there is no file of feeds {path}; cboc join peers: makes one, --file names another site.")
    return FeedFile(path)


def _invitation(kept: FeedFile) -> str:
    """The command by which neighbours add this site."""
    address = kept.about.get("address", "https://HOST:PORT")
    return f"cboc peer add {quote(kept.about['site'])} {address} {kept.keys.identity.fingerprint}"


def _name_of(host: str) -> str:
    return socket.getfqdn() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
