"""Who is given what. A request is answered if it comes from a neighbour that was added, with the keys of its code.

    own feed, feeds of common neighbours    whole
    feeds of all others                     without designs, and only where the rule or a deadline needs them

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
from cboc.exchange.feeds.record import needs_everybody
from cboc.exchange.feeds.replica import Feed, Replica
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
        self._file, self._addresses = file, Addresses(file)
        self.site, self.study = file.membership()
        self._code = file.keys.identity.fingerprint
        self._replica, self._read, self._lock = Replica(self.study), 0, Lock()
        self._replica.designs_of = {self.site, *self._replica.neighbours(self.site)}

    def to(self, content: bytes) -> Given:
        """The answer to a request as it came; raises `NotAllowed` or `Disagreement`."""
        asked = self._allowed(content)
        if asked.study != self.study.digest:
            raise Disagreement(self.study)
        with self._lock:
            entries, self._read = self._file.entries(self._read)
            self._replica.load(entries)
            return Given(asked.site, list(_bounded(self._entries(asked))))

    def _allowed(self, content: bytes) -> Request:
        """The request, if it is one of a neighbour that was added, for this site."""
        try:
            asked, identity = read_request(content)
        except Misfit as misfit:
            raise NotAllowed(f"it is not a request: {misfit}") from None
        if asked.to != self._code:
            raise NotAllowed("it is meant for another site, or for other keys of this one")
        if asked.site not in self._replica.neighbours(self.site):
            raise NotAllowed("it comes from no neighbour")
        code = self._addresses.codes().get(asked.site)
        if code is None:
            raise NotAllowed(f"'{asked.site}' has not been added here; its code would be {identity.fingerprint}")
        if identity.fingerprint != code:
            raise NotAllowed(f"its keys are not those of '{asked.site}': their code is {identity.fingerprint}")
        return asked

    def _entries(self, asked: Request) -> Iterator[FeedEntry]:
        """What the one that asks does not know, as far as it may."""
        for site, feed in self._replica.feeds.items():
            if site not in asked.known:
                continue
            if site == asked.site or site in self._replica.neighbours(asked.site):
                yield from _unknown(feed, asked.known[site])
            elif needs_everybody(self._replica) or site in self.study.stewards:
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
