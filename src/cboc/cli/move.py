"""The command `cboc move`: the study of a site goes on elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from cboc.cli.address import check_way, is_private
from cboc.cli.lab import Certificate, Git, needs, site_file
from cboc.cli.notes import notes
from cboc.cli.show import many
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.exchange.invitation import is_invitation
from cboc.exchange.network import WithoutCentre


def move(
    address: Annotated[
        str, typer.Argument(help="A shared folder, folder:PATH, an invitation file, or https://HOST:PORT.")
    ],
    code: Annotated[str | None, typer.Argument(help="The invitation, for a coordinator.", show_default=False)] = None,
    sealed: Annotated[
        bool | None,
        typer.Option(
            "--sealed/--no-sealed",
            help="In a folder: encrypt for the site's neighbours; if not said, as in the folder before.",
            show_default=False,
        ),
    ] = None,
    git: Git = None,
    certificate: Certificate = None,
    file: SiteOption = FILE,
) -> None:
    """Move the site to another place of its study: from a coordinator to a shared folder, or back.

    Every site moves, in any order. From a coordinator, which may be gone by then, the site takes its past turns with
    it. A coordinator first takes over what all sites have exported: `cboc serve STUDY.toml --feeds FILE`. If this is
    interrupted, run it again: until it is done the site stays where it was.

    Examples: `cboc move folder:~/Nextcloud/ours`, `cboc move lab-b.cboc`,
    `cboc move https://cboc.example.org 8Zk...`
    """
    before = site_file(file).about["url"]
    needs("page", "httpx2", "cryptography")
    from cboc.joining import move
    from cboc.joining.feeds import is_address

    check_way(address)
    if not is_address(address) and not is_invitation(address) and not is_private(address):
        notes.print(f"{address} is not HTTPS: anybody on the way can read designs and speak for the site.", style="red")
    text = None if certificate is None else certificate.read_text(encoding="ascii", errors="replace")
    site = move(address, code, storage=file, certificate=text, sealed=sealed, git=git)
    notes.print(f"'{site.name}' of '{site.study.name}' has moved from {before} to {site_file(file).about['url']}.")
    if isinstance(site.network, WithoutCentre):
        standing = site.network.known()
        there = [peer.site for peer in standing.peers if peer.entries]
        missing = [peer.site for peer in standing.peers if not peer.entries]
        notes.print(
            f"Its code is {standing.code}; {many(len(there), 'neighbour')} there"
            f"{f', not yet {chr(44).join(missing)}' if missing else ''}. {standing.trouble}".strip()
        )
    notes.print(f"Next: {hint('ask', file)}.")
