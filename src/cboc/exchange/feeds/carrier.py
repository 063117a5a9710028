"""How feeds get from site to site: the seam for everything that can hold files or answer requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.replica import Replica


class Carrier(Protocol):
    """Copies entries. Both calls may be repeated, and raise `Unreachable` if the carrier does not work now."""

    @property
    def silent(self) -> Mapping[str, str]:
        """Why some sites could not be reached the last time, although others could; empty if all are in one place."""

    def give(self, replica: Replica, site: str) -> None:
        """Offer all entries of the own feed that the carrier does not have yet."""

    def take(self, replica: Replica, sites: Iterable[str]) -> Iterable[FeedEntry]:
        """The entries of these sites that the replica may not have yet, in any order."""


class Nowhere:
    """A carrier that brings nothing: entries go by hand."""

    silent: Mapping[str, str] = {}

    def give(self, replica: Replica, site: str) -> None:
        """Do nothing."""

    def take(self, replica: Replica, sites: Iterable[str]) -> Iterable[FeedEntry]:  # noqa: ARG002
        return ()
