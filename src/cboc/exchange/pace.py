"""The pace of a study: from which proposals a turn is answered, and when.

    rounds   from those of its round, when it closes: the paper's pace, at which everybody waits for the slowest
    free     from the latest of everybody, at once: nobody waits

Every answer names the state that it was made from: the number of a round, or of an arrival. A state never changes, so
any run can be replayed bit for bit from the record of arrivals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from typing import ClassVar

from cboc.errors import CbocError, did_you_mean
from cboc.exchange.store import Entry, Facts


class Pace(ABC):
    """A pace decides when proposals are mixed, and which."""

    name: ClassVar[str]
    waits: ClassVar[bool]  # whether a site may have to wait for others

    @abstractmethod
    def is_complete(self, expected: Set[str], present: Set[str]) -> bool:
        """Whether the open state can be closed at once."""

    @abstractmethod
    def entries(self, facts: Facts, state: int) -> Mapping[str, Entry]:
        """The entries, by site, from which the answers of a closed state are made."""

    @abstractmethod
    def past(self, facts: Facts, entry: Entry) -> Sequence[int]:
        """The states that came before the one of an entry, as its site knows them, and that one."""


class Rounds(Pace):
    """Wait for every expected site, and answer all from the proposals of their round."""

    name = "rounds"
    waits = True

    def is_complete(self, expected: Set[str], present: Set[str]) -> bool:
        return len(present) >= max(1, len(expected)) and expected <= present

    def entries(self, facts: Facts, state: int) -> Mapping[str, Entry]:
        return facts.entries(state)

    def past(self, facts: Facts, entry: Entry) -> Sequence[int]:  # noqa: ARG002
        return range(entry.state + 1)


class Free(Pace):
    """Answer every proposal when it arrives, from the latest proposal of everybody who has made one."""

    name = "free"
    waits = False

    def is_complete(self, expected: Set[str], present: Set[str]) -> bool:  # noqa: ARG002
        return len(present) > 0

    def entries(self, facts: Facts, state: int) -> Mapping[str, Entry]:
        return facts.latest_of_all(state)

    def past(self, facts: Facts, entry: Entry) -> Sequence[int]:
        """The states of the site's own turns."""
        return facts.states(entry.proposal.site, entry.state)


PACES: dict[str, Pace] = {"rounds": Rounds(), "free": Free()}


def as_pace(given: object) -> Pace:
    """The pace for a name, or the Pace itself."""
    if isinstance(given, Pace):
        return given
    if not isinstance(given, str) or given not in PACES:
        raise CbocError(f"{given!r} is not a pace; {did_you_mean(str(given), PACES)}")
    return PACES[given]
