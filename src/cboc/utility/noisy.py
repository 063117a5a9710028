"""Noisy expected improvement: EI where the best so far is itself uncertain (Letham et al., Bayesian Analysis 2019).

    NEI(x) = mean over draws s of EI(x; f*_s, GP through f_s),   f_s ~ posterior of f at the data,  f*_s = max f_s

The draws are noise-free.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from cboc.surrogate.algebra import cholesky
from cboc.surrogate.gp import GP
from cboc.utility.averaged import AveragedEI, normal_draws

JITTER = 1e-6  # of the noise-free covariance, relative to s²


class NoisyEI(AveragedEI):
    """The logarithm of noisy expected improvement, log NEI."""

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Self:
        """Build the utility on a surrogate, and draw noise-free outcomes at its data."""
        mean = gp.moments(gp.X)[0]
        root = cholesky(gp.covariance(gp.X, gp.X) + JITTER * gp.signal * np.eye(len(mean)))
        draws = mean[:, None] + root @ normal_draws(len(mean), rng)  # (n, S)
        exact = gp.with_noises(np.full(len(mean), JITTER * gp.signal))
        alphas = exact.inverse_root.T @ (exact.inverse_root @ (draws - gp.mean))
        return cls(exact, alphas, draws.max(axis=0))
