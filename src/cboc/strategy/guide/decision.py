"""What a site makes of the others' best designs: whether to share at all, and how far to be drawn.

    log odds     that these designs lie together, in nats              (`density.py`)
    consistency  rank correlation of the site's own outcomes with l(x) = log p(x)/ε at its own designs; failures last
    w            = weight / (1 + t/(fade T))                           decreases with t

The log odds are about the group, consistency is about the site: an outlier among sites that have much in common sees
good odds, but its own outcomes contradict them. Neither leaves the site.

    good odds, no contradiction   together: drawn to the others, and mixes as far as the gate allows
    no good odds (yet)            in doubt: not drawn; borrows best designs while that pays and there is hope for them
                                  (`borrowing.py`), else mixes only if that keeps much of its own utility
    good odds and contradiction   alone; a site that has not been where the others are has nothing to contradict
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np

from cboc.arrays import Array, is_number
from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.space.space import Space
from cboc.strategy.guide.background import Background, Box, Cloud
from cboc.strategy.guide.borrowing import has_patience, originals, own_best
from cboc.strategy.guide.density import OptimumDensity, fit_density
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import APART, Stance
from cboc.utility.utility import Utility

NEAR = 0.5  # nats: a design with l above this is near the others
TRIED = 2  # designs near the others, before the site's own outcomes can contradict them
POINTS = 1024  # drawn from a space with constraints
PATIENCE, HOPE = 2.0, 0.1
LEVELS = 200  # of a parameter; more are as good as continuous
UNDRAWN = "your utility is not a logarithm, so the others' best designs cannot draw it"
RANGES = {
    "weight": (0.0, 1e6),
    "fade": (1e-6, 1e6),
    "most": (1e-6, 1e6),
    "least": (0.0, 1e12),
    "doubt": (0.0, inf),
    "consistency": (-1.0, 1.0),
    "patience": (0.0, 1e6),
    "hope": (0.0, 1e6),
}


@dataclass(frozen=True)
class Counsel:
    """What a guide says: the utility to use, and the site's stance to the others in this turn."""

    utility: Utility | None  # None: the opinion uses no utility
    stance: Stance = Stance.TOGETHER
    keeps: float = 0.0  # in doubt: the share of the utility that a mix must keep
    reason: str = ""  # why not together, or why not drawn, to follow "because"
    log_odds: float | None = None  # nats; None: nothing to judge from
    consistency: float | None = None  # None: no designs near the others yet
    borrows: float | None = None  # it rather runs another's best design that promises this share; None: it does not

    def __post_init__(self) -> None:
        if not isinstance(self.stance, Stance):
            raise CbocError(f"a counsel's stance is one of Stance; this is {self.stance!r}.")
        if not is_number(self.keeps) or not 0.0 <= self.keeps <= 1.0:
            raise CbocError(f"a counsel's keeps is a share of the utility, from 0 to 1; this is {self.keeps!r}.")
        object.__setattr__(self, "keeps", float(self.keeps))
        for name in ("log_odds", "consistency", "borrows"):
            value: Any = getattr(self, name)
            if value is not None and not (is_number(value) and isfinite(value)):
                raise CbocError(f"a counsel's {name} is a number, or None if unknown; this is {value!r}.")
        if self.borrows is not None and self.borrows < 0.0:
            raise CbocError(f"a counsel's borrows is a share of the utility, from 0; this is {self.borrows!r}.")
        if not isinstance(self.reason, str):
            raise CbocError(f"a counsel's reason is a string; this is {self.reason!r}.")

    def pull(self, x: Array) -> float:
        """The bonus that the others add at a design, in nats."""
        bonus = getattr(self.utility, "bonus", None)  # only a drawn utility has one, and a user's may be anything
        if not callable(bonus):
            return 0.0
        found = np.asarray(bonus(x[None]))
        if found.shape != (1,) or found.dtype.kind not in "fiu" or not np.isfinite(found[0]):
            raise CbocError(f"a bonus is a finite number for each design; that of a guide's utility gave {found!r}.")
        return float(found[0])


GuideLike = Callable[[Utility | None, Situation], Counsel]
"""A function from a site's utility (None if it uses none) and what the site knows to a counsel."""


