"""A ranking-weighted ensemble of everybody's Gaussian processes: RGPE (Feurer, Letham and Bakshy, 2018).

Everybody's outcomes are needed, so it is a ceiling and no rival. Each site predicts with all surrogates, each on its
own standardised scale,

    μ  = Σ_i w_i μ_i,   σ² = Σ_i w_i² σ_i²
    w_i = share of draws in which surrogate i has the lowest loss (ties are shared)
    loss of a draw f_i at the site's designs = Σ_ab [f_i(x_a) < f_i(x_b)] ≠ [y_a < y_b]

The site's own surrogate has seen y, so its draws are leave-one-out, each compared with the outcomes that were measured.
A surrogate whose median loss exceeds the 95 % quantile of the own one's gets no weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.evidence.case import DRAW, SEARCH, Case
from cboc.evidence.methods.agent import Agent, executed, maximise_anew, surrogates
from cboc.surrogate.algebra import cholesky
from cboc.surrogate.gp import GP
from cboc.utility.improvement import LogEI

DRAWS = 256
CREDIBLE = 0.95  # the quantile of the own loss beyond which another surrogate is left out


def rgpe(case: Case) -> Array:  # (K, T, D)
    """LogEI of every site on its ensemble."""
    agents = [Agent(case, site) for site in range(case.sites)]
    with one_thread():
        for t in range(case.horizon):
            gps = surrogates(agents, case.strategy)
            designs = []
            for agent, gp in zip(agents, gps, strict=True):
                weights = ranking_weights(gps, agent.site, case.rng(agent.site, t, DRAW))
                parts = [(weight, other) for weight, other in zip(weights, gps, strict=True) if weight > 0.0]
                ensemble = Ensemble(parts, float(gp.y.max()), agent.anchors)
                rng = case.rng(agent.site, t, SEARCH)
                designs.append(maximise_anew(ensemble, case.space, agent.tried, rng))
            for agent, x in zip(agents, designs, strict=True):
                agent.run(x)
    return executed(agents)


def ranking_weights(gps: Sequence[GP], site: int, rng: np.random.Generator) -> Array:  # (K,)
    """The weight of every surrogate in the ensemble of one site."""
    own = gps[site]
    losses = np.array([_own_losses(own, rng) if gp is own else _losses(gp, own, rng) for gp in gps])  # (K, S)
    limit = np.quantile(losses[site], CREDIBLE)
    is_left_out = (np.median(losses, axis=1) > limit) & (np.arange(len(gps)) != site)
    losses[is_left_out] = np.inf
    is_lowest = losses == losses.min(axis=0)
    weights: Array = (is_lowest / is_lowest.sum(axis=0)).mean(axis=1)
    return weights


def _losses(gp: GP, own: GP, rng: np.random.Generator) -> Array:  # (S,)
    """The misranked pairs of each draw from another site's surrogate at the own designs."""
    root = cholesky(gp.covariance(own.X, own.X))
    f = gp.moments(own.X)[0] + rng.standard_normal((DRAWS, len(own.y))) @ root.T
    return _misranked(f, f, own.y)


def _own_losses(own: GP, rng: np.random.Generator) -> Array:  # (S,)
    """Misranked pairs of leave-one-out draws; each stands against what was measured."""
    held_out = own.leave_one_out()
    f = held_out.mean + held_out.sd * rng.standard_normal((DRAWS, len(own.y)))
    return _misranked(f, np.broadcast_to(own.y, f.shape), own.y)


def _misranked(f: Array, g: Array, y: Array) -> Array:  # (S, n), (S, n), (n,) -> (S,)
    """Σ_ab [f_a < g_b] ≠ [y_a < y_b] of every draw."""
    wrong = (f[:, :, None] < g[:, None, :]) != (y[:, None] < y)
    return wrong.sum(axis=(1, 2)).astype(float)


@dataclass(frozen=True)
class Ensemble:
    """LogEI over a site's best on a weighted sum of surrogates."""

    parts: Sequence[tuple[float, GP]]  # weights and surrogates
    best: float
    anchors: Array

    def __call__(self, X: Array) -> Array:
        mean, variance = np.zeros((2, len(X)))
        for w, gp in self.parts:
            m, s = gp.moments(X)
            mean += w * m
            variance += (w * s) ** 2
        return LogEI.worth(mean, np.sqrt(variance), self.best)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, variance = np.zeros((2, len(X)))
        d_mean, d_variance = np.zeros((2, *X.shape))
        for w, gp in self.parts:
            m, s, d_m, d_s = gp.moments_with_gradient(X)
            mean += w * m
            variance += (w * s) ** 2
            d_mean += w * d_m
            d_variance += 2.0 * w**2 * s[:, None] * d_s
        sd = np.sqrt(variance)
        value, by_mean, by_sd = LogEI.slopes(mean, sd, self.best)
        return value, by_mean[:, None] * d_mean + by_sd[:, None] * d_variance / (2.0 * sd[:, None])
