"""The sans-I/O core of a round: who is in, is it closed, which W, whose design.

One implementation, wrapped by simulation, service and peers. It knows designs and rewards, never an outcome.
A round closes when everyone who is expected has proposed, or when `close` is called (a deadline) and the quorum is in;
once closed it is frozen, and a proposal that comes later belongs to a later round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import WEIGHT_ONE, Whole, mix, rebalance, whole_weights
from cboc.consensus.rules import Round
from cboc.errors import CbocError
from cboc.exchange.messages import Design, Proposal
from cboc.exchange.study import Study

MOST_OTHERS = 32  # best designs that a site is told: more of them would say the same


class Network(Protocol):
    """How a site reaches the others: in process, through a coordinator, or peer to peer."""

    def submit(self, proposal: Proposal) -> None:
        """Hand in a proposal; again with the same content is fine. Raises `RoundClosed` if it comes too late."""

    def design(self, site: str, round: int) -> Design | None:
        """The answer, or None while the round is open."""

    def leave(self, site: str) -> None:
        """This site proposes no more; the others go on."""


class RoundClosed(CbocError):
    """The round is not the open one, which is `current`: it went on without this site, or is still to come."""

    def __init__(self, site: str, round: int, current: int) -> None:
        self.current = current
        what = "is closed" if round < current else "is not open yet"
        super().__init__(f"round {round} {what} for site '{site}'; round {current} is open now: propose for that one.")


class Final(CbocError):
    """The site has proposed another design for this round already."""


class Unreachable(CbocError):
    """Nobody answers."""


class Store(Protocol):
    """Where a ledger keeps its rows."""

    def add(self, proposal: Proposal) -> None: ...

    def proposals(self, round: int) -> Mapping[str, Proposal]: ...

    def freeze(self, round: int) -> None: ...

    def frozen(self) -> int:
        """The number of closed rounds, 0 .. frozen - 1."""

    def leave(self, site: str) -> None: ...

    def left(self) -> frozenset[str]: ...


class Memory:
    """A store that lasts as long as the process."""

    def __init__(self) -> None:
        self._proposals: list[dict[str, Proposal]] = [{}]
        self._frozen = 0
        self._left: frozenset[str] = frozenset()

    def add(self, proposal: Proposal) -> None:
        self._proposals[proposal.round][proposal.site] = proposal

    def proposals(self, round: int) -> Mapping[str, Proposal]:
        return self._proposals[round] if round < len(self._proposals) else {}

    def freeze(self, round: int) -> None:
        self._frozen = round + 1
        self._proposals.append({})

    def frozen(self) -> int:
        return self._frozen

    def leave(self, site: str) -> None:
        self._left |= {site}

    def left(self) -> frozenset[str]:
        return self._left


@dataclass(frozen=True)
class Mixture:
    """A closed round: who proposed what, and the weights by which it is mixed."""

    round: int
    present: Mapping[str, Proposal]
    X: Array  # (K, D), of the absent 0
    weights: Whole  # (K, K)
    leader: str | None


@dataclass(frozen=True)
class Roster:
    """Who is expected in a round, in the order of the study, as long as nobody else leaves."""

    round: int
    left: frozenset[str]
    expected: dict[str, None]


@dataclass(frozen=True)
class Past:
    """What is known once and for all: for who has a new ledger for every message."""

    rewards: Array  # (rounds closed, K), NaN where a site was absent, 0 where the rule does not ask for rewards
    mixture: Mixture | None = None  # of the round that was asked for last
    roster: Roster | None = None  # of the round that was open then


class Ledger:
    """The rounds of one study; `past` is what another ledger of the same study knew of them."""

    def __init__(self, study: Study, store: Store | None = None, past: Past | None = None) -> None:
        self.study = study
        self.store = store or Memory()
        self.past = Past(np.empty((0, len(study.sites)))) if past is None else past

    @property
    def current(self) -> int:
        """The round that is open."""
        return self.store.frozen()

    def expected(self) -> list[str]:
        """Who may propose in the open round: not gone, and with budget left."""
        return list(self._roster())

    def _roster(self) -> dict[str, None]:
        """The same as an ordered set."""
        known, round, left = self.past.roster, self.current, self.store.left()
        if known is None or (known.round, known.left) != (round, left):
            attended = (~np.isnan(self._closed_rewards())).sum(axis=0)
            able = zip(self.study.sites, attended < self.study.all_budgets, strict=True)
            known = Roster(round, left, {site: None for site, is_able in able if is_able and site not in left})
            self.past = replace(self.past, roster=known)
        return known.expected

    def missing(self) -> list[str]:
        """Whom the open round is waiting for."""
        present = set(self.store.proposals(self.current))
        return [site for site in self.expected() if site not in present]

    def submit(self, proposal: Proposal) -> None:
        """Take a proposal in; the last one that is expected closes the round."""
        site, round, current = proposal.site, proposal.round, self.current
        self._check(proposal)
        before = self.store.proposals(round).get(site)
        if before == proposal:
            return
        if round != current:
            raise RoundClosed(site, round, current)
        if before is not None:
            raise Final(
                f"site '{site}' has proposed another design for round {round} already, and a proposal is final; "
                "propose again when the round has closed."
            )
        if site not in self._roster():
            raise CbocError(f"site '{site}' has left or has used its budget of {self.study.budget(site)} experiments.")
        self.store.add(proposal)
        self._close_if_complete()

    def _check(self, proposal: Proposal) -> None:
        self.study.index(proposal.site)
        dimension = self.study.space.dimension
        for point in (proposal.x, proposal.best):
            if point is not None and len(point) != dimension:
                raise CbocError(
                    f"designs of study '{self.study.name}' have {dimension} coordinates; "
                    f"site '{proposal.site}' sent {len(point)}."
                )
        if proposal.best is not None and not self.study.shares_best:
            raise CbocError(f"study '{self.study.name}' does not share best designs; site '{proposal.site}' sent one.")
        if self.study.needs_rewards and proposal.reward is None:
            raise CbocError(
                f"the rule of study '{self.study.name}' compares rewards; site '{proposal.site}' sent none."
            )
        if proposal.reward is not None and not self.study.needs_rewards:
            raise CbocError(
                f"the rule of study '{self.study.name}' asks for no rewards; site '{proposal.site}' sent one."
            )

    def leave(self, site: str) -> None:
        """Do not wait for this site any more; what it has proposed stays."""
        self.study.index(site)
        self.store.leave(site)
        self._close_if_complete()

    def _close_if_complete(self) -> None:
        expected, present = self._roster(), self.store.proposals(self.current)
        if len(present) >= max(1, len(expected)) and expected.keys() <= set(present):
            self.store.freeze(self.current)

    def close(self) -> None:
        """Freeze the open round with those who are in, as at a deadline."""
        present = len(self.store.proposals(self.current))
        if present < self.study.quorum:
            raise CbocError(f"round {self.current} needs {self.study.quorum} sites to close; {present} are in.")
        self.store.freeze(self.current)

    def known(self, round: int) -> Round:
        """What everybody knows of a closed round."""
        return Round(self._closed_rewards()[: round + 1], self.study.all_budgets)

    def _closed_rewards(self) -> Array:
        """S of the closed rounds, as in `Past`."""
        for row in range(len(self.past.rewards), self.current):
            rewards = np.full((1, len(self.study.sites)), np.nan)
            for site, proposal in self.store.proposals(row).items():
                rewards[0, self.study.index(site)] = 0.0 if proposal.reward is None else proposal.reward
            self.past = replace(self.past, rewards=np.vstack([self.past.rewards, rewards]))
        return self.past.rewards[: self.current]  # who knew the past may have seen more of it

    def matrix(self, round: int) -> Array:
        """W of a closed round, rebalanced for the graph and for who was absent."""
        known = self.known(round)
        return rebalance(self.study.matrix(known), self.study.links & np.outer(known.present, known.present))

    def design(self, site: str, round: int) -> Design | None:
        """Where the consensus puts this site, or None while the round is open."""
        k = self.study.index(site)
        if round >= self.current:
            return None
        mixture = self._mix(round)
        if site not in mixture.present:
            raise RoundClosed(site, round, self.current)
        weights = mixture.weights[k]
        x, row = mix(weights, mixture.X), weights / WEIGHT_ONE
        return Design(site, round, tuple(x.tolist()), tuple(row.tolist()), mixture.leader, self._others(k, mixture))

    def _others(self, k: int, mixture: Mixture) -> tuple[tuple[float, ...], ...]:
        """The best designs of those whom site k may hear, in the order of the study; of very many, some by turns."""
        if not self.study.shares_best:
            return ()
        heard = np.flatnonzero(self.study.links[k])
        heard = heard[heard != k]
        step = max(1, -(-len(heard) // MOST_OTHERS))
        names = [self.study.sites[j] for j in heard[mixture.round % step :: step].tolist()]
        bests = [mixture.present[name].best for name in names if name in mixture.present]
        return tuple(best for best in bests if best is not None)

    def _mix(self, round: int) -> Mixture:
        """A closed round, computed once for all its sites."""
        known = self.past.mixture
        if known is None or known.round != round:
            present = dict(self.store.proposals(round))
            X = np.zeros((len(self.study.sites), self.study.space.dimension))
            for name, proposal in present.items():
                X[self.study.index(name)] = proposal.x
            known = Mixture(round, present, X, whole_weights(self.matrix(round)), self.study.leader(self.known(round)))
            self.past = replace(self.past, mixture=known)
        return known
