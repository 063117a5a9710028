"""Ways to fill a plate that were tried beside a batch LogEI: believers, exploring, taking turns, sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.opinion import ByUtility, Generator, Opinion, by_utility
from cboc.strategy.situation import Situation
from cboc.surrogate.gp import GP
from cboc.utility.gp_based import Surrogated
from cboc.utility.improvement import LogEI
from cboc.utility.thompson import Thompson
from cboc.utility.utility import Utility

BETA = 4.0  # of the confidence bounds
STEEP = 20.0  # how sharply designs outside the region are punished, in units of log σ per standardised outcome


def believing(gp: GP, rng: Generator) -> LogEI:  # noqa: ARG001
    """LogEI as if experiments under way would give what is predicted."""
    return LogEI(gp)


@dataclass(frozen=True)
class InRegion(Surrogated):
    """log σ(x) where the optimum may still be: UCB-PE (Contal et al. 2013), with a soft edge.

    The region is UCB(x) >= max LCB, by the surrogate without the wells that are under way.
    """

    gp: GP
    before: GP
    floor: float

    is_log = True

    def __call__(self, X: Array) -> Array:
        mean, sd = self.before.moments(X)
        short = np.minimum(mean + np.sqrt(BETA) * sd - self.floor, 0.0)
        return np.log(self.gp.moments(X)[1]) + STEEP * short

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.before.moments_with_gradient(X)
        short = mean + np.sqrt(BETA) * sd - self.floor
        _, now, _, d_now = self.gp.moments_with_gradient(X)
        slope = np.where(short < 0.0, STEEP, 0.0)[:, None] * (d_mean + np.sqrt(BETA) * d_sd)
        return np.log(now) + STEEP * np.minimum(short, 0.0), d_now / now[:, None] + slope

    def log_worth(self, X: Array) -> Array:
        return self(X)


@dataclass(frozen=True)
class Exploring(Bayesian):
    """The first well by LogEI, the others where the optimum may be and least is known."""

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        if not len(situation.pending) or not situation.has_data:
            return super().__call__(situation, rng)
        return self._explore(situation, rng)

    def _explore(self, situation: Situation, rng: Generator) -> Opinion:
        gp = self.surrogate(situation)
        before = self.surrogate(Situation(situation.dataset, situation.space, memory=situation.memory))
        mean, sd = before.moments(before.X)
        floor = float((mean - np.sqrt(BETA) * sd).max())
        return ByUtility(InRegion(gp, before, floor), situation, rng, tuple(gp.theta.tolist()))


@dataclass(frozen=True)
class Alternating(Exploring):
    """Every second well explores; the others are believers."""

    utility: Callable[[GP, Generator], Utility] = believing

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        if len(situation.pending) % 2 == 0:
            return Bayesian.__call__(self, situation, rng)
        return self._explore(situation, rng)


@dataclass(frozen=True)
class Crowded(Bayesian):
    """The utility for the first wells; the others by Thompson sampling."""

    after: int = 24

    def opinions(self, gps: Sequence[GP], situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        is_crowded = len(situations[0].pending) >= self.after
        utilities = [(Thompson.on if is_crowded else self.utility)(gp, rng) for gp, rng in zip(gps, rngs, strict=True)]
        return [*by_utility(utilities, situations, rngs, [tuple(gp.theta.tolist()) for gp in gps])]
