"""What a site makes of the others' best designs: whether to share at all, and how far to be drawn.

    evidence    that these designs lie together, in nats               (`density.py`)
    agreement   rank correlation of the site's own outcomes with l(x) = log p(x)/ε at its own designs; failures are last
    w           = weight / (1 + t/(fade T))                            less and less

Evidence is about the group, agreement about the site: an outlier among sites that have much in common sees the evidence
of the others, and its own outcomes contradict it. Neither leaves the site.

    evidence, no contradiction    together: drawn to the others, and mixes as far as the gate lets
    no evidence (yet)             in doubt: not drawn, and mixes only what keeps much of the own utility
    evidence and contradiction    alone; who has not been where the others are has nothing to contradict
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite, isinf, nan

import numpy as np

from cboc.arrays import Array, is_number
from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.space.space import Space
from cboc.strategy.guide.background import Background, Box, Cloud
from cboc.strategy.guide.density import OptimumDensity, fit_density
from cboc.strategy.guide.guided import Guided
from cboc.utility.improvement import LogEI
from cboc.utility.noisy import NoisyEI
from cboc.utility.utility import Utility

NEAR = 0.5  # nats: where l is above, a design is where the others are
TRIED = 2  # designs near them, before the own outcomes can contradict
POINTS = 1024  # of a space with constraints
LEVELS = 200  # of a parameter; more are as good as continuous
APART = "there is too little evidence that the sites' best designs lie together"
RANGES = {
    "weight": (0.0, 1e6),
    "fade": (1e-6, 1e6),
    "most": (1e-6, 1e6),
    "least": (0.0, 1e12),
    "doubt": (0.0, inf),
    "agreement": (-1.0, 1.0),
}

TOGETHER, ALONE = 0.0, inf  # what a mix has to keep of the utility, beside what the gate asks for


@dataclass(frozen=True)
class Counsel:
    """What a guide says: the utility to go by, and how much of it a mix has to keep to be followed in this round."""

    utility: Utility  # with `bonus` where it is drawn
    keeps: float = TOGETHER  # a share, from 0; above 1: no mix is followed
    reason: str = ""  # why not together, to go on after "for"
    evidence: float | None = None  # nats; None: nothing to judge by
    agreement: float = nan  # NaN: not tried yet

    def __post_init__(self) -> None:
        if not is_number(self.keeps) or not self.keeps >= TOGETHER:
            raise CbocError(
                f"a counsel's keeps is a share of the utility (0: together, above 1: alone); this is {self.keeps!r}."
            )
        if self.evidence is not None and not (is_number(self.evidence) and isfinite(self.evidence)):
            raise CbocError(f"a counsel's evidence is a number of nats, or None; this is {self.evidence!r}.")
        if not is_number(self.agreement) or isinf(self.agreement):
            raise CbocError(
                f"a counsel's agreement is a number, or NaN where there is none; this is {self.agreement!r}."
            )
        if not isinstance(self.reason, str):
            raise CbocError(f"a counsel's reason is words; this is {self.reason!r}.")

    @property
    def is_alone(self) -> bool:
        return self.keeps > 1.0

    @property
    def is_in_doubt(self) -> bool:
        return TOGETHER < self.keeps <= 1.0


GuideLike = Callable[[Utility, Dataset, Array, float, Space], Counsel]
"""A site's utility, its own data, the best designs of the others (m, D), the share of its budget spent, the space ->
counsel. In the first round m is 0."""


@dataclass(frozen=True)
class Guide:
    """How far a site lets itself be drawn; `weight` 0: not at all. LogEI and NoisyEI are, which are logarithms."""

    weight: float = 1.0
    fade: float = 0.1  # of the site's budget, after which the weight is halved
    most: float = 4.0  # c, nats
    least: float = 4.0  # nats of evidence, else the site is in doubt; by chance they are there in 1 case of 40
    doubt: float = 0.5  # of the utility, which a mix has to keep then; ALONE: none is followed
    agreement: float = 0.0  # at least, where there is evidence, else the site works alone

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not is_number(value) or not least <= value <= most:
                raise CbocError(f"a guide's {name} is a number from {least:g} to {most:g}; this is {value!r}.")

    def __call__(self, utility: Utility, data: Dataset, others: Array, progress: float, space: Space) -> Counsel:
        """For a site with these data of its own, to which the best designs of the others (m, D) are known."""
        if not len(others):
            return Counsel(utility, self.doubt, "nobody's best design is known yet")
        where = fit_density(data.best.x, others, background(space))
        if where is None:
            return Counsel(utility, self.doubt, APART, evidence=0.0)
        agreement = agree(where, data)
        if where.evidence < self.least:
            return Counsel(utility, self.doubt, APART, where.evidence, agreement)
        if agreement < self.agreement:
            how = "contradict" if agreement < 0.0 else "agree too little with"
            reason = f"your outcomes {how} the others' best designs (rank correlation {agreement:+.2f})"
            return Counsel(utility, ALONE, reason, where.evidence, agreement)
        weight = self.weight / (1.0 + progress / self.fade)
        if weight > 0.0 and isinstance(utility, LogEI | NoisyEI):
            utility = Guided(utility, where, weight, self.most)
        return Counsel(utility, evidence=where.evidence, agreement=agreement)


@lru_cache(maxsize=8)
def background(space: Space) -> Background:
    """Designs of this space at random, as the evidence knows them."""
    if not space.is_box:
        return Cloud(space.sample(POINTS, np.random.default_rng(0)))
    few = [(j, levels) for j, levels in enumerate(space.grid) if levels is not None and len(levels) <= LEVELS]
    return Box(tuple(few), space.blocks)


def agree(where: OptimumDensity, data: Dataset) -> float:
    """Are the site's outcomes better where the others' best designs lie? From -1 to 1; NaN: it has hardly been near.

    An experiment that failed counts as worse than all that did not.
    """
    lure = where.log_ratio(np.vstack([data.X, data.failures]))
    score = np.append(data.score, np.full(len(data.failures), -inf))
    return rank_correlation(lure, score) if np.sum(lure > NEAR) >= TRIED else nan


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's: from -1 to 1, 0 where one of them is all equal."""
    ranks = np.array([_ranks(a), _ranks(b)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    scale = float(np.sqrt((ranks[0] @ ranks[0]) * (ranks[1] @ ranks[1])))
    return float(ranks[0] @ ranks[1]) / scale if scale > 0.0 else 0.0


def _ranks(values: Array) -> Array:
    """From 1; equal values share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(last - 0.5 * (counts - 1.0))[places]
