"""The pace of a study: which proposals answer a turn, and when.

In rounds, the paper's pace, every site waits: a turn is answered from the proposals of its round when it closes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import ClassVar

from cboc.errors import CbocError, did_you_mean
from cboc.exchange.messages import Proposal
from cboc.exchange.store import Store


class Pace(ABC):
    """A pace decides when proposals are mixed, and which."""

    name: ClassVar[str]

    @abstractmethod
    def is_complete(self, expected: Set[str], present: Mapping[str, Proposal]) -> bool:
        """Whether the proposals present are enough to go on at once."""

    @abstractmethod
    def proposals(self, store: Store, number: int) -> Mapping[str, Proposal]:
        """The proposals, by site, from which the answers of this number are made."""


class Rounds(Pace):
    """Wait for every expected site, and answer all from the proposals of their round."""

    name = "rounds"

    def is_complete(self, expected: Set[str], present: Mapping[str, Proposal]) -> bool:
        return len(present) >= max(1, len(expected)) and expected <= set(present)

    def proposals(self, store: Store, number: int) -> Mapping[str, Proposal]:
        return store.proposals(number)


PACES: dict[str, Pace] = {"rounds": Rounds()}


def pace_of(name: object) -> Pace:
    """The pace with this name."""
    if name not in PACES:
        raise CbocError(f"{name!r} is not a pace; {did_you_mean(str(name), PACES)}")
    return PACES[str(name)]
