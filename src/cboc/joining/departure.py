"""Whether a site has left its study, in the site's file."""

from __future__ import annotations

import time

from cboc.site.ending import way_back
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile

LEFT_AT = "left_at"  # in seconds since 1970; null, or not there, while the site takes part


class KeptDeparture:
    """The `Departure` of a site in its file, which other processes of the site read as well."""

    def __init__(self, file: SiteFile) -> None:
        self._file = file

    @property
    def is_kept(self) -> bool:
        return left_at(self._file) is not None

    def keep(self) -> None:
        if not self.is_kept:
            self._file.remember(**{LEFT_AT: time.time()})


def left_at(file: SiteFile) -> float | None:
    """When the site left its study, in seconds since 1970; None if it takes part."""
    at: float | None = file.about.get(LEFT_AT)
    return at


def come_back(file: SiteFile) -> dict[str, None]:
    """The facts to keep when a site takes part again; none if it never left."""
    return {} if left_at(file) is None else {LEFT_AT: None}


def what_happens(site: Site) -> list[str]:
    """What it means if a site leaves now, line by line."""
    waits = ", and wait for it no more" if site.study.pace.waits else ""
    best = " and the best designs" if site.study.shares_best else ""
    running = len(site.to_run)
    which = "the experiment that is" if running == 1 else f"the {running} experiments that are"
    still = f"; {which} open may still be told" if running else ""
    return [
        f"The others of '{site.study.name}' go on without '{site.name}'{waits}.",
        f"What was shared stays with them: the proposals{best} so far.",
        f"Its own data stay in its file{still}.",
        f"It takes no further turns; {way_back(site.network)}.",
    ]
