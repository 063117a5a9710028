"""Borrowing in other ways than the library's: for all groups, by other rules, and with copies as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.strategy.guide.borrowing import GOOD, has_patience, is_new, originals, to_borrow
from cboc.strategy.guide.decision import Counsel, Guide
from cboc.strategy.opinion import Generator, Heard, Opinion, PassedOn, Strategy
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Stance, Verdict, as_verdict
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Visiting(Strategy):
    """A strategy that borrows whenever it is in doubt, however many the others are."""

    strategy: Strategy
    patience: float = 2.0
    hope: float = 0.0  # the least share of the own proposal's utility
    good: float = GOOD  # 0: only a new best pays
    stances: tuple[Stance, ...] = (Stance.DOUBT,)
    by_turns: bool = False  # never twice running

    @property
    def can_batch(self) -> bool:
        return self.strategy.can_batch

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return VisitingOpinion(self.strategy(situation, rng), self, situation)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        opinions = self.strategy.batch(situations, rngs)
        return [VisitingOpinion(o, self, s) for o, s in zip(opinions, situations, strict=True)]


@dataclass(frozen=True)
class VisitingOpinion(PassedOn):
    how: Visiting
    situation: Situation = field(repr=False)

    def judge(self, heard: Heard) -> Verdict:
        verdict, utility = as_verdict(self.opinion.judge(heard)), self.opinion.utility
        if heard.note.stance not in self.how.stances or utility is None or not self._has_patience():
            return verdict
        designs = to_borrow(self.situation, heard.others, heard.own)
        if not len(designs):
            return verdict
        worth = utility.log_worth(designs)
        best = int(np.argmax(worth))
        if self.how.hope and worth[best] < heard.note.log_worth + np.log(self.how.hope):
            return verdict
        return replace(verdict, follows=False, instead=tuple(designs[best].tolist()), borrows=True)

    def _has_patience(self) -> bool:
        data, borrowed = self.situation.dataset, self.situation.borrowed
        if self.how.by_turns and len(borrowed) and len(data) and (data.X[-1] == borrowed[-1]).all():
            return False
        if self.how.good == GOOD:
            return has_patience(self.situation, self.how.patience)
        paid = 0
        for x in borrowed:
            places = np.flatnonzero((x == data.X).all(axis=1))
            if len(places) and places[0]:
                until = data.score[: places[0]]
                paid += bool(np.sum(until > data.score[places[0]]) < max(self.how.good * len(until), 1))
        return len(borrowed) - paid < paid + self.how.patience


@dataclass(frozen=True)
class Clean:
    """A guide whose evidence comes from originals, however many the others are."""

    guide: Guide

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        others, data = situation.others, situation.dataset
        if others is None or not len(others) or not len(data):
            return self.guide(utility, situation)
        theirs = originals(situation, others)
        is_own = is_new(data.X, situation.borrowed)
        is_own = is_own if is_own.any() else ~is_own
        return self.guide(utility, replace(situation, others=theirs, dataset=_part(data, is_own)))


def _part(data: Dataset, chosen: Array) -> Dataset:
    kept = data.X[chosen], data.y[chosen]
    return Dataset(*kept, sem=data.sem[chosen], failures=data.failures, direction=data.direction)


@dataclass(frozen=True)
class FewBorrow:
    """A guide that borrows in groups of up to five, or where there are options."""

    guide: Guide

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        is_small = situation.others is None or len(situation.others) <= 4 or len(situation.common.blocks) > 0
        return (self.guide if is_small else replace(self.guide, patience=0.0))(utility, situation)
