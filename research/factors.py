"""Evidence as a product over parameters: a prototype of a guide that hears what parameters say one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import isnan

import numpy as np

from cboc.arrays import Array
from cboc.space.space import Space
from cboc.strategy.guide.background import Box, _log_mean
from cboc.strategy.guide.decision import Counsel, Guide, background, rank_correlation
from cboc.strategy.guide.density import DOUBTS, WIDTHS
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import APART, Stance
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Factor:
    part: slice
    centres: Array  # (m, d)
    width: float
    doubt: float
    log_odds: float
    log_heights: Array  # (m,)


def parts(space: Space) -> list[slice]:
    taken = {j for block in space.blocks for j in range(block.start, block.stop)}
    singles = [slice(j, j + 1) for j in range(space.dimension) if j not in taken]
    return sorted([*space.blocks, *singles], key=lambda s: s.start)


def masses(space: Space, part: slice, Z: Array) -> Array:  # (w, m)
    """log m(z, h) of one parameter's background."""
    if not space.is_box:
        cloud = background(space).points[:, part]
        return _log_mean(((Z[:, None] - cloud) ** 2).sum(axis=2), WIDTHS)
    if part.stop - part.start > 1:
        return Box((), (slice(0, part.stop - part.start),)).log_masses(Z, WIDTHS)
    grid = space.grid[part.start]
    few = () if grid is None or len(grid) > 200 else ((0, grid),)
    return Box(few).log_masses(Z, WIDTHS)


def fit(space: Space, own: Array, others: Array) -> list[Factor]:
    found = []
    for part in parts(space):
        Z = np.vstack([own[part], others[:, part]])
        squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
        np.fill_diagonal(squared, np.inf)
        logm = masses(space, part, Z)
        bumps = -0.5 * squared / WIDTHS[:, None, None] ** 2 - logm[:, None]
        top = bumps.max(axis=2)
        predicted = top + np.log(np.exp(bumps - top[:, :, None]).sum(axis=2) / len(others))
        doubts = DOUBTS[:, None, None]
        scores = np.logaddexp(np.log(doubts), np.log1p(-doubts) + predicted).sum(axis=2) + 0.5 * np.log(doubts[:, 0])
        e, h = np.unravel_index(np.argmax(scores), scores.shape)
        odds = float(scores[e, h])
        if odds > 0.0:
            eps = float(DOUBTS[e])
            heights = np.log((1 - eps) / eps / len(others)) - logm[h, 1:]
            found.append(Factor(part, others[:, part], float(WIDTHS[h]), eps, odds, heights))
    return found


@lru_cache(maxsize=64)
def threshold(space: Space, sites: int, chance: float = 0.05) -> float:
    """The log odds that so many random designs reach with this chance."""
    rng = np.random.default_rng(1)
    sums = []
    for _ in range(300):
        Z = space.sample(sites, rng, method="uniform")
        sums.append(sum(f.log_odds for f in fit(space, Z[0], Z[1:])))
    return float(np.quantile(sums, 1.0 - chance))


def log_ratio(factors: list[Factor], X: Array) -> tuple[Array, Array]:
    total, slope = np.zeros(len(X)), np.zeros(X.shape)
    for f in factors:
        steps = (f.centres - X[:, None, f.part]) / f.width  # (n, m, d)
        logs = f.log_heights - 0.5 * (steps * steps).sum(axis=2)
        ratio = np.logaddexp.reduce(np.column_stack([np.zeros(len(X)), logs]), axis=1)
        total += ratio
        share = np.exp(logs - ratio[:, None])
        slope[:, f.part] += (share[:, :, None] * steps).sum(axis=1) / f.width
    return total, slope


@dataclass(frozen=True)
class FactorDrawn:
    base: Utility
    factors: list[Factor] = field(repr=False)
    weight: float
    most: float
    is_log = True

    @property
    def anchors(self) -> Array:
        own = self.base.anchors[:2]
        centres = np.tile(own[:1], (2, 1))
        for f in self.factors:
            centres[: len(f.centres[:2]), f.part] = f.centres[:2]
        return np.vstack([own, centres])

    def __call__(self, X: Array) -> Array:
        return self.base(X) + self.bonus(X)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        value, gradient = self.base.with_gradient(X)
        ratio, slope = log_ratio(self.factors, X)
        saturated = np.tanh(self.weight * ratio / self.most)
        return value + self.most * saturated, gradient + (self.weight * (1 - saturated**2))[:, None] * slope

    def log_worth(self, X: Array) -> Array:
        return self.base.log_worth(X)

    def bonus(self, X: Array) -> Array:
        return self.most * np.tanh(self.weight * log_ratio(self.factors, X)[0] / self.most)


@dataclass(frozen=True)
class FactorGuide(Guide):
    chance: float = 0.05

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        data, others = situation.dataset, situation.others
        if not len(data):
            return Counsel(utility, Stance.ALONE, reason="you have no outcome yet")
        if others is None or not len(others):
            return self._doubt(situation, utility, "nobody's best design is known yet")
        space = situation.common
        factors = fit(space, data.best.x[: space.dimension], others)
        odds = sum(f.log_odds for f in factors)
        if not factors or odds < max(threshold(space, len(others) + 1, self.chance), 1.0):
            return self._doubt(situation, utility, APART, odds)
        designs = np.vstack([data.X, data.failures])[:, : space.dimension]
        lure = log_ratio(factors, designs)[0]
        score = np.append(data.score, np.full(len(data.failures), -np.inf))
        near = lure > 0.5 + 0.5 * lure.max()
        found = rank_correlation(lure, score) if near.sum() >= 2 else np.nan
        known = None if isnan(found) else found
        if found < self.consistency:
            return Counsel(utility, Stance.ALONE, 0.0, "your outcomes contradict the others", odds, known)
        weight = self.weight / (1.0 + situation.progress / self.fade)
        return Counsel(FactorDrawn(utility, factors, weight, self.most), log_odds=odds, consistency=known)
