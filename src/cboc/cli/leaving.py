"""The command `cboc leave`: a site leaves its study, and the others go on without it."""

from __future__ import annotations

from typing import Annotated

import typer

from cboc.cli.agreeing import is_agreed
from cboc.cli.lab import QUICK, site_file, site_of
from cboc.cli.notes import notes
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.errors import CbocError


def leave(
    file: SiteOption = FILE,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Leave the study: the others go on without this site, and wait for it no more. Asks first.

    What the site has shared stays with the others. Its own data stay in its file, and experiments that are open may
    still be told. With a coordinator, a new invitation brings the site back, with this file, where it was; without one
    it has left for good. If the others cannot be reached now, that is kept, and they are told at the next `cboc ask`.

    Example: `cboc leave`
    """
    site = site_of(file, patience=QUICK)
    from cboc.joining.departure import what_happens  # a site that has joined has what these need
    from cboc.joining.feeds import how_they_hear

    if not site.has_left:
        typer.echo("\n".join(what_happens(site)))
        if not yes and not is_agreed(f"Leave study '{site.study.name}'?", "leave"):
            raise CbocError("nothing was changed; the site takes part as before.")
    trouble = site.leave()
    said = f"'{site.name}' has left study '{site.study.name}'."
    if trouble:
        kept = f"It is kept, and said again by {hint('ask', file)} or {hint('leave', file)}."
        notes.print(f"{said} The others have not heard that yet: {trouble} {kept}")
    else:
        notes.print(f"{said} {how_they_hear(site_file(file))}".rstrip())
