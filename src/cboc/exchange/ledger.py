"""The sans-I/O core of an exchange: who is in, whether the round is closed, which W, whose design.

Simulation, coordinator and peers wrap this one implementation. It knows designs and rewards, never an outcome. A
round closes when every expected site has proposed, or when its deadline has passed and the quorum is in. A closed
round is frozen, and a later proposal belongs to the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import WEIGHT_ONE, Whole, mix, rebalance, whole_weights
from cboc.consensus.rules import Snapshot
from cboc.errors import CbocError
from cboc.exchange.messages import MOST_OTHERS, Mix, Point, Proposal
from cboc.exchange.network import Conflict, NotSubmitted, Standing, Waiting
from cboc.exchange.store import Closure, Entry, MemoryStore, Store
from cboc.exchange.study import Study


@dataclass(frozen=True)
class Mixture:
    """The proposals of a closed round, and the weights that mix them."""

    round: int
    present: Mapping[str, Proposal]
    X: Array  # (q, K, D), 0 where a site is absent
    weights: Whole  # (K, K)
    leader: str | None


@dataclass(frozen=True)
class Roster:
    """The sites expected in a round, in the order of the study; valid until another site leaves."""

    round: int
    left: frozenset[str]
    expected: dict[str, None]


@dataclass(frozen=True)
class Past:
    """Results that never change, cached where every message makes a new ledger."""

    rewards: Array  # (rounds closed, K), NaN where a site was absent, 0 where the rule does not ask for rewards
    mixture: Mixture | None = None  # of the round requested last
    roster: Roster | None = None  # of the round that was open then


class Ledger:
    """The rounds of one study, and the `Network` for sites in the same process.

    `clock` returns the time in seconds since 1970; `past` is what another ledger of the same study knew.
    """

    def __init__(
        self,
        study: Study,
        store: Store | None = None,
        clock: Callable[[], float] = time.time,
        past: Past | None = None,
    ) -> None:
        self.study, self.store, self.clock = study, MemoryStore() if store is None else store, clock
        self.past = Past(np.empty((0, len(study.sites)))) if past is None else past

    # ------------------------------------------------------------------------------------------- where it stands

    @property
    def round(self) -> int:
        """The round that is open."""
        return self.store.closed

    def expected(self) -> list[str]:
        """The sites that may propose in the open round: not gone, and with budget left."""
        return list(self._roster())

    def missing(self) -> list[str]:
        """The sites that the open round is waiting for."""
        present = set(self.store.proposals(self.round))
        return [site for site in self.expected() if site not in present]

    def standing(self) -> Standing:
        """Close the round if it is due, and return where the study stands."""
        self.close_if_due()
        return Standing(self.round, tuple(self.missing()), self.closes_at)

    @property
    def closes_at(self) -> float | None:
        """When the open round may close without the missing sites; None: not before all are in."""
        opened_at, deadline = self.store.opened_at, self.study.deadline
        return None if opened_at is None or deadline is None else opened_at + deadline

    @property
    def is_due(self) -> bool:
        """Whether the open round's deadline has passed with the quorum in."""
        is_late = self.closes_at is not None and self.clock() >= self.closes_at
        return is_late and len(self.store.proposals(self.round)) >= self.study.quorum

    def _roster(self) -> dict[str, None]:
        """The sites expected in the open round, as an ordered set."""
        known, round, left = self.past.roster, self.round, self.store.left
        if known is None or (known.round, known.left) != (round, left):
            able = zip(self.study.sites, _attended(self._rewards()) < self.study.all_budgets, strict=True)
            known = Roster(round, left, {site: None for site, is_able in able if is_able and site not in left})
            self.past = replace(self.past, roster=known)
        return known.expected

    # --------------------------------------------------------------------------------------------- what comes in

    def submit(self, proposal: Proposal) -> None:
        """Accept a proposal; the last expected one closes the round."""
        self.study.check_proposal(proposal)
        self.close_if_due()
        site, latest = proposal.site, self.store.latest(proposal.site)
        if latest is not None and proposal.turn <= latest.proposal.turn:
            self._check_same(proposal, latest)
            return
        if latest is not None and latest.round == self.round:
            raise Waiting(self.standing(), f"round {self.round} is open, and '{site}' has proposed for it already.")
        if site not in self._roster():
            raise CbocError(f"site '{site}' has left or has used its budget of {self.study.budget(site)} experiments.")
        is_timed = self.study.deadline is not None and self.store.opened_at is None
        self.store.add(Entry(self.round, proposal), self.clock() if is_timed else None)
        self._close_if_complete()

    def _check_same(self, proposal: Proposal, latest: Entry) -> None:
        """Raise if a repeated proposal differs from the one already accepted for its turn."""
        site, turn = proposal.site, proposal.turn
        known = latest if latest.proposal.turn == turn else self.store.find(site, turn)
        if known is None or known.proposal != proposal:
            raise Conflict(
                f"site '{site}' has already proposed another design for turn {turn}, and a proposal is final. "
                "Is a copy of this site's file in use on another computer? Use only one."
            )

    def next_turn(self, site: str) -> int:
        """The first turn that this site has not taken: a new file starts there if the old one was lost."""
        latest = self.store.latest(site)
        return 0 if latest is None else latest.proposal.turn + 1

    def leave(self, site: str) -> None:
        """Stop waiting for this site; its proposals stay."""
        self.study.index(site)
        self.store.leave(site)
        self._close_if_complete()

    def _close_if_complete(self) -> None:
        if self.study.pace.is_complete(self._roster().keys(), self.store.proposals(self.round)):
            self._close()

    def close_if_due(self) -> None:
        """Close a round whose deadline has passed."""
        if self.is_due:
            self._close()

    def close(self) -> None:
        """Close the open round early, with the sites that are in."""
        present = len(self.store.proposals(self.round))
        if present < self.study.quorum:
            raise CbocError(f"round {self.round} needs {self.study.quorum} sites to close; {present} are in.")
        self._close()

    def _close(self) -> None:
        self.store.close(Closure(self.round, tuple(self.store.proposals(self.round))))

    # --------------------------------------------------------------------------------------------- what comes out

    def mix(self, site: str, turn: int) -> Mix:
        """The mix for one turn of a site: where the consensus puts it."""
        k = self.study.index(site)
        self.close_if_due()
        round = self._round_of(site, turn)
        if round >= self.round:
            raise Waiting(self.standing())
        mixture = self._mixture(round)
        weights = mixture.weights[k]
        mixed = [mix(weights, X) for X in mixture.X[: len(mixture.present[site].X)]]
        return Mix(
            site,
            turn,
            tuple(tuple(x.tolist()) for x in mixed),
            tuple((weights / WEIGHT_ONE).tolist()),
            round,
            mixture.leader,
            self._others(k, mixture),
        )

    def _round_of(self, site: str, turn: int) -> int:
        """The round that a site's proposal is in; those of the last mixture are known."""
        known = self.past.mixture
        if known is not None and site in known.present and known.present[site].turn == turn:
            return known.round
        entry = self.store.find(site, turn)
        if entry is None:
            raise NotSubmitted(f"site '{site}' has not proposed for turn {turn}.")
        return entry.round

    def matrix(self, round: int) -> Array:
        """W of a closed round, rebalanced for the graph and for absent sites."""
        return self._matrix(self.snapshot(round))

    def snapshot(self, round: int) -> Snapshot:
        """What every site knows about a closed round."""
        present, rewards = self._present(round), self._rewards()
        bests = {site: proposal.bests[0] for site, proposal in present.items() if proposal.bests}
        return Snapshot(
            rewards[: round + 1],
            _attended(rewards[:round]),
            self.study.all_budgets,
            self._stacked({site: proposal.X[0] for site, proposal in present.items()}),
            self._stacked(bests),
            lambda earlier: self._stacked({site: p.X[0] for site, p in self._present(earlier).items()}),
        )

    def _present(self, round: int) -> Mapping[str, Proposal]:
        return self.study.pace.proposals(self.store, round)

    def _matrix(self, snapshot: Snapshot) -> Array:
        links = self.study.links & np.outer(snapshot.present, snapshot.present)
        return rebalance(self.study.matrix(snapshot), links)

    def _mixture(self, round: int) -> Mixture:
        """The mixture of a closed round, computed once for all its sites."""
        known = self.past.mixture
        if known is None or known.round != round:
            snapshot = self.snapshot(round)
            weights, leader = whole_weights(self._matrix(snapshot)), self.study.leader(snapshot)
            present = dict(self._present(round))
            most = max(len(proposal.X) for proposal in present.values())
            X = np.array([self._row(present, row) for row in range(most)])
            known = Mixture(round, present, X, weights, leader)
            self.past = replace(self.past, mixture=known)
        return known

    def _others(self, k: int, mixture: Mixture) -> tuple[Point, ...]:
        """The best designs of site k's neighbours, in the order of the study; if too many, a rotating selection."""
        if not self.study.shares_best:
            return ()
        heard = np.flatnonzero(self.study.links[k])
        heard = heard[heard != k]
        step = max(1, -(-len(heard) // MOST_OTHERS))
        names = [self.study.sites[j] for j in heard[mixture.round % step :: step].tolist()]
        return tuple(best for name in names if name in mixture.present for best in mixture.present[name].bests)

    def _row(self, present: Mapping[str, Proposal], row: int) -> Array:
        """Design number `row` of every site (K, D), 0 if absent; a site with fewer designs starts over."""
        X = self._stacked({site: proposal.X[row % len(proposal.X)] for site, proposal in present.items()})
        return np.nan_to_num(X)

    def _stacked(self, designs: Mapping[str, Point]) -> Array:
        """Designs stacked as (K, D) in the order of the study, NaN where a site has none."""
        nothing = [np.nan] * self.study.space.dimension
        return np.array([designs.get(site, nothing) for site in self.study.sites])

    def _rewards(self) -> Array:
        """S of the closed rounds, as in `Past`."""
        for round in range(len(self.past.rewards), self.round):
            rewards = {site: proposal.reward or 0.0 for site, proposal in self._present(round).items()}
            row = [rewards.get(site, np.nan) for site in self.study.sites]
            self.past = replace(self.past, rewards=np.vstack([self.past.rewards, row]))
        return self.past.rewards[: self.round]  # the ledger that kept the past may have seen more rounds


def _attended(rewards: Array) -> Array:
    """The number of these rounds in which each site was present, (K,)."""
    return (~np.isnan(rewards)).sum(axis=0)
