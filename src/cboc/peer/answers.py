"""Who is given what. A request is answered if it comes from a neighbour that was added, with the keys of its code.

    own feed, feeds of common neighbours    whole
    feeds of all others                     without designs: those of stewards, or where the rule or a deadline needs it

Who is a neighbour follows from the newest version of the study that is in force. A site that was just admitted may not
know the number of that version: it is told what is agreed, and asks again.

So a design goes to neighbours of the site that proposed it, and to nobody else, whoever passes it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock

from cboc.errors import CbocError
from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.entry import DESIGNS, FeedEntry
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.keys import Identity
from cboc.exchange.feeds.record import needs_everybody
from cboc.exchange.feeds.replica import Feed, Replica, neighbours_of
from cboc.exchange.feeds.request import MOST_BYTES, MOST_ENTRIES, Known, Request, read_request
from cboc.exchange.study import Study
from cboc.exchange.wire import Misfit


class NotAllowed(CbocError):
    """Whoever asks is not answered. It learns no reason; the people of this site do."""


class Disagreement(CbocError):
    """A neighbour has another study."""

    def __init__(self, study: Study) -> None:
        self.agreement = study.agreement()
        super().__init__("this site has another study.")


@dataclass(frozen=True)
class Given:
    """The answer to a request: whom it is for, and entries as they are kept."""

    site: str
    lines: list[bytes]


class Answers:
    """The answers of one site, from its file of feeds as it is at that moment."""

    def __init__(self, file: FeedFile) -> None:
        self._file, self._addresses, self._lock = file, Addresses(file), Lock()
        self._code = file.keys.identity.fingerprint
        self._begin()

    def _begin(self) -> None:
        self.site, (first, *accepted) = self._file.membership()
        self._begun_with = self._file.facts().get("agreements")
        self._replica, self._read = Replica(first, accepted=accepted), 0
        self._versions = [first, *accepted]

    def _refresh(self) -> None:
        """Read what other processes of this site have written since: entries, and versions of the study."""
        if self._file.facts().get("agreements") != self._begun_with:  # a new site has found out about the past
            self._begin()
        entries, self._read = self._file.entries(self._read)
        self._replica.load(entries)
        if entries:
            self._versions = self._replica.in_force()
        self._replica.designs_of = {self.site, *self._neighbours(self.site)}

    def _neighbours(self, site: str) -> list[str]:
        """The neighbours of a site in the newest version of the study; it may be no site at all."""
        return neighbours_of(self._versions[-1], site) if self._versions[-1].has(site) else []

    def to(self, content: bytes) -> Given:
        """The answer to a request as it came; raises `NotAllowed` or `Disagreement`."""
        try:
            asked, identity = read_request(content)
        except Misfit as misfit:
            raise NotAllowed(f"it is not a request: {misfit}") from None
        with self._lock:
            self._refresh()
            self._check_allowed(asked, identity)
            if asked.study not in {study.digest for study in self._versions}:
                raise Disagreement(self._versions[-1])
            return Given(asked.site, list(_bounded(self._entries(asked))))

    def _check_allowed(self, asked: Request, identity: Identity) -> None:
        """Raise `NotAllowed` unless a request is one of a neighbour that was added, for this site."""
        if asked.to != self._code:
            raise NotAllowed("it is meant for another site, or for other keys of this one")
        if asked.site not in self._neighbours(self.site):
            raise NotAllowed("it comes from no neighbour")
        code = self._addresses.codes().get(asked.site)
        if code is None:
            raise NotAllowed(f"'{asked.site}' has not been added here; its code would be {identity.fingerprint}")
        if identity.fingerprint != code:
            raise NotAllowed(f"its keys are not those of '{asked.site}': their code is {identity.fingerprint}")

    def _entries(self, asked: Request) -> Iterator[FeedEntry]:
        """What the one that asks does not know, as far as it may."""
        neighbours, stewards = self._neighbours(asked.site), {s for study in self._versions for s in study.stewards}
        for site, feed in self._replica.feeds.items():
            if site not in asked.known:
                continue
            if site == asked.site or site in neighbours:
                yield from _unknown(feed, asked.known[site])
            elif needs_everybody(self._replica) or site in stewards:
                yield from (entry.without(DESIGNS) for entry in _unknown(feed, asked.known[site]))


def _unknown(feed: Feed, known: Known) -> Iterator[FeedEntry]:
    """The entries after those that are known, and both entries at which the feed has split.

    Whoever knows another last entry than this feed has there is given that one, so that it sees the split.
    """
    count, last = known
    is_same = count == 0 or (count <= len(feed.entries) and feed.entries[count - 1].hash == last)
    start = count if is_same else max(0, min(count, len(feed.entries)) - 1)
    yield from feed.entries[start:]
    yield from feed.fork or ()


def _bounded(entries: Iterable[FeedEntry]) -> Iterator[bytes]:
    """As many entries as fit into one answer: one at least."""
    size = 0
    for count, entry in enumerate(entries):
        if count == MOST_ENTRIES or size > MOST_BYTES:
            return
        content = entry.to_bytes()
        size += len(content)
        yield content
