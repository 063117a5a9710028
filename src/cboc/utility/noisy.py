"""Noisy expected improvement: EI where the best so far is itself uncertain (Letham et al., Bayesian Analysis 2019).

    NEI(x) = mean over draws s of EI(x; f*_s, GP through f_s),   f_s ~ posterior of f at the data,  f*_s = max f_s

All draws share one noise-free covariance, so they differ only in α_s; the mean is taken as a log-sum-exp of LogEI.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import ndtri

from cboc.arrays import Array
from cboc.space.sobol import sobol
from cboc.surrogate.algebra import cholesky
from cboc.surrogate.gp import GP
from cboc.utility.gp_based import Surrogated
from cboc.utility.improvement import log_h

DRAWS = 32
JITTER = 1e-6  # of the noise-free covariance, relative to s²


@dataclass(frozen=True)
class NoisyEI(Surrogated):
    """The logarithm of noisy expected improvement, log NEI."""

    is_log = True
    gp: GP  # conditioned on noise-free draws; its own α is not used
    alphas: Array = field(repr=False)  # (n, S)
    bests: Array = field(repr=False)  # f*_s, (S,)

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Self:
        """Build the utility on a surrogate, and draw noise-free outcomes at its data."""
        mean = gp.moments(gp.X)[0]
        root = cholesky(gp.covariance(gp.X, gp.X) + JITTER * gp.signal * np.eye(len(mean)))
        normal = ndtri(np.clip(sobol(DRAWS, len(mean), rng), 1e-6, 1.0 - 1e-6))
        draws = mean[:, None] + root @ normal.T  # (n, S)
        exact = gp.with_noises(np.full(len(mean), JITTER * gp.signal))
        alphas = exact.inverse_root.T @ (exact.inverse_root @ (draws - gp.mean))
        return cls(exact, alphas, draws.max(axis=0))

    def __call__(self, X: Array) -> Array:
        mean = self.gp.mean + self.gp.cross(X) @ self.alphas  # (q, S)
        sd = self.gp.moments(X)[1][:, None]
        return _log_mean(np.log(sd) + log_h((mean - self.bests) / sd)[0])

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        _, sd, _, d_sd = self.gp.moments_with_gradient(X)
        k, pull = self.gp.cross_with_gradient(X, self.alphas)  # (q, S), (q, S, D)
        z = (self.gp.mean + k - self.bests) / sd[:, None]
        logs, rate = log_h(z)
        logs += np.log(sd)[:, None]
        value = _log_mean(logs)
        share = np.exp(logs - value[:, None]) / len(self.bests)  # of each draw in the mean
        along_sd = (share * (1.0 - rate * z)).sum(axis=1) / sd
        return value, along_sd[:, None] * d_sd + np.einsum("qs,qsd->qd", share * rate, pull) / sd[:, None]

    def log_worth(self, X: Array) -> Array:
        return self(X)


def _log_mean(logs: Array) -> Array:
    top = logs.max(axis=1, keepdims=True)
    value: Array = (top + np.log(np.exp(logs - top).mean(axis=1, keepdims=True)))[:, 0]
    return value
