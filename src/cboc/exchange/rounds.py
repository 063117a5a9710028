"""Rounds, and the pace of a study: from which proposals a turn is answered, and when.

In rounds, the paper's pace, everybody waits: a turn is answered from the proposals of its round, when that closes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import ClassVar

from cboc.errors import CbocError, did_you_mean
from cboc.exchange.messages import Proposal
from cboc.exchange.store import Store


class Pace(ABC):
    """When proposals are mixed, and which."""

    name: ClassVar[str]

    @abstractmethod
    def is_complete(self, expected: Set[str], present: Mapping[str, Proposal]) -> bool:
        """Are those who are in enough to go on at once?"""

    @abstractmethod
    def proposals(self, store: Store, number: int) -> Mapping[str, Proposal]:
        """What the answers of this number are made from, by site."""


class Rounds(Pace):
    """Everybody who is expected is waited for, and all are answered from the proposals of their round."""

    name = "rounds"

    def is_complete(self, expected: Set[str], present: Mapping[str, Proposal]) -> bool:
        return len(present) >= max(1, len(expected)) and expected <= set(present)

    def proposals(self, store: Store, number: int) -> Mapping[str, Proposal]:
        return store.proposals(number)


PACES: dict[str, Pace] = {"rounds": Rounds()}


def pace_of(name: object) -> Pace:
    """A pace by its name."""
    if name not in PACES:
        raise CbocError(f"{name!r} is not a pace; {did_you_mean(str(name), PACES)}")
    return PACES[str(name)]
