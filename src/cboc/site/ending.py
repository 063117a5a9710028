"""Why a site takes no more turns: it has finished, or it has left its study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cboc.errors import CbocError
from cboc.exchange.network import Network, WithoutCentre

UNTOLD = " The others have not heard that yet ({}): it is said again at the next try."
FOR_GOOD = "the others take nothing more from it, and that cannot be taken back"
UNTIL_INVITED = "a new invitation brings it back"


class Finished(CbocError):
    """The budget is used, the utility fell below the site's own threshold, or the site has left."""


class Left(Finished):
    """The site has left its study; `trouble` says why the others have not heard that yet, if so."""

    def __init__(self, site: str, study: str, network: Network, trouble: str = "") -> None:
        self.trouble = trouble
        rest = UNTOLD.format(trouble.rstrip(".")) if trouble else ""
        super().__init__(f"site '{site}' has left study '{study}', and takes no more turns; {way_back(network)}.{rest}")


class Departure(Protocol):
    """Whether a site has left its study; that is kept before anybody is told."""

    @property
    def is_kept(self) -> bool:
        """Whether the site has left."""

    def keep(self) -> None:
        """Keep that the site has left."""


@dataclass
class Unwritten:
    """The departure of a site whose trials are nowhere but in its process."""

    is_kept: bool = False

    def keep(self) -> None:
        self.is_kept = True


def way_back(network: Network) -> str:
    """How a site that has left takes part again, in words."""
    return FOR_GOOD if isinstance(network, WithoutCentre) else UNTIL_INVITED


def say_left(network: Network, site: str) -> str:
    """Tell the others that a site has left, as often as you like; returns why they have not heard it, or ''."""
    try:
        if isinstance(network, WithoutCentre):
            network.end()
        else:
            network.leave(site)
    except CbocError as error:
        return str(error)
    return ""
