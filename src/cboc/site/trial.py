"""One experiment of one site, from proposal to result, and why it is what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import log
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.space.space import Space


class Status(StrEnum):
    """Where a trial stands. A failed one may be told again, an abandoned one never."""

    PROPOSED = "proposed"  # handed in, the round is open
    PENDING = "pending"  # to be run
    COMPLETE = "complete"
    FAILED = "failed"
    ABANDONED = "abandoned"
    STOPPED = "stopped"  # not run: the utility fell below the site's threshold, and the site left the study here


class Decision(StrEnum):
    """How the design to run came about."""

    INITIAL = "initial"  # space-filling, before the first round
    FOLLOWED = "followed"  # the agreed design, accepted by the gate
    DECLINED = "declined"  # the gate preferred the own proposal
    SOLO = "solo"  # the own proposal: the others could not be reached
    ALONE = "alone"  # the own proposal, as the guide says: the own outcomes contradict the others' best designs


Point = tuple[float, ...]
STRONG = 0.7  # nats: from here on, a factor of two, a pull counts


@dataclass(frozen=True)
class Trial:
    """`proposed` is the site's own optimum, `agreed` the consensus, `x` what it is to run, `executed` what it ran."""

    site: str
    number: int  # counts the site's own trials, the initial ones included
    status: Status
    round: int | None = None  # None: an initial trial
    decision: Decision | None = None
    proposed: Point | None = None
    agreed: Point | None = None
    executed: Point | None = None
    weights: Point | None = None  # the site's row of W
    leader: str | None = None
    log_worth: float | None = None  # of the own proposal, by the own utility
    log_worth_agreed: float | None = None
    best: Point | None = None  # the site's best design so far, where the study shares it
    pull: float | None = None  # by which the others' best designs drew the proposal, in nats; None: it works alone
    keeps: float | None = None  # in doubt: the share of the own utility that a mix has to keep to be followed
    reason: str = ""  # why it is in doubt or alone
    evidence: float | None = None  # that these lie together, in nats
    agreement: float | None = None  # of the site's own outcomes with that, from -1 to 1; None: not tried yet
    others: tuple[Point, ...] | None = None  # their best designs, as they were when the round closed
    warm_start: Point | None = None  # what the strategy wants to remember for the next round
    y: float | None = None
    sem: float | None = None
    note: str = ""

    @property
    def x(self) -> Array:
        """The design to run, or that was run, in the unit cube."""
        point = self.executed or (self.agreed if self.decision == Decision.FOLLOWED else self.proposed)
        return np.array(point)

    @property
    def is_shared(self) -> bool:
        """Whether the others had a part in it: mixed with theirs and followed, or drawn to where they are."""
        is_mixed = self.decision == Decision.FOLLOWED and self.agreed != self.proposed
        return is_mixed or self.is_drawn

    @property
    def is_drawn(self) -> bool:
        return self.pull is not None and self.pull >= STRONG

    def design(self, space: Space) -> dict[str, Any]:
        """The same in natural units, by name."""
        return space.from_unit(self.x)

    def explain(self, sites: tuple[str, ...]) -> str:
        """One sentence: where this design comes from."""
        if self.status == Status.PROPOSED:
            return f"Round {self.round}: proposed, waiting for the others."
        if self.status == Status.STOPPED:
            return "Stopped: no design promises more than your threshold."
        if self.decision == Decision.INITIAL:
            return "Initial design: spread over the space, without the others."
        if self.decision == Decision.SOLO:
            return "100 % your own optimum: the coordinator could not be reached, so that nothing was mixed in."
        if self.decision == Decision.ALONE:
            return f"100 % your own optimum, nothing is mixed in{self._because}."
        parts = [_recipe(self.weights or (), sites.index(self.site), sites)]
        if self.is_drawn:
            parts[0] += ", drawn to where the others' best designs lie"
        if self.leader is not None:
            parts.append("you lead" if self.leader == self.site else f"leader {self.leader}")
        if self.keeps is not None:
            parts.append(f"in doubt{self._because}")
        if self.decision == Decision.DECLINED:
            parts.append(f"{self._refusal}, so this is your own proposal")
        elif self.agreed != self.proposed:
            parts.append("accepted by your gate")
        return "; ".join(parts) + "."

    @property
    def _because(self) -> str:
        return f", for {self.reason}" if self.reason else ""

    @property
    def _refusal(self) -> str:
        """By the guide, in doubt, or by the gate."""
        worth, own = self.log_worth_agreed, self.log_worth
        if self.keeps and worth is not None and own is not None and worth < own + log(self.keeps):
            return f"the mix keeps less than {100 * self.keeps:.0f} % of what your own promises"
        return "declined by your gate"

    def to_row(self) -> dict[str, Any]:
        """Plain data, exact: what a journal keeps."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != ""}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Trial:
        given = dict(row)
        for name in ("proposed", "agreed", "executed", "weights", "best", "warm_start"):
            if name in given:
                given[name] = tuple(given[name])
        if "others" in given:
            given["others"] = tuple(tuple(point) for point in given["others"])
        given["status"] = Status(given["status"])
        if "decision" in given:
            given["decision"] = Decision(given["decision"])
        return cls(**given)


def _recipe(weights: Point, own: int, sites: tuple[str, ...]) -> str:
    """'70 % group mean, 30 % your own optimum': a row of W in words.

    The smallest weight that anybody present gets is everybody's: so much is the group's mean; the rest belongs to
    single sites.
    """
    others = {sites[k]: w for k, w in enumerate(weights) if k != own and w > 1e-9}
    if not others:
        return "100 % your own optimum"
    common = min([*others.values(), weights[own]])
    shares = {name: w - common for name, w in others.items()}
    group = "group mean" if len(others) == len(sites) - 1 else f"mean of {len(others) + 1} sites"
    parts = [(common * (len(others) + 1), group), (weights[own] - common, "your own optimum")]
    parts += [(share, name) for name, share in sorted(shares.items(), key=lambda item: -item[1])]
    return ", ".join(f"{100 * share:.0f} % {what}" for share, what in parts if share >= 0.005)
