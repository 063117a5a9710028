"""A site that keeps its own books: for the methods that are not our consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array, Mask
from cboc.evidence.case import OWN, Case
from cboc.search.landscape import Landscape
from cboc.search.maximise import maximise, maximise_all
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.situation import Situation
from cboc.surrogate.gp import GP


class Agent:
    """A site of the case as it goes through the rounds: its data, its designs, and where its last fit ended."""

    def __init__(self, case: Case, site: int) -> None:
        self.case, self.site = case, site
        self.dataset = case.initial[site]
        self.designs: list[Array] = []
        self.warm_start: tuple[float, ...] | None = None

    @property
    def anchors(self) -> Array:
        """The data, best first."""
        return self.dataset.X[np.argsort(-self.dataset.score, kind="stable")]

    @property
    def best(self) -> Array | None:
        """The best design that worked; None if none has."""
        return self.dataset.best.x if len(self.dataset) else None

    @property
    def tried(self) -> Array:  # (n, D)
        """All designs that were run, failures included."""
        return np.vstack([self.dataset.X, self.dataset.failures])

    def run(self, x: Array) -> bool:
        """Run the experiment; whether it worked."""
        measured = self.case.measured(self.site, x[None])
        self.dataset += measured
        self.designs.append(x)
        return len(measured) > 0


def surrogates(agents: Sequence[Agent], strategy: Bayesian) -> list[GP]:
    """The surrogate of every agent, from where its last one ended."""
    situations = [Situation(agent.dataset, agent.case.space, memory=agent.warm_start) for agent in agents]
    gps = strategy.surrogates(situations)
    for agent, gp in zip(agents, gps, strict=True):
        agent.warm_start = tuple(gp.theta.tolist())
    return gps


def propose(agents: Sequence[Agent], strategy: Bayesian, t: int) -> list[Array]:
    """What each agent would run if it were alone; found together, with the same bits as alone."""
    if not agents:
        return []
    case = agents[0].case
    rngs = [case.rng(agent.site, t, OWN) for agent in agents]
    gps = surrogates(agents, strategy)
    utilities = [strategy.utility(gp, rng) for gp, rng in zip(gps, rngs, strict=True)]
    return [x for x, _ in maximise_all(utilities, case.space, rngs)]


@dataclass(frozen=True)
class Untried:
    """A landscape that is minus infinity at designs that were run before."""

    landscape: Landscape
    tried: Array  # (n, D)

    @property
    def anchors(self) -> Array:
        return self.landscape.anchors

    def __call__(self, X: Array) -> Array:
        return np.where(self._is_tried(X), -np.inf, self.landscape(X))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        values, gradients = self.landscape.with_gradient(X)
        return np.where(self._is_tried(X), -np.inf, values), gradients

    def _is_tried(self, X: Array) -> Mask:  # (n,)
        return np.asarray((X[:, None, :] == self.tried).all(axis=2).any(axis=1))


def maximise_anew(landscape: Landscape, space: Space, tried: Array, rng: np.random.Generator) -> Array:  # (D,)
    """The best design; where designs can be counted, the best of those that are new."""
    return maximise(landscape if space.is_continuous else Untried(landscape, tried), space, rng)[0]


def executed(agents: Sequence[Agent]) -> Array:  # (K, T, D)
    """The designs that the agents ran."""
    return np.array([agent.designs for agent in agents])
