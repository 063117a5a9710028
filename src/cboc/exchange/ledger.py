"""The sans-I/O core of an exchange: who is in, whether the round is closed, and the answers that follow.

Simulation and coordinator wrap this one implementation; a site with feeds uses its answers. It knows designs and
rewards, never an outcome. In rounds, a round closes when every expected site has proposed, or when its deadline has
passed and the quorum is in. At the free pace every arrival is a state of its own, closed at once. What is closed is
frozen; a later proposal belongs to a later state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from cboc.errors import CbocError
from cboc.exchange.amendment import check_successor
from cboc.exchange.answers import Answers, Past
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.network import Changed, Standing, Waiting
from cboc.exchange.store import AHEAD, Entry, MemoryStore, Store
from cboc.exchange.study import Study


class Ledger(Answers):
    """The record of one study, and the `Network` for sites in the same process.

    `clock` returns the time in seconds since 1970; `past` is what another ledger of the same study knew; `earlier` are
    the versions of the study before it was amended.
    """

    def __init__(
        self,
        study: Study,
        store: Store | None = None,
        clock: Callable[[], float] = time.time,
        past: Past | None = None,
        earlier: Iterable[Study] = (),
    ) -> None:
        self.store, self.clock = MemoryStore() if store is None else store, clock
        super().__init__(study, self.store, past, earlier)

    def standing(self) -> Standing:
        """Close the round if it is due, and return where the study stands."""
        self.close_if_due()
        return super().standing()

    @property
    def is_due(self) -> bool:
        """Whether the open round's deadline has passed with the quorum in."""
        is_late = self.closes_at is not None and self.clock() >= self.closes_at
        return is_late and len(self.store.entries(self.round)) >= self.study.quorum

    @property
    def is_ahead(self) -> bool:
        """Whether the open round has begun in the future: the clock was wrong then, or is now."""
        return self.store.opened_at is not None and self.store.opened_at > self.clock() + AHEAD

    # --------------------------------------------------------------------------------------------- what comes in

    def submit(self, proposal: Proposal) -> None:
        """Accept a proposal; in rounds, the last expected one closes the round."""
        self.study.check_proposal(proposal)
        self.close_if_due()
        site, latest = proposal.site, self.store.latest(proposal.site)
        if latest is not None and proposal.turn <= latest.proposal.turn:
            self.check_same(proposal, latest)
            return
        if latest is not None and latest.state == self.round:
            raise Waiting(self.standing(), f"round {self.round} is open, and '{site}' has proposed for it already.")
        if (accepted := self.accepted(site)).version < self.study.version:
            raise Changed(accepted, self.study)
        self.check_room(proposal, latest)
        now = self.clock()
        is_first = self.study.deadline is not None and self.store.opened_at is None
        entry = Entry(self.round, proposal, 0 if latest is None else latest.after, now, self.study.version)
        self.store.add(entry, now if is_first else None)
        self._close_if_complete()

    def leave(self, site: str) -> None:
        """Stop waiting for this site; its proposals stay."""
        self.study.index(site)
        self.store.leave(site)
        self._close_if_complete()

    def come_back(self, site: str) -> None:
        """Let a site that had left take part again; a round that is open waits for it from now on."""
        self.study.index(site)
        if site in self.store.left:
            self.store.come_back(site)

    def agreed(self) -> Study:
        """What is agreed now."""
        return self.study

    def amend(self, study: Study) -> None:
        """Go on with the next version of the study; every site has to accept it before its next turn."""
        check_successor(self.study, study)
        self.versions[study.version] = study
        self.study, self.past = study, Past()

    def accept(self, site: str, study: Study) -> None:
        """Keep that a site accepts the newest version; a site that had left because it was done comes back."""
        if study.digest != self.study.digest:
            raise Changed(study, self.study)
        if self.accepted(site).version < study.version:
            self.store.accept(site, study.version)

    def _close_if_complete(self) -> None:
        pace = self.study.pace
        if pace.is_complete(self._roster().keys() if pace.waits else set(), self.store.entries(self.round).keys()):
            self.store.close()

    def close_if_due(self) -> None:
        """Close a round whose deadline has passed. One that has begun in the future begins now, or it would be late."""
        if self.is_ahead:
            self.store.reopen(self.clock())
        elif self.is_due:
            self.store.close()

    def close(self) -> None:
        """Close the open round early, with the sites that are in."""
        present = len(self.store.entries(self.round))
        if present < self.study.quorum:
            raise CbocError(f"round {self.round} needs {self.study.quorum} sites to close; {present} are in.")
        self.store.close()

    def go_on_from(self, closed: Iterable[Iterable[Entry]], present: Iterable[Entry], left: Iterable[str]) -> None:
        """Take over the past of a study that went another way: closed states, the open round, departures."""
        if self.round or self.store.entries(0):
            raise CbocError(f"study '{self.study.name}' has entries here already; use another database.")
        now = self.clock()
        for entries in closed:
            for entry in entries:
                self.store.add(replace(entry, at=now))
            self.store.close()
        for entry in present:
            is_first = self.study.deadline is not None and self.store.opened_at is None
            self.store.add(replace(entry, at=now), now if is_first else None)
        for site in left:
            self.store.leave(site)
        if self.study.pace.waits:
            self._close_if_complete()

    # --------------------------------------------------------------------------------------------- what comes out

    def news(self, site: str) -> News:
        """The best designs of a site's neighbours, as of the last closed state."""
        self.close_if_due()
        return super().news(site)

    def mix(self, site: str, turn: int) -> Mix:
        """The mix for one turn of a site: where the consensus puts it."""
        self.close_if_due()
        return super().mix(site, turn)
