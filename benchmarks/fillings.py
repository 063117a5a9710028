"""Ways to fill a plate that were tried beside believers: a batch LogEI, exploring, taking turns, sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from cboc.arrays import Array
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.opinion import ByUtility, Generator, Opinion, by_utility
from cboc.strategy.situation import Situation
from cboc.surrogate.gp import GP
from cboc.utility.gp_based import Surrogated
from cboc.utility.improvement import LogEI
from cboc.utility.thompson import Thompson

BETA = 4.0  # of the confidence bounds
DRAWS = 32  # of the outcomes of wells under way
STEEP = 20.0  # how sharply designs outside the region are punished, in units of log σ per standardised outcome


@dataclass(frozen=True)
class BatchLogEI(Surrogated):
    """What one more well adds to the expected improvement of a plate: log E[EI(x | y)], y the wells under way.

    The sequential-greedy qEI, its expectation over y taken by draws from their joint posterior.
    """

    gp: GP  # conditioned on the wells under way
    weights: Array  # K⁻¹(y - μ) of every draw, (n, S)
    bests: Array  # f* of every draw, (S,)

    is_log = True

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        value = LogEI.worth(mean[:, None] + self.gp.cross(X) @ self.weights, sd[:, None], self.bests)
        return logsumexp(value, axis=1) - np.log(len(self.bests))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        shift, d_shift = self.gp.cross_with_gradient(X, self.weights)
        value, by_mean, by_sd = LogEI.slopes(mean[:, None] + shift, sd[:, None], self.bests)
        share = softmax(value, axis=1)
        moved = ((share * by_mean)[:, :, None] * (d_mean[:, None] + d_shift)).sum(axis=1)
        gradient = moved + (share * by_sd).sum(axis=1)[:, None] * d_sd
        return logsumexp(value, axis=1) - np.log(len(self.bests)), gradient

    def log_worth(self, X: Array) -> Array:
        return self(X)


@dataclass(frozen=True)
class Batch(Bayesian):
    """The first well by LogEI, the others by what each adds to the plate."""

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        if not (count := len(situation.pending)) or not situation.has_data:
            return super().__call__(situation, rng)
        gp = self.surrogate(situation)
        before = self.surrogate(Situation(situation.dataset, situation.space, memory=situation.memory))
        root = np.linalg.cholesky(before.covariance(situation.pending, situation.pending) + 1e-9 * np.eye(count))
        moves = root @ rng.standard_normal((count, DRAWS))  # y - μ
        weights = gp.inverse_root.T @ (gp.inverse_root[:, -count:] @ moves)
        bests = np.maximum(before.y.max(), (gp.y[-count:, None] + moves).max(axis=0))
        return ByUtility(BatchLogEI(gp, weights, bests), situation, rng, tuple(gp.theta.tolist()))


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
    """Every second well explores."""

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        if len(situation.pending) % 2 == 0:
            return Bayesian.__call__(self, situation, rng)
        return self._explore(situation, rng)


@dataclass(frozen=True)
class Crowded(Bayesian):
    """Believers for the first wells; the others by Thompson sampling."""

    after: int = 8

    def opinions(self, gps: Sequence[GP], situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        is_crowded = len(situations[0].pending) >= self.after
        utilities = [(Thompson.on if is_crowded else self.utility)(gp, rng) for gp, rng in zip(gps, rngs, strict=True)]
        return [*by_utility(utilities, situations, rngs, [tuple(gp.theta.tolist()) for gp in gps])]
