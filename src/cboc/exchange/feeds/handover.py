"""The past of a study, for a coordinator to go on from: all entries of all feeds, in an order that it can have had.

In rounds that is their order. At the free pace an entry comes after all that its site had seen; of several that could
come next, the one of the first site in the study does. Answers were given before, and are not computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cboc.errors import CbocError
from cboc.exchange.feeds.bundle import read_bundle
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Feed, Replica
from cboc.exchange.store import Entry
from cboc.exchange.study import Study


@dataclass(frozen=True)
class Handover:
    """The entries of every closed state, those of the open round, and the sites that have left."""

    closed: Sequence[Sequence[Entry]]
    open: Sequence[Entry]
    left: frozenset[str]

    @property
    def turns(self) -> Mapping[str, int]:
        """The number of turns of every site that has taken any."""
        return Counter(entry.proposal.site for entries in (*self.closed, self.open) for entry in entries)


def read_handover(study: Study, paths: Iterable[Path]) -> Handover:
    """The past of a study from the files that its sites have exported; raises one sentence if some are missing."""
    entries = [entry for path in paths for entry in read_bundle(path)]
    if not any(entry.study == study.digest for entry in entries):
        raise CbocError(f"these files hold no entry of study '{study.name}' with these terms; are they of another one?")
    replica = Replica(study)
    replica.designs_of = study.sites
    replica.load(sorted(entries, key=lambda entry: entry.number))
    if replica.troubles:
        raise CbocError(f"{replica.troubles[0]}; a coordinator cannot go on from this.")
    record = Record(replica, study.sites[0], is_official=True, is_whole=True)
    if missing := _missing(record):
        raise CbocError(
            f"the coordinator needs the designs of all sites, and what {' and '.join(missing)} did is not all in these "
            "files: let each of them run cboc feed export, and give these files as well."
        )
    left = frozenset(feed.site for feed in replica.feeds.values() if feed.has_left)
    if not study.pace.waits:
        return Handover([[entry] for entry in _arrivals(record)], (), left)
    closed = [list(record.entries(state).values()) for state in range(record.closed)]
    return Handover(closed, list(record.entries(record.closed).values()), left)


def _missing(record: Record) -> list[str]:
    """The sites of which others have seen more than is here."""
    feeds = record.replica.feeds
    seen = dict.fromkeys(record.study.sites, 0)
    for feed in feeds.values():
        for said in (entry.said or {} for entry in feed.entries):
            for site in said.get("present") or ():
                seen[site] = max(seen[site], 1)
            for site, count in (said.get("seen") or {}).items():
                seen[site] = max(seen[site], count)
    missing = {site for site, count in seen.items() if count > len(feeds[site].entries) or feeds[site].later}
    missing |= {feed.site for feed in feeds.values() if feed.entries and len(feed.turns) < feed.moved}
    if record.study.pace.waits and max(record.rounds, default=0) > record.closed:  # they went on, so it was closed
        missing |= set(record.missing())
    return [site for site in record.study.sites if site in missing]


def _arrivals(record: Record) -> list[Entry]:
    """The turns of all sites at the free pace, in an order in which they can have arrived."""
    feeds = record.replica.feeds
    done = {site: feed.moved + 1 for site, feed in feeds.items()}  # entries of every feed that have arrived
    moved = [entry for feed in feeds.values() for entry in feed.turns[: feed.moved]]
    found = sorted(moved, key=lambda entry: int((entry.said or {})["state"]))
    while (following := _next(feeds.values(), done)) is not None:
        found.append(following)
        done[following.site] = following.number + 1
    return [record.entry(entry, state) for state, entry in enumerate(found)]


def _next(feeds: Iterable[Feed], done: dict[str, int]) -> FeedEntry | None:
    """The next turn of the first site that had seen no more than what has arrived; None if there is no turn left."""
    waiting = [next((turn for turn in feed.turns if turn.number >= done[feed.site]), None) for feed in feeds]
    left = [turn for turn in waiting if turn is not None]
    for turn in left:
        seen = (turn.said or {}).get("seen") or {}
        if all(_has_arrived(feed, count, done) for feed in feeds if (count := seen.get(feed.site, 0))):
            return turn
    if left:
        raise CbocError(f"'{left[0].site}' and others have seen what came after them; a coordinator cannot go on.")
    return None


def _has_arrived(feed: Feed, count: int, done: dict[str, int]) -> bool:
    """Whether the turns among the first entries of a feed have arrived."""
    return all(turn.number < done[feed.site] for turn in feed.turns if turn.number < count)
