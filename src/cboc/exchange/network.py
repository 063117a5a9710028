"""How a site reaches the others: the one seam that every transport fills.

In one process it is a `Ledger`, between organisations a `Rest` to a coordinator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cboc.errors import CbocError
from cboc.exchange.messages import Mix, Proposal


@dataclass(frozen=True)
class Standing:
    """Where a study stands."""

    round: int  # that is open
    missing: tuple[str, ...] = ()  # whom it waits for
    closes_at: float | None = None  # when it may close without them, in seconds since 1970


class Network(Protocol):
    """What a site may ask for. Every call may be repeated: the same message counts once."""

    def submit(self, proposal: Proposal) -> None:
        """Hand in a proposal. Raises `Waiting` while an earlier one of this site is still to be answered."""

    def mix(self, site: str, turn: int) -> Mix:
        """The answer to a proposal. Raises `Waiting` until there is one, `NotSubmitted` if nobody has the proposal."""

    def standing(self) -> Standing:
        """Where the study stands."""

    def leave(self, site: str) -> None:
        """This site proposes no more; the others go on."""


class Waiting(CbocError):
    """There is no answer yet, because others have still to propose; ask again later."""

    def __init__(self, standing: Standing, sentence: str = "") -> None:
        self.standing = standing
        self.is_usual = not sentence
        super().__init__(sentence or f"round {standing.round} is still open: other sites have yet to propose.")


class Conflict(CbocError):
    """The site has proposed something else for this turn, or has gone on to a later one."""


class NotSubmitted(CbocError):
    """Nobody has a proposal of this site for this turn."""


class Unreachable(CbocError):
    """Nobody answers."""
