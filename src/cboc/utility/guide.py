"""What a site makes of the others' best designs: whether to share at all, and how far to be drawn.

    evidence    that these designs lie together, in nats               (`consensus/whereabouts.py`)
    agreement   rank correlation of the site's own outcomes with l(x) = log p(x)/ε at its own designs
    w           = weight / (1 + t/(fade T))                            less and less

Evidence is about the group, agreement about the site: an outlier among sites that have much in common sees the evidence
of the others, and its own outcomes contradict it. Neither leaves the site.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from cboc.arrays import Array
from cboc.consensus.whereabouts import Whereabouts, locate
from cboc.data import Dataset
from cboc.errors import CbocError
from cboc.utility.guided import Guided
from cboc.utility.improvement import LogEI
from cboc.utility.noisy import NoisyEI
from cboc.utility.utility import Utility

NEAR = 0.5  # nats: where l is above, a design is where the others are
TRIED = 2  # designs near them, before the own outcomes can contradict


@dataclass(frozen=True)
class Counsel:
    """What a guide says: the utility to go by, and whether this round is shared."""

    utility: Utility  # with `bonus` where it is drawn
    is_shared: bool
    evidence: float | None = None  # nats; None: nothing to judge by
    agreement: float = nan  # NaN: not tried yet


GuideLike = Callable[[Utility, Dataset, Array, float], Counsel]
"""A site's utility, its own data, the best designs of the others (m, D), the share of its budget spent -> counsel."""


@dataclass(frozen=True)
class Guide:
    """How far a site lets itself be drawn; `weight` 0: not at all. LogEI and NoisyEI are, which are logarithms."""

    weight: float = 1.0
    fade: float = 0.1  # of the site's budget, after which the weight is halved
    most: float = 4.0  # c, nats
    least: float = 4.0  # nats of evidence, else the site works alone; by chance they are there in 1 case of 40
    agreement: float = 0.0  # likewise

    def __post_init__(self) -> None:
        for name in ("weight", "fade", "most", "least", "agreement"):
            value = getattr(self, name)
            least = -1.0 if name == "agreement" else 0.0
            if not isinstance(value, int | float) or not isfinite(value) or value < least:
                raise CbocError(f"a guide's {name} is a number from {least:g}; this is {value!r}.")
        if not (self.fade > 0.0 and self.most > 0.0):
            raise CbocError(f"a guide's fade and most are above 0; these are {self.fade!r} and {self.most!r}.")

    def __call__(self, utility: Utility, data: Dataset, others: Array, progress: float) -> Counsel:
        """For a site with these data of its own, to which the best designs of the others (m, D) are known."""
        where = locate(data.best.x, others) if len(others) else None
        if where is None:
            return Counsel(utility, is_shared=False, evidence=0.0)
        agreement = agree(where, data)
        if where.evidence < self.least or agreement < self.agreement:
            return Counsel(utility, False, where.evidence, agreement)
        weight = self.weight / (1.0 + progress / self.fade)
        if weight > 0.0 and isinstance(utility, LogEI | NoisyEI):
            utility = Guided(utility, where, weight, self.most)
        return Counsel(utility, True, where.evidence, agreement)


def agree(where: Whereabouts, data: Dataset) -> float:
    """Are the site's outcomes better where the others' best designs lie? From -1 to 1; NaN: it has hardly been near."""
    lure = where.log_ratio(data.X)
    return rank_correlation(lure, data.score) if np.sum(lure > NEAR) >= TRIED else nan


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
