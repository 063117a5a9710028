"""Telling people what becomes of a command that may take long, if they want that."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cboc.cli.notes import notes
from cboc.errors import CbocError
from cboc.site.site import Site

if TYPE_CHECKING:
    from cboc.notifying.notifier import Notifier

PATIENCE = 15.0  # seconds for what is under way when a command ends


@contextmanager
def notifying(site: Site, file: Path) -> Iterator[Notifier]:
    """Notify people if the block ends with an error that concerns them; the block tells of anything else by itself.

    At the end, what is under way has a little time.
    """
    from cboc.notifying.notifier import Notifier  # most commands notify nobody

    notifier, patience = Notifier(file, lambda sentence: notes.print(sentence)), PATIENCE
    try:
        yield notifier
    except CbocError as error:
        notifier.ended(site, error)
        raise
    except KeyboardInterrupt:
        patience = 0.0
        raise
    finally:
        notifier.wait(patience)


def on_screen(site: Site, file: Path) -> None:
    """Show on this computer's screen that there are experiments to run, and ring the terminal's bell."""
    from cboc.notifying.desktop import show
    from cboc.notifying.notification import Event, about

    if sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()
    if trouble := show(about(site, Event.RUN, file.name, site.to_run)):
        notes.print(f"No notification on the screen: {trouble}.")
