"""The sans-I/O core of a round: who is in, is it closed, which W, whose design.

One implementation, wrapped by simulation, service and peers. It knows designs and rewards, never an outcome.
A round closes when everyone who is expected has proposed, or when `close` is called (a deadline) and the quorum is in;
once closed it is frozen, and a proposal that comes later belongs to a later round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import WEIGHT_ONE, Whole, mix, rebalance, whole_weights
from cboc.consensus.rules import Round
from cboc.errors import CbocError
from cboc.messages import Design, Proposal
from cboc.study import Study

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


class Ledger:
    """The rounds of one study.

    `rewards` are those of closed rounds, which never change, as another ledger of the same study has read them: it need
    not be said twice where every message has a ledger of its own.
    """

    def __init__(self, study: Study, store: Store | None = None, rewards: Array | None = None) -> None:
        self.study = study
        self.store = store or Memory()
        self.rewards = np.empty((0, len(study.sites))) if rewards is None else rewards
        self._expected: tuple[tuple[int, frozenset[str]], dict[str, None]] | None = None
        self._mixed: tuple[int, Whole, Array, str | None] | None = None  # the latest: round, weights, designs, leader

    @property
    def current(self) -> int:
        """The round that is open."""
        return self.store.frozen()

    def expected(self) -> list[str]:
        """Who may propose in the open round: not gone, and with budget left."""
        return list(self._roster())

    def _roster(self) -> dict[str, None]:
        """The same as an ordered set, computed once as long as nobody leaves."""
        key = (self.current, self.store.left())
        if self._expected is None or self._expected[0] != key:
            attended = (~np.isnan(self._closed_rewards())).sum(axis=0)
            able = zip(self.study.sites, attended < self.study.all_budgets, strict=True)
            self._expected = (key, {site: None for site, is_able in able if is_able and site not in key[1]})
        return self._expected[1]

    def missing(self) -> list[str]:
        """Whom the open round is waiting for."""
        present = self.store.proposals(self.current)
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
            raise Final(f"site '{site}' has proposed another design for round {round} already; a proposal is final.")
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

    def leave(self, site: str) -> None:
        """Do not wait for this site any more; what it has proposed stays."""
        self.study.index(site)
        self.store.leave(site)
        self._close_if_complete()

    def _close_if_complete(self) -> None:
        expected = self._roster()
        present = self.store.proposals(self.current)
        if present and len(present) >= len(expected) and all(site in present for site in expected):
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
        """(rounds closed, K), NaN where a site was absent, 0 where the rule does not ask for rewards."""
        for row in range(len(self.rewards), self.current):
            rewards = np.full((1, len(self.study.sites)), np.nan)
            for site, proposal in self.store.proposals(row).items():
                rewards[0, self.study.index(site)] = 0.0 if proposal.reward is None else proposal.reward
            self.rewards = np.vstack([self.rewards, rewards])
        return self.rewards

    def matrix(self, round: int) -> Array:
        """W of a closed round, rebalanced for the graph and for who was absent."""
        known = self.known(round)
        return rebalance(self.study.matrix(known), self.study.links & np.outer(known.present, known.present))

    def design(self, site: str, round: int) -> Design | None:
        """Where the consensus puts this site, or None while the round is open."""
        k = self.study.index(site)
        if round >= self.current:
            return None
        if site not in self.store.proposals(round):
            raise RoundClosed(site, round, self.current)
        _, weights, X, leader = self._mix(round)
        row = tuple((weights[k] / WEIGHT_ONE).tolist())
        return Design(site, round, tuple(mix(weights[k], X).tolist()), row, leader, self._others(k, round))

    def _others(self, k: int, round: int) -> tuple[tuple[float, ...], ...]:
        """The best designs of those whom site k may hear, in the order of the study; of very many, some by turns."""
        if not self.study.shares_best:
            return ()
        present = self.store.proposals(round)
        heard = np.flatnonzero(self.study.links[k])
        heard = heard[heard != k]
        step = max(1, -(-len(heard) // MOST_OTHERS))
        names = [self.study.sites[j] for j in heard[round % step :: step].tolist()]
        bests = [present[name].best for name in names if name in present]
        return tuple(best for best in bests if best is not None)

    def _mix(self, round: int) -> tuple[int, Whole, Array, str | None]:
        """Weights, designs and leader of a closed round, computed once for all its sites."""
        if self._mixed is None or self._mixed[0] != round:
            X = np.zeros((len(self.study.sites), self.study.space.dimension))
            for name, proposal in self.store.proposals(round).items():
                X[self.study.index(name)] = proposal.x
            self._mixed = (round, whole_weights(self.matrix(round)), X, self.study.leader(self.known(round)))
        return self._mixed
