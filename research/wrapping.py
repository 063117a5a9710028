"""What the candidates are made of: a setup of a case, and strategies around other strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

import numpy as np

from cboc import Ledger, Study
from cboc.arrays import Array
from cboc.consensus.rules import Snapshot
from cboc.data.dataset import Dataset
from cboc.evidence.case import Case
from cboc.evidence.methods.consensus import executed, rounds, study_of
from cboc.exchange.network import Network
from cboc.strategy.gate import Gate, GatedOpinion, GateLike
from cboc.strategy.opinion import Opinion, PassedOn, Strategy
from cboc.strategy.situation import Situation
from cboc.surrogate.gp import GP
from cboc.utility.utility import Utility

Rng = np.random.Generator


@dataclass(frozen=True)
class Setup:
    """How the sites of a case collaborate."""

    strategy: Strategy
    rule: Any = "uniform"
    shares_best: bool = False
    network: Callable[[Study], Network] = Ledger


Candidate = Callable[[Case], Setup]


def designs(case: Case, candidate: Candidate) -> Array:  # (K, T, D)
    """What the sites run, round by round."""
    setup = candidate(case)
    study = study_of(case, setup.rule, shares_best=setup.shares_best)
    return executed(case, rounds(case, study, setup.network(study), setup.strategy))


@dataclass(frozen=True)
class Wrapped(Strategy):
    """A strategy around another one. What it remembers itself comes before what the other one does."""

    strategy: Strategy

    own: int = 0  # numbers that it remembers itself

    @property
    def can_batch(self) -> bool:
        return self.strategy.can_batch

    def surrogate(self, situation: Situation) -> GP | None:
        return self.strategy.surrogate(situation)

    def __call__(self, situation: Situation, rng: Rng) -> Opinion:
        return self.wrap(self.strategy(self._inner(situation), rng), situation, rng)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Rng]) -> list[Opinion]:
        opinions = self.strategy.batch([self._inner(situation) for situation in situations], rngs)
        return [self.wrap(*each) for each in zip(opinions, situations, rngs, strict=True)]

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:
        raise NotImplementedError

    def _inner(self, situation: Situation) -> Situation:
        memory = situation.memory
        return situation if memory is None else replace(situation, memory=memory[self.own :] or None)

    def remembered(self, situation: Situation, first: tuple[float, ...]) -> tuple[float, ...]:
        """Its own numbers, as it left them."""
        return first if situation.memory is None else situation.memory[: self.own]


@dataclass(frozen=True)
class Voice(PassedOn):
    """An opinion that passes on what another one says, and knows the situation it was formed in."""

    situation: Situation = field(repr=False)


@dataclass(frozen=True)
class GatedBy(Wrapped):
    """Behind a gate that depends on where the site stands."""

    gate: Callable[[Situation, Opinion], GateLike] = lambda *_: Gate()

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:  # noqa: ARG002
        return GatedOpinion(opinion, self.gate(situation, opinion))


def follows(utility: Utility, x: Array, own: Array, ratio: float) -> bool:
    """Does x cost at most a share 1 - ratio of the utility?"""
    return ratio == 0.0 or bool(utility.log_worth(x[None])[0] >= utility.log_worth(own[None])[0] + log(ratio))


def has_improved(data: Dataset) -> bool:
    """Was the last experiment better than all before?"""
    return bool(data.score[-1] > data.score[:-1].max())


def is_new(data: Dataset, x: Array) -> bool:
    """Has the site been nowhere near?"""
    return bool(np.abs(data.X - x).max(axis=1).min() > 1e-2)


def average(snapshot: Snapshot, share: float | Array) -> Array:
    """CBOC-U with another share of the mean; of two sites with different shares, the smaller one."""
    shares = np.broadcast_to(np.minimum(share, 1.0 - snapshot.progress), (snapshot.sites,))
    W = np.minimum.outer(shares, shares) / snapshot.sites
    np.fill_diagonal(W, 0.0)
    return W + np.diag(1.0 - W.sum(axis=1))
