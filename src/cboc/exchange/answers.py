"""What follows from the facts of a study: who is expected, which W, whose design. It only reads.

A ledger adds to the facts as well; a site without a coordinator answers itself from the feeds that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import WEIGHT_ONE, Whole, mix, rebalance, whole_weights
from cboc.consensus.rules import Snapshot
from cboc.errors import CbocError
from cboc.exchange.messages import MOST_OTHERS, Mix, News, Point, Proposal
from cboc.exchange.network import Conflict, NotSubmitted, Standing, Waiting
from cboc.exchange.store import Entry, Facts
from cboc.exchange.study import Study


@dataclass(frozen=True)
class Mixture:
    """The entries that a closed state is answered from, and the weights that mix them."""

    state: int
    present: Mapping[str, Entry]
    X: Array  # (q, K, D), 0 where a site is absent
    weights: Whole  # (K, K)
    leader: str | None


@dataclass(frozen=True)
class Roster:
    """The sites expected in a round, in the order of the study; valid until another site leaves."""

    state: int
    departures: int
    expected: dict[str, None]


@dataclass(frozen=True)
class Past:
    """Results that never change, cached where every message makes a new ledger."""

    rewards: dict[int, Array] = field(default_factory=dict)  # by state: (K,), NaN where a site is absent
    mixture: Mixture | None = None  # of the state requested last
    roster: Roster | None = None  # of the round that was open then


class Answers:
    """The answers that the facts of one study give; `past` is what another one of the same study knew.

    A study that was amended has `earlier` versions: every turn is answered under the one that it was taken under.
    """

    def __init__(self, study: Study, facts: Facts, past: Past | None = None, earlier: Iterable[Study] = ()) -> None:
        self.study, self.facts = study, facts
        self.past = Past() if past is None else past
        self.versions = {each.version: each for each in (*earlier, study)}

    def accepted(self, site: str) -> Study:
        """The version of the study that a site has accepted; the one that first names it, if it has said nothing."""
        self.study.index(site)
        if len(self.versions) == 1:
            return self.study
        first = min(version for version, study in self.versions.items() if study.has(site))
        return self.versions[max(first, self.facts.accepted(site))]

    def _under(self, version: int) -> Answers:
        """The answers under one version of the study."""
        return self if version == self.study.version else Answers(self.versions[version], self.facts)

    # ------------------------------------------------------------------------------------------- where it stands

    @property
    def round(self) -> int:
        """The round that is open; at the free pace, the number of arrivals so far."""
        return self.facts.closed

    def expected(self) -> list[str]:
        """The sites that may still propose: not gone, and with budget left."""
        return list(self._roster())

    def missing(self) -> list[str]:
        """The sites that the open round is waiting for; at the free pace nobody is waited for."""
        if not self.study.pace.waits:
            return []
        present = set(self.facts.entries(self.round))
        return [site for site in self.expected() if site not in present]

    def standing(self) -> Standing:
        """Where the study stands."""
        return Standing(self.round, tuple(self.missing()), self.closes_at)

    @property
    def closes_at(self) -> float | None:
        """When the open round may close without the missing sites; None: not before all are in."""
        opened_at, deadline = self.facts.opened_at, self.study.deadline
        return None if opened_at is None or deadline is None else opened_at + deadline

    def _roster(self) -> dict[str, None]:
        """The sites that may still propose, as an ordered set."""
        known, state, departures = self.past.roster, self.round, self.facts.departures
        if known is None or (known.state, known.departures) != (state, departures):
            done, left = self.facts.experiments(state - 1), self.facts.left if departures else frozenset()
            able = [s for s in self.study.sites if s not in left and done.get(s, 0) < self.study.budget(s)]
            known = Roster(state, departures, dict.fromkeys(able))
            self.past = replace(self.past, roster=known)
        return known.expected

    def _rest(self, site: str, latest: Entry | None) -> int:
        """The number of experiments that a site may still propose."""
        return self.study.budget(site) - (0 if latest is None else latest.after)

    # --------------------------------------------------------------------------------------------- what may come in

    def check_same(self, proposal: Proposal, latest: Entry) -> None:
        """Raise if a repeated proposal differs from the one already accepted for its turn."""
        site, turn = proposal.site, proposal.turn
        known = latest if latest.proposal.turn == turn else self.facts.find(site, turn)
        if known is None or known.proposal != proposal:
            raise Conflict(
                f"site '{site}' has already proposed another design for turn {turn}, and a proposal is final. "
                "Is a copy of this site's file in use on another computer, or an older one? Use only the newest; if "
                "that is lost, a new invitation lets this one go on after it."
            )

    def check_room(self, proposal: Proposal, latest: Entry | None) -> None:
        """Raise if a site has left, or has less budget than a proposal has designs."""
        site = proposal.site
        if self.facts.departures and site in self.facts.left:
            raise CbocError(f"site '{site}' has left study '{self.study.name}', and takes no more turns.")
        if self._rest(site, latest) < len(proposal.X):
            raise CbocError(f"site '{site}' has used its budget of {self.study.budget(site)} experiments.")

    def progress(self, site: str) -> tuple[int, int]:
        """The first turn that this site has not taken, and the experiments that it has proposed.

        A new file starts there if the old one was lost.
        """
        latest = self.facts.latest(site)
        return (0, 0) if latest is None else (latest.proposal.turn + 1, latest.after)

    # --------------------------------------------------------------------------------------------- what comes out

    def news(self, site: str) -> News:
        """The best designs of a site's neighbours, as of the last closed state."""
        under = self._under(self.accepted(site).version)
        state = self.round - 1
        entries = self.study.pace.entries(self.facts, state) if state >= 0 and self.study.shares_best else {}
        return News(site, max(state, 0), under.others(site, entries, state, self.progress(site)[0]))

    def mix(self, site: str, turn: int) -> Mix:
        """The mix for one turn of a site: where the consensus puts it."""
        self.study.index(site)
        entry = self._entry(site, turn)
        if entry.state >= self.round:
            raise Waiting(self.standing())
        return self._under(entry.version)._mix(site, entry)

    def _mix(self, site: str, entry: Entry) -> Mix:
        k, turn = self.study.index(site), entry.proposal.turn
        mixture = self._mixture(entry)
        weights = mixture.weights[k]
        mixed = [mix(weights, X) for X in mixture.X[: len(entry.proposal.X)]]
        return Mix(
            site,
            turn,
            tuple(tuple(x.tolist()) for x in mixed),
            tuple((weights / WEIGHT_ONE).tolist()),
            entry.state,
            mixture.leader,
            self.others(site, mixture.present, entry.state, turn),
        )

    def _entry(self, site: str, turn: int) -> Entry:
        """The entry of a site's proposal; those of the last mixture are known."""
        known = None if self.past.mixture is None else self.past.mixture.present.get(site)
        if known is not None and known.proposal.turn == turn:
            return known
        entry = self.facts.find(site, turn)
        if entry is None:
            raise NotSubmitted(f"site '{site}' has not proposed for turn {turn}.")
        return entry

    def matrix(self, state: int) -> Array:
        """W of a closed state, rebalanced for the graph and for absent sites; over the sites of its newest version.

        In a round that sites have taken under different versions, each version is a block of its own.
        """
        entries = self.facts.entries(state).values()
        newest = max(entry.version for entry in entries)
        if len({entry.version for entry in entries}) == 1:
            return self._under(newest)._matrix(self.snapshot(state))
        W = np.eye(len(self.versions[newest].sites))
        for entry in entries:
            under = self._under(entry.version)
            k, block = under.study.index(entry.proposal.site), under._matrix(under._snapshot_of(entry))
            W[k, : len(block)] = block[k]
        return W

    def snapshot(self, state: int) -> Snapshot:
        """What every site knows about a closed state; those who took it under the same version as the first."""
        entry = next(iter(self.facts.entries(state).values()))
        return self._under(entry.version)._snapshot_of(entry)

    def _snapshot_of(self, entry: Entry) -> Snapshot:
        return self._snapshot(entry, self._present(entry))

    def _present(self, entry: Entry) -> dict[str, Entry]:
        """The entries that one is mixed with: of the sites that its version knows, in rounds under the same version.

        In a round, sites under different versions have different W: they are absent for each other.
        """
        pace = self.study.pace
        entries = pace.entries(self.facts, entry.state).items()
        return {
            site: other
            for site, other in entries
            if other.version == entry.version or (not pace.waits and self.study.has(site))
        }

    def _snapshot(self, entry: Entry, present: Mapping[str, Entry]) -> Snapshot:
        """What a site knows when its proposal is mixed with those present."""
        pace, state = self.study.pace, entry.state
        past = pace.past(self.facts, entry) if pace.waits or self.study.needs_rewards else (state,)
        turns = np.array([present[site].before if site in present else 0 for site in self.study.sites])
        bests = {site: entry.proposal.bests[0] for site, entry in present.items() if entry.proposal.bests}
        return Snapshot(
            np.array([*map(self._rewards, past[:-1]), self._stacked_rewards(present)]),
            turns,
            self.study.all_budgets,
            self._designs(present),
            self._stacked(bests),
            lambda earlier: self._designs(pace.entries(self.facts, past[earlier])),
            self.study.links,
        )

    def _matrix(self, snapshot: Snapshot) -> Array:
        links = self.study.links & np.outer(snapshot.present, snapshot.present)
        return rebalance(self.study.matrix(snapshot), links)

    def _mixture(self, entry: Entry) -> Mixture:
        """The mixture of a closed state, computed once for all its sites."""
        known = self.past.mixture
        if known is None or known.state != entry.state:
            present = self._present(entry)
            snapshot = self._snapshot(entry, present)
            weights, leader = whole_weights(self._matrix(snapshot)), self.study.leader(snapshot)
            most = max(len(other.proposal.X) for other in present.values())
            X = np.array([np.nan_to_num(self._designs(present, row)) for row in range(most)])
            known = Mixture(entry.state, present, X, weights, leader)
            self.past = replace(self.past, mixture=known)
        return known

    def others(self, site: str, present: Mapping[str, Entry], state: int, turn: int) -> tuple[Point, ...]:
        """The best designs of a site's neighbours, in the order of the study; if too many, a rotating selection.

        With several objectives they are those for the trade-off of the site's turn. Of very many neighbours every
        `turns`-th is heard, and of very many designs of these every `parts`-th.
        """
        if not self.study.shares_best:
            return ()
        k = self.study.index(site)
        heard = np.flatnonzero(self.study.links[k])
        heard = heard[heard != k]
        turns = max(1, -(-len(heard) // MOST_OTHERS))
        names = [self.study.sites[j] for j in heard[state % turns :: turns].tolist()]
        bests = [best for name in names if name in present for best in self._bests(present[name].proposal, turn)]
        parts = max(1, -(-len(bests) // MOST_OTHERS))
        return tuple(bests[state // turns % parts :: parts])

    def _bests(self, proposal: Proposal, turn: int) -> tuple[Point, ...]:
        """The best designs of a proposal that a turn is about."""
        bests = proposal.bests
        return bests if len(self.study.objectives) == 1 or not bests else (bests[turn % len(bests)],)

    def _designs(self, present: Mapping[str, Entry], row: int = 0) -> Array:
        """Design number `row` of every site, (K, D), NaN if absent; a site with fewer designs starts over."""
        return self._stacked({site: e.proposal.X[row % len(e.proposal.X)] for site, e in present.items()})

    def _stacked(self, designs: Mapping[str, Point]) -> Array:
        """Designs stacked as (K, D) in the order of the study, NaN where a site has none."""
        nothing = [np.nan] * self.study.space.dimension
        return np.array([designs.get(site, nothing) for site in self.study.sites])

    def _rewards(self, state: int) -> Array:
        """S of a closed state, as in `Past`; 0 where the rule does not ask for rewards."""
        if state not in self.past.rewards:
            self.past.rewards[state] = self._stacked_rewards(self.study.pace.entries(self.facts, state))
        return self.past.rewards[state]

    def _stacked_rewards(self, present: Mapping[str, Entry]) -> Array:
        if not self.study.needs_rewards:
            return np.array([0.0 if site in present else np.nan for site in self.study.sites])
        rewards = {site: entry.proposal.reward or 0.0 for site, entry in present.items()}
        return np.array([rewards.get(site, np.nan) for site in self.study.sites])
