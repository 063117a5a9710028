"""How a site reaches the others: the one interface that every transport implements.

Within one process the network is a `Ledger`; between organisations it is a `Rest` to a coordinator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from cboc.errors import CbocError
from cboc.exchange.amendment import changes
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.study import Study


@dataclass(frozen=True)
class Peer:
    """What is known here about another site, where sites reach each other without a coordinator."""

    site: str
    entries: int  # of its feed
    heard_at: float | None = None  # when the last one came, in seconds since 1970
    code: str = ""  # for two people to compare: whether its keys are its own
    trouble: str = ""  # why nothing more of it is taken
    silence: str = ""  # why it could not be reached just now


@dataclass(frozen=True)
class Drift:
    """A round in which a site has gone on by itself, because the one that was to close it had not done so."""

    site: str
    round: int
    awaited: str  # the one that was to close it


@dataclass(frozen=True)
class Standing:
    """Where a study stands: the open round, the missing sites, the deadline."""

    round: int  # the open round; at the free pace, the number of arrivals so far
    missing: tuple[str, ...] = ()  # the sites it waits for
    closes_at: float | None = None  # when it may close without them, in seconds since 1970
    peers: tuple[Peer, ...] = field(default=(), compare=False)  # the other sites, without a coordinator
    code: str = field(default="", compare=False)  # the own one, for the others to compare
    trouble: str = field(default="", compare=False)  # why the others could not be reached just now
    closer: str = field(default="", compare=False)  # who has to close a round that is due, without a coordinator
    closing: int = field(default=0, compare=False)  # that round
    drifts: tuple[Drift, ...] = field(default=(), compare=False)  # of all sites that are known here
    proposed: tuple[str, ...] = field(default=(), compare=False)  # changes of the study that not all stewards signed


class Network(Protocol):
    """What a site may ask of the others. Every call may be repeated: the same message counts once."""

    def submit(self, proposal: Proposal) -> None:
        """Hand in a proposal. Raises `Waiting` while an earlier one of this site is unanswered."""

    def mix(self, site: str, turn: int) -> Mix:
        """The answer to a proposal. Raises `Waiting` until it exists, `NotSubmitted` if the proposal is unknown."""

    def news(self, site: str) -> News:
        """What the others have found so far: their best designs, if the study shares them."""

    def standing(self) -> Standing:
        """Where the study stands."""

    def leave(self, site: str) -> None:
        """Withdraw this site: it makes no more proposals, and the others go on."""


@runtime_checkable
class WithoutCentre(Protocol):
    """What a network without a coordinator can say besides: it has copies of what the others wrote."""

    trouble: str  # why the others could not be reached the last time

    def sync(self) -> None:
        """Take what the others wrote, and give what was written here. This may take as long as the carrier takes."""

    def known(self) -> Standing:
        """Where the study stands as far as it is known here, at once: nobody is asked."""

    def end(self) -> None:
        """Say that this site has left, also if it has used its budget: it has for good. Saying it again is fine."""


@runtime_checkable
class Counting(Protocol):
    """A network that has a count of a site's turns of its own: it knows of those that another copy has taken."""

    def next_turn(self, site: str) -> int | None:
        """The first turn of a site that the network does not have; None if it does not say so at once."""


@runtime_checkable
class Amendable(Protocol):
    """A network in which a study that runs can be amended; every one of ours is."""

    def agreed(self) -> Study:
        """What is agreed now: the newest version of the study."""

    def accept(self, site: str, study: Study) -> None:
        """Say that a site accepts this version, which is the newest one. Saying it again is fine."""


def as_network(given: Any) -> Network:
    """The network given; raises one sentence if a site could not hand in a proposal there and be answered."""
    for part in ("submit", "mix"):
        if not callable(getattr(given, part, None)):
            raise CbocError(f"a network is a Ledger, or anything with its methods; {given!r} has no {part}.")
    return given


class Waiting(CbocError):
    """There is no answer yet, because other sites have not proposed; ask again later."""

    def __init__(self, standing: Standing, sentence: str = "") -> None:
        self.standing = standing
        self.is_usual = not sentence
        super().__init__(sentence or f"round {standing.round} is still open: other sites have yet to propose.")


class Conflict(CbocError):
    """The site has proposed something else for this turn, or has gone on to a later one."""


class Changed(CbocError):
    """The study was amended, and the site has not accepted that yet: it has to before its next turn."""

    def __init__(self, old: Study, new: Study) -> None:
        self.study = new
        super().__init__(
            f"study '{old.name}' has changed: {'; '.join(changes(old, new))}. Before its next turn the site has to "
            "accept that: cboc accept, or site.accept() in Python."
        )


class NotSubmitted(CbocError):
    """The network has no proposal of this site for this turn."""


class Unreachable(CbocError):
    """The network does not answer."""
