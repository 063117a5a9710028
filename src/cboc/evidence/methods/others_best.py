"""Others' best first: run the designs that the others have found best, drop whoever does not help, then go on alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.evidence.case import PEER, Case
from cboc.evidence.methods.agent import Agent, executed, propose


@dataclass(frozen=True)
class OthersBest:
    """Visits: in the first 3 (K - 1) rounds a site runs a peer's current best design that is new to it.

    A peer whose design did not land in the best fifth of the site's own outcomes is dropped. Best designs are all that
    is shared. docs/decisions/real-tables-protocol.md has the rule in full.
    """

    rounds: int = 3  # of visits, for every peer
    share: float = 0.2  # of the own outcomes, in which a visit has to land
    apart: float = 0.02  # per coordinate: what is closer is not new

    def __call__(self, case: Case) -> Array:
        agents = [Agent(case, site) for site in range(case.sites)]
        peers = [set(range(case.sites)) - {site} for site in range(case.sites)]
        with one_thread():
            for t in range(case.horizon):
                bests = [agent.best for agent in agents]
                is_early = t < self.rounds * (case.sites - 1)
                hosts = [self._host(agent, bests, peers[agent.site] if is_early else set(), t) for agent in agents]
                alone = [agent for agent, host in zip(agents, hosts, strict=True) if host is None]
                own = iter(propose(alone, case.strategy, t))
                for agent, host in zip(agents, hosts, strict=True):
                    visited = None if host is None else bests[host]
                    has_worked = agent.run(next(own) if visited is None else visited)
                    if host is not None and not (has_worked and self._has_landed(agent)):
                        peers[agent.site].discard(host)
        return executed(agents)

    def _host(self, agent: Agent, bests: Sequence[Array | None], peers: set[int], t: int) -> int | None:
        """The peer whose best design to run; None if there is no peer left with a design that is new."""
        new = [peer for peer in sorted(peers) if (best := bests[peer]) is not None and self._is_new(agent, best)]
        return new[int(agent.case.rng(agent.site, t, PEER).integers(len(new)))] if new else None

    def _is_new(self, agent: Agent, x: Array) -> bool:
        return bool((np.abs(agent.tried - x).max(axis=1) > self.apart).all())

    def _has_landed(self, agent: Agent) -> bool:
        """Whether the last outcome is among the best fifth: fewer than a fifth of all are better."""
        scores = agent.dataset.score
        return int((scores > scores[-1]).sum()) < self.share * len(scores)
