"""Expected improvement where some outcomes are not known: its mean over draws of these.

    U(x) = log mean over draws s of EI(x; f*_s, GP with α_s)

All draws share one covariance, so they differ only in α_s and in the best outcome f*_s. The mean is taken as a
log-sum-exp of LogEI.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from cboc.arrays import Array
from cboc.space.sobol import sobol
from cboc.surrogate.gp import GP
from cboc.utility.gp_based import Surrogated
from cboc.utility.normal import log_h

DRAWS = 32


@dataclass(frozen=True)
class AveragedEI(Surrogated):
    """The logarithm of expected improvement in the mean over draws."""

    is_log = True
    gp: GP  # its own α is not used
    alphas: Array = field(repr=False)  # α_s, (n, S)
    bests: Array = field(repr=False)  # f*_s, (S,)

    def __call__(self, X: Array) -> Array:
        mean = self.gp.mean + self.gp.cross(X) @ self.alphas  # (q, S)
        sd = self.gp.moments(X)[1][:, None]
        return _log_mean(np.log(sd) + log_h((mean - self.bests) / sd)[0])

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        means, pull, sd, d_sd = self.gp.draws_with_gradient(X, self.alphas)  # (q, S), (q, S, D), (q,), (q, D)
        z = (means - self.bests) / sd[:, None]
        logs, rate = log_h(z)
        logs += np.log(sd)[:, None]
        value = _log_mean(logs)
        share = np.exp(logs - value[:, None]) / len(self.bests)  # of each draw in the mean
        along_sd = (share * (1.0 - rate * z)).sum(axis=1) / sd
        return value, along_sd[:, None] * d_sd + np.einsum("qs,qsd->qd", share * rate, pull) / sd[:, None]

    def log_worth(self, X: Array) -> Array:
        return self(X)


def normal_draws(count: int, rng: np.random.Generator) -> Array:  # (count, S)
    """Draws of so many independent standard normal numbers, spread evenly by a Sobol' sequence."""
    draws: Array = ndtri(np.clip(sobol(DRAWS, count, rng), 1e-6, 1.0 - 1e-6)).T
    return draws


def _log_mean(logs: Array) -> Array:
    top = logs.max(axis=1, keepdims=True)
    value: Array = (top + np.log(np.exp(logs - top).mean(axis=1, keepdims=True)))[:, 0]
    return value
