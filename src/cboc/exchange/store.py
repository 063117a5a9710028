"""Where a ledger keeps its facts: proposals, closed states, departures. Each is added once and never changes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cboc.exchange.messages import Proposal

AHEAD = 60.0  # seconds by which a round may have begun in the future: processes wait for each other and the database


@dataclass(frozen=True)
class Entry:
    """A proposal, and where it belongs in the record of a study."""

    state: int  # the round it is in; at the free pace, its own number among all arrivals
    proposal: Proposal
    before: int = 0  # experiments that the site had proposed earlier, t_k
    at: float | None = None  # when it arrived, in seconds since 1970
    version: int = 0  # of the agreement under which it was made

    @property
    def after(self) -> int:
        """Experiments that the site has proposed with this one."""
        return self.before + len(self.proposal.X)


class Facts(Protocol):
    """The facts of one study, to be read."""

    @property
    def closed(self) -> int:
        """The number of closed states, 0 .. closed - 1."""

    @property
    def opened_at(self) -> float | None:
        """When the first proposal of the open round arrived, in seconds since 1970; None if there is none yet."""

    def entries(self, state: int) -> Mapping[str, Entry]:
        """All entries of a state, by site."""

    def latest_of_all(self, state: int) -> Mapping[str, Entry]:
        """The last entry of every site that has one, up to and including this state."""

    def experiments(self, state: int) -> Mapping[str, int]:
        """How many experiments every site that has any has proposed, up to and including this state."""

    def latest(self, site: str) -> Entry | None:
        """The last entry of a site."""

    def find(self, site: str, turn: int) -> Entry | None:
        """The entry of a site for one of its turns."""

    def states(self, site: str, last: int) -> Sequence[int]:
        """The states of a site's entries, in order, up to and including `last`."""

    def accepted(self, site: str) -> int:
        """The version of the agreement that a site has accepted; 0 if it has not said so of any other."""

    @property
    def departures(self) -> int:
        """How often a site has left, or has come back: cheaper to read than who they are."""

    @property
    def left(self) -> frozenset[str]:
        """The sites that have left."""


class Store(Facts, Protocol):
    """The facts of one study, and what a ledger adds to them."""

    def add(self, entry: Entry, opened_at: float | None = None) -> None:
        """Keep a proposal; `opened_at` is given with the first one of a round that has a deadline."""

    def reopen(self, opened_at: float) -> None:
        """Keep that the open round counts from another time."""

    def close(self) -> None:
        """Close the open state; the next one opens with its first proposal."""

    def leave(self, site: str) -> None:
        """Keep that a site has left."""

    def come_back(self, site: str) -> None:
        """Keep that a site that had left takes part again."""

    def accept(self, site: str, version: int) -> None:
        """Keep that a site has accepted a version of the agreement; one that had left comes back by that."""


class MemoryStore:
    """A store that lasts as long as the process."""

    def __init__(self) -> None:
        self._states: list[dict[str, Entry]] = [{}]
        self._turns: dict[str, dict[int, Entry]] = {}
        self._record: dict[str, list[Entry]] = {}  # in the order of arrival
        self.closed = 0
        self.opened_at: float | None = None
        self.left: frozenset[str] = frozenset()
        self.departures = 0
        self._accepted: dict[str, int] = {}

    def add(self, entry: Entry, opened_at: float | None = None) -> None:
        site = entry.proposal.site
        self._states[entry.state][site] = entry
        self._turns.setdefault(site, {})[entry.proposal.turn] = entry
        self._record.setdefault(site, []).append(entry)
        self.opened_at = self.opened_at if opened_at is None else opened_at

    def entries(self, state: int) -> Mapping[str, Entry]:
        return self._states[state] if state < len(self._states) else {}

    def latest_of_all(self, state: int) -> Mapping[str, Entry]:
        found = ((site, bisect_right(entries, state, key=_state)) for site, entries in self._record.items())
        return {site: self._record[site][count - 1] for site, count in found if count}

    def experiments(self, state: int) -> Mapping[str, int]:
        return {site: entry.after for site, entry in self.latest_of_all(state).items()}

    def latest(self, site: str) -> Entry | None:
        entries = self._record.get(site)
        return entries[-1] if entries else None

    def find(self, site: str, turn: int) -> Entry | None:
        return self._turns.get(site, {}).get(turn)

    def states(self, site: str, last: int) -> Sequence[int]:
        return [entry.state for entry in self._record.get(site, ()) if entry.state <= last]

    def reopen(self, opened_at: float) -> None:
        self.opened_at = opened_at

    def close(self) -> None:
        self.closed, self.opened_at = self.closed + 1, None
        self._states.append({})

    def leave(self, site: str) -> None:
        self.left, self.departures = self.left | {site}, self.departures + 1

    def come_back(self, site: str) -> None:
        self.left, self.departures = self.left - {site}, self.departures + 1

    def accept(self, site: str, version: int) -> None:
        self.come_back(site)
        self._accepted[site] = version

    def accepted(self, site: str) -> int:
        return self._accepted.get(site, 0)


def _state(entry: Entry) -> int:
    return entry.state
