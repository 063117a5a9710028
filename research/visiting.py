"""Visits: prototypes of a strategy that runs the others' best designs, guarded by the site's own outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.strategy.opinion import Generator, Heard, Opinion, PassedOn, Strategy
from cboc.strategy.guide.decision import Counsel, Guide
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Stance, Verdict
from cboc.utility.improvement import LogEI
from cboc.utility.utility import Utility

APART = 0.02


@dataclass(frozen=True)
class Visiting(Strategy):
    strategy: Strategy
    when: str = "always"  # always, doubt
    choice: str = "random"  # random, promise
    patience: int = 2  # visit while misses < hits + patience
    share: float = 0.2
    veto: float = np.inf  # nats of utility that a visit may cost
    most: float = 1.0  # share of the turns

    @property
    def can_batch(self) -> bool:
        return self.strategy.can_batch

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return VisitingOpinion(self.strategy(situation, rng), self, situation, rng)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        opinions = self.strategy.batch(situations, rngs)
        return [VisitingOpinion(*each[:1], self, *each[1:]) for each in zip(opinions, situations, rngs, strict=True)]


@dataclass(frozen=True)
class VisitingOpinion(PassedOn):
    rule: Visiting
    situation: Situation
    rng: Generator

    def judge(self, heard: Heard) -> Verdict:
        verdict = self.opinion.judge(heard)
        x = self._visit(heard)
        return verdict if x is None else replace(verdict, follows=False, instead=tuple(x.tolist()), reason="visit")

    def _visit(self, heard: Heard) -> Array | None:
        rule, at = self.rule, self.situation
        if rule.when == "doubt" and heard.note.stance is Stance.TOGETHER:
            return None
        if not len(heard.others) or at.progress > rule.most:
            return None
        hits, misses = landed(at.dataset, at.visits, rule.share)
        if misses >= hits + rule.patience:
            return None
        tried = np.vstack([at.dataset.X, at.dataset.failures, at.pending.reshape(-1, at.space.dimension)])
        S = heard.others.shape[1]
        is_new = (np.abs(heard.others[:, None] - tried[None, :, :S]).max(axis=2) > APART).all(axis=1)
        new = [at.space.project(np.append(x, heard.own[S:])) for x in heard.others[is_new]]
        if not new:
            return None
        X = np.array(new)
        worth = self.opinion.utility.log_worth(X)
        if worth.max() < heard.note.log_worth - rule.veto:
            return None
        if rule.choice == "promise":
            return X[int(worth.argmax())]
        ok = np.flatnonzero(worth >= heard.note.log_worth - rule.veto)
        return X[ok[int(np.random.default_rng(len(tried)).integers(len(ok)))]]


def landed(data: Dataset, visits: Array, share: float) -> tuple[int, int]:
    """How many visits landed in the best fifth of the outcomes until then, and how many did not."""
    hits = misses = 0
    for x in visits:
        rows = np.flatnonzero((data.X == x).all(axis=1))
        if not len(rows):
            misses += bool((data.failures == x).all(axis=1).any())
            continue
        before = data.score[: rows[0] + 1]
        is_hit = (before > before[-1]).sum() < share * len(before)
        hits, misses = hits + is_hit, misses + (not is_hit)
    return int(hits), int(misses)


@dataclass(frozen=True)
class Clean:
    """A guide that leaves out what was copied: designs that the site has run, and its own best if it was a visit."""

    guide: Guide = Guide()  # noqa: RUF009
    radius: float = APART  # of a copy

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        others, data = situation.others, situation.dataset
        if others is None or not len(others) or not len(data):
            return self.guide(utility, situation)
        S = others.shape[1]
        tried = np.vstack([data.X, data.failures])[:, :S]
        kept: list[Array] = []
        for x in others:
            if _far(x, tried, self.radius) and _far(x, np.array(kept).reshape(-1, S), self.radius):
                kept.append(x)
        if not kept:
            return self.guide._doubt(situation, utility, "you have run all of the others' best designs")
        own = np.array([_far(x[:S], situation.visits[:, :S], self.radius) for x in data.X])
        own = own if own.any() else ~own
        mine = Dataset(data.X[own], data.y[own], sem=data.sem[own], failures=data.failures, direction=data.direction)
        return self.guide(utility, replace(situation, others=np.array(kept), dataset=mine))


def _far(x: Array, others: Array, radius: float) -> bool:
    return not len(others) or bool((np.abs(others - x).max(axis=1) > radius).all())


@dataclass(frozen=True)
class Untried:
    """A utility that is minus infinity where the site has been."""

    base: Utility
    tried: Array
    is_log = True

    @property
    def anchors(self) -> Array:
        return self.base.anchors

    def __call__(self, X: Array) -> Array:
        return np.where((X[:, None] == self.tried).all(axis=2).any(axis=1), -np.inf, self.base(X))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.base.with_gradient(X)

    def log_worth(self, X: Array) -> Array:
        return self.base.log_worth(X)

    @staticmethod
    def on(gp: object, rng: Generator) -> Untried:
        return Untried(LogEI.on(gp, rng), gp.X)
