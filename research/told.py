"""A surrogate that is told of the others' best designs: a prototype without a rule for when to borrow.

f_j(x_j) = v    at the best design of site j, v as good as the own best was when it was heard
f_j = √r-alike: cov(f_k(x), f_j(x')) = r k(x, x')   r from the own outcomes, given what the others posted
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve, cholesky

from cboc.arrays import Array
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.guide.borrowing import originals
from cboc.strategy.opinion import Blind, Generator, Opinion, Strategy
from cboc.strategy.situation import Situation
from cboc.surrogate.algebra import invert_root
from cboc.surrogate.gp import GP
from cboc.surrogate.kernels import squared_distances

SHARES = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97])


@dataclass(frozen=True)
class Told(Strategy):
    own: Bayesian
    prior: tuple[float, ...] = (1.0,) * len(SHARES)
    lift: float = 0.0

    can_batch = True

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return self.batch([situation], [rng])[0] if situation.has_data else Blind(situation, rng)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        gps = self.own.surrogates(situations)
        told = [self.tell(gp, s) for gp, s in zip(gps, situations, strict=True)]
        return self.own.opinions(told, situations, rngs)

    def surrogate(self, situation: Situation) -> GP | None:
        return self.own.surrogate(situation)

    def tell(self, gp: GP, s: Situation) -> GP:
        if s.others is None or not len(s.others) or gp.believed:
            return gp
        X, v = heard(gp, s, self.lift)
        if not len(X):
            return gp
        n, m = len(gp.y), len(X)
        K = gp.signal * gp.kernel(squared_distances(np.vstack([gp.X, X]) / gp.lengthscales))[0]
        y = gp.y - gp.mean
        scores = np.array([evidence(K, gp.noises, y, v - gp.mean, r) for r in SHARES]) + np.log(self.prior)
        weights = np.exp(scores - scores.max())
        r = float(weights @ SHARES / weights.sum())
        if r < 0.05:
            return gp
        A, both = joint(K, gp.noises, y, v - gp.mean, r, n)
        L = cholesky(A, lower=True)
        alpha = cho_solve((L, True), both)
        return replace(
            gp,
            X=np.vstack([gp.X, X]),
            y=np.append(gp.y, np.full(m, gp.y.min())),  # what is not the own does not count as the best
            alpha=alpha,
            noises=np.append(gp.noises, np.full(m, (1 - r * r) / (r * r) + gp.noise)),
            inverse_root=invert_root(L),
        )


def heard(gp: GP, s: Situation, lift: float) -> tuple[Array, Array]:
    """The others' best designs that are news to the site, or that it borrowed, and how good they were for them."""
    D, S = gp.X.shape[1], s.others.shape[1]
    best = s.dataset.best.x
    fresh = originals(s, s.others)
    fresh = np.hstack([fresh, np.tile(best[S:], (len(fresh), 1))])
    lent, values = [], []
    for x in s.borrowed.reshape(-1, D):
        places = np.flatnonzero((x == gp.X).all(axis=1))
        if len(places) and places[0] > 0:
            lent.append(x)
            values.append(gp.y[: places[0]].max())
    X = np.vstack([fresh, np.array(lent).reshape(-1, D)])
    return X, np.append(np.full(len(fresh), gp.y.max() + lift), values)


def joint(K: Array, noises: Array, y: Array, v: Array, r: float, n: int) -> tuple[Array, Array]:
    A = K.copy()
    A[np.arange(n), np.arange(n)] += noises
    extra = np.arange(n, len(A))
    A[extra, extra] += (1 - r * r) / (r * r) + 1e-6
    return A, np.append(y, v / r)


def evidence(K: Array, noises: Array, y: Array, v: Array, r: float) -> float:
    """log p(own outcomes | what was heard, r)."""
    n = len(y)
    if r == 0.0:
        A = K[:n, :n].copy()
        A[np.arange(n), np.arange(n)] += noises
        return density(A, y)
    A, both = joint(K, noises, y, v, r, n)
    return density(A, both) - density(A[n:, n:], both[n:])


def density(A: Array, y: Array) -> float:
    L = cholesky(A, lower=True)
    return float(-0.5 * y @ cho_solve((L, True), y) - np.log(np.diag(L)).sum())
