"""Where a ledger keeps its facts: proposals, closed rounds, departures. Each is added once and never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cboc.exchange.messages import Proposal


@dataclass(frozen=True)
class Entry:
    """A proposal, and the round it belongs to."""

    round: int
    proposal: Proposal


@dataclass(frozen=True)
class Closure:
    """The closing of a round, with the sites in it."""

    round: int
    present: tuple[str, ...]


class Store(Protocol):
    """The facts of one study."""

    @property
    def closed(self) -> int:
        """The number of closed rounds, 0 .. closed - 1."""

    @property
    def opened_at(self) -> float | None:
        """When the first proposal of the open round arrived, in seconds since 1970; None if there is none yet."""

    def add(self, entry: Entry, opened_at: float | None = None) -> None:
        """Keep a proposal; `opened_at` is given with the first one of a round."""

    def proposals(self, round: int) -> Mapping[str, Proposal]:
        """All proposals of a round, by site."""

    def latest(self, site: str) -> Entry | None:
        """The last proposal of a site."""

    def find(self, site: str, turn: int) -> Entry | None:
        """The proposal of a site for one of its turns."""

    def close(self, closure: Closure) -> None:
        """Close the open round; the next one opens with its first proposal."""

    def leave(self, site: str) -> None: ...

    @property
    def left(self) -> frozenset[str]:
        """The sites that have left."""


class MemoryStore:
    """A store that lasts as long as the process."""

    def __init__(self) -> None:
        self._rounds: list[dict[str, Proposal]] = [{}]
        self._entries: dict[str, dict[int, Entry]] = {}
        self.closed = 0
        self.opened_at: float | None = None
        self.left: frozenset[str] = frozenset()

    def add(self, entry: Entry, opened_at: float | None = None) -> None:
        self._rounds[entry.round][entry.proposal.site] = entry.proposal
        self._entries.setdefault(entry.proposal.site, {})[entry.proposal.turn] = entry
        self.opened_at = self.opened_at if opened_at is None else opened_at

    def proposals(self, round: int) -> Mapping[str, Proposal]:
        return self._rounds[round] if round < len(self._rounds) else {}

    def latest(self, site: str) -> Entry | None:
        return next(reversed(self._entries.get(site, {}).values()), None)

    def find(self, site: str, turn: int) -> Entry | None:
        return self._entries.get(site, {}).get(turn)

    def close(self, closure: Closure) -> None:
        self.closed, self.opened_at = closure.round + 1, None
        self._rounds.append({})

    def leave(self, site: str) -> None:
        self.left |= {site}