@dataclass(frozen=True)
class Guide:
    """How far a site lets itself be drawn; `weight` 0: not at all."""

    weight: float = 1.0
    fade: float = 0.1  # share of the site's budget after which the weight is halved
    most: float = 4.0  # c, nats
    least: float = 4.0  # nats of log odds, else the site is in doubt; chance reaches them in 1 case of 40
    doubt: float = 0.5  # share of the utility that a mix must keep when in doubt; above 1: no mix is followed
    consistency: float = 0.0  # the least, if the odds are good, else the site works alone
    patience: float = PATIENCE  # in doubt: how many borrowed designs may fail to pay, beyond those that did; 0: none
    hope: float = HOPE  # share of the utility that a borrowed design must promise: could the optimum be there?

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not is_number(value) or not least <= value <= most:
                raise CbocError(f"a guide's {name} is a number from {least:g} to {most:g}; this is {value!r}.")
            object.__setattr__(self, name, float(value))
        if self.doubt > 1.0 and self.patience not in (0.0, PATIENCE):
            raise CbocError("a guide's patience is about borrowing in doubt, and with a doubt above 1 there is none.")
        if (self.patience == 0.0 or self.doubt > 1.0) and self.hope != HOPE:
            raise CbocError("a guide's hope is about borrowing, and with these settings there is none; leave it out.")

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        """The counsel on the others' best designs."""
        data, others = situation.dataset, situation.others
        if not len(data):
            return Counsel(utility, Stance.ALONE, reason="you have no outcome yet")
        if others is None or not len(others):
            return self._doubt(situation, utility, "nobody's best design is known yet")
        own, theirs = own_best(situation), originals(situation, others)
        if not len(theirs):
            return self._doubt(situation, utility, "you have run the best designs of all others")
        shared = own[: situation.common.dimension]
        anywhere = background(situation.common).fitted(np.vstack([shared, theirs]))
        where = fit_density(shared, theirs, anywhere)
        if where is None:
            return self._doubt(situation, utility, APART, 0.0)
        found = consistency(where, data)
        known = None if isnan(found) else found
        if where.log_odds < self.least:
            return self._doubt(situation, utility, APART, where.log_odds, known)
        if found < self.consistency:
            how = "contradict" if found < 0.0 else "agree too little with"
            reason = f"your outcomes {how} the others' best designs (rank correlation {found:+.2f})"
            return Counsel(utility, Stance.ALONE, 0.0, reason, where.log_odds, known)
        weight = self.weight / (1.0 + situation.progress / self.fade)
        if weight == 0.0:
            return Counsel(utility, log_odds=where.log_odds, consistency=known)
        if utility is None or not getattr(utility, "is_log", False):  # a user's utility need not say
            return Counsel(utility, reason=UNDRAWN, log_odds=where.log_odds, consistency=known)
        return Counsel(Drawn(utility, where, weight, self.most), log_odds=where.log_odds, consistency=known)

    def _doubt(
        self,
        situation: Situation,
        utility: Utility | None,
        reason: str,
        log_odds: float | None = None,
        known: float | None = None,
    ) -> Counsel:
        if self.doubt > 1.0:
            return Counsel(utility, Stance.ALONE, 0.0, reason, log_odds, known)
        stance = Stance.DOUBT if self.doubt > 0.0 else Stance.TOGETHER
        borrows = self.hope if self.patience > 0.0 and has_patience(situation, self.patience) else None
        return Counsel(utility, stance, self.doubt, reason, log_odds, known, borrows)


@lru_cache(maxsize=8)
def background(space: Space) -> Background:
    """The background of this space; with what it learns from best designs, the log odds are measured against it."""
    if space.listed is not None:
        return Cloud(space.listed.X)
    if not space.is_box:
        return Cloud(space.sample(POINTS, np.random.default_rng(0)))
    few = [(j, levels) for j, levels in enumerate(space.grid) if levels is not None and len(levels) <= LEVELS]
    return Box(tuple(few), space.choices)


def consistency(where: OptimumDensity, data: Dataset) -> float:
    """How far the site's outcomes are better near the others' best designs, -1 to 1; NaN: too few designs near them.

    A failed experiment counts as worse than all that succeeded.
    """
    designs = np.vstack([data.X, data.failures])[:, : where.centres.shape[1]]
    lure = where.log_ratio(designs)
    score = np.append(data.score, np.full(len(data.failures), -inf))
    return rank_correlation(lure, score) if np.sum(lure > NEAR) >= TRIED else nan


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation: from -1 to 1, 0 if all values of one are equal."""
    ranks = np.array([_ranks(a), _ranks(b)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    scale = float(np.sqrt((ranks[0] @ ranks[0]) * (ranks[1] @ ranks[1])))
    return float(ranks[0] @ ranks[1]) / scale if scale > 0.0 else 0.0


def _ranks(values: Array) -> Array:
    """Ranks from 1; equal values share their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(last - 0.5 * (counts - 1.0))[places]
