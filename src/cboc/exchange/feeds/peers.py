"""Peers as a carrier: every site offers what it has to its neighbours over HTTPS, and asks them for what is new.

    at first    each neighbour is asked for its own feed, all of them at once
    then        what is still missing of other feeds is asked for elsewhere, one neighbour after the other

The second step is for feeds of neighbours that do not answer, and for those of everybody where the rule or a deadline
needs them. Whoever is asked gives a design only to neighbours of the site that proposed it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any

from cboc.exchange.feeds.addresses import Addresses, Neighbour
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.request import MOST_SITES, Known, Request, known_of
from cboc.exchange.feeds.visit import PATIENCE, OtherStudy, Visit
from cboc.exchange.network import Unreachable

MOST_AT_ONCE = 32  # neighbours that are asked at the same time
LONGEST = 10.0  # times the patience with one answer: for all of them
PAUSE = 20.0  # seconds in which a neighbour that has let this site wait is not asked again
MOST_ANSWERS = 100  # that are taken from a neighbour in a row; the rest comes the next time
NO_TIME = "there was no time left to ask '{}'."
NOT_ADDED = "'{}' has not been added here yet; cboc peer add says where it is."


class Peers:
    """The neighbours of one site, as far as they were added to its file of feeds."""

    def __init__(self, site: str, keys: Keys, addresses: Addresses, patience: float = PATIENCE) -> None:
        self.site, self._keys, self._addresses, self._patience = site, keys, addresses, patience
        self.silent: Mapping[str, str] = {}
        self.other_studies: list[Mapping[str, Any]] = []  # that neighbours have, as far as they have answered so
        self._spared: dict[str, float] = {}  # until when a neighbour that has let this site wait is not asked again

    def give(self, replica: Replica, site: str) -> None:
        """Do nothing: the neighbours come and fetch it."""

    def take(self, replica: Replica, sites: Iterable[str]) -> Iterator[FeedEntry]:
        """What the neighbours have that is not known here; some of them may not answer, but not all."""
        self.other_studies = []
        there, neighbours = self._addresses.all(), replica.neighbours(self.site)
        silent = {site: NOT_ADDED.format(site) for site in neighbours if site not in there}
        wanted = {site for site in sites if site not in silent and not replica.feeds[site].trouble}
        added = [there[site] for site in neighbours if site in there]
        spared = {each.site for each in added if time.monotonic() < self._spared.get(each.site, 0.0)}
        silent |= {site: self.silent.get(site, "") for site in spared}
        answering: list[Visit] = []
        with ExitStack() as stack:
            visits = [stack.enter_context(self._visit(each)) for each in added if each.site not in spared]
            for visit, answer in self._ask_all(visits, replica, wanted):
                try:
                    yield from answer.result()
                    answering.append(visit)
                except (Unreachable, CancelledError) as error:
                    self.other_studies += [error.agreement] if isinstance(error, OtherStudy) else []
                    silent[visit.neighbour.site] = str(error) or NO_TIME.format(visit.neighbour.site)
            self.silent = silent
            if added and not answering:
                raise Unreachable(" ".join(silent[each.site] for each in added))
            heard = {visit.neighbour.site for visit in answering}
            yield from self._rest(replica, answering, wanted - {self.site, *heard})

    def _visit(self, neighbour: Neighbour) -> Visit:
        return Visit(self._keys, self._addresses, neighbour, self._patience)

    def _ask_all(
        self, visits: list[Visit], replica: Replica, wanted: set[str]
    ) -> list[tuple[Visit, Future[list[FeedEntry]]]]:
        """The answers of all neighbours to the question for their own feeds, and for what they know of this one."""
        threads, asked = ThreadPoolExecutor(MOST_AT_ONCE), []
        for visit in visits:
            known = self._known(replica, {visit.neighbour.site, self.site} & wanted)
            asked.append((visit, threads.submit(self._ask, visit, replica, known)))
        wait([answer for _, answer in asked], LONGEST * self._patience)
        for visit, answer in asked:
            if not answer.done():
                visit.close()
        threads.shutdown(cancel_futures=True)
        return asked

    def _rest(self, replica: Replica, visits: list[Visit], wanted: set[str]) -> Iterator[FeedEntry]:
        """What can be had of other feeds from those that answer; they are asked only for what is still missing."""
        rest = [site for site in replica.feeds if site in wanted]
        for start in range(0, len(rest), MOST_SITES):
            for visit in visits:
                try:
                    yield from self._ask(visit, replica, self._known(replica, rest[start : start + MOST_SITES]))
                except Unreachable:
                    continue  # it has just answered, and will again

    def _ask(self, visit: Visit, replica: Replica, known: dict[str, Known]) -> list[FeedEntry]:
        """All entries of these feeds that a neighbour has and that are not known here, in several answers if many."""
        found: list[FeedEntry] = []
        study, neighbour, began = replica.study, visit.neighbour, time.monotonic()
        for _ in range(MOST_ANSWERS):
            try:
                answer = visit.ask(study, Request(study.digest, self.site, neighbour.code, known))
            except Unreachable:
                if found:
                    break
                if time.monotonic() - began >= self._patience:
                    self._spared[neighbour.site] = time.monotonic() + PAUSE
                raise
            new = [entry for entry in answer if entry.site in known and entry.number >= known[entry.site][0]]
            found += [entry for entry in answer if entry.site in known]
            if not new:
                break
            known |= {entry.site: (entry.number + 1, entry.hash) for entry in new}
        return found

    def _known(self, replica: Replica, sites: Iterable[str]) -> dict[str, Known]:
        """How much of these feeds is known here: of neighbours, what came with its designs."""
        found = {}
        seen = {self.site, *replica.neighbours(self.site)}
        for site in sites:
            feed = replica.feeds[site]
            missing = (k for k, entry in enumerate(feed.entries) if site in seen and not entry.is_whole)
            found[site] = known_of(feed.entries[: next(missing, len(feed.entries))])
        return found
