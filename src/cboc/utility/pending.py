"""Expected improvement while experiments are under way: what one more would add to them.

    U(x)   = log E[EI(x | y)]          y the outcomes of the p experiments under way, drawn from their joint posterior
    y - μ  = L_p z,   α = α_0 + L⁻ᵀ[0; z],   z ~ N(0, I)          L_p the last p rows and columns of L

This is the step of the sequential-greedy qEI (Ginsbourger et al. 2010; Snoek et al., NeurIPS 2012). L is the root of
the covariance of all data, those under way last, so that L_p L_pᵀ is the posterior covariance of y.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from cboc.surrogate.gp import GP
from cboc.utility.averaged import AveragedEI, normal_draws


class PendingEI(AveragedEI):
    """The logarithm of what one more experiment adds to the expected improvement of those under way."""

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Self:
        """Build the utility on a surrogate that believes in experiments under way, and draw their outcomes."""
        known = len(gp.y) - gp.believed
        last = slice(known, None)
        z = normal_draws(gp.believed, rng)  # (p, S)
        moves = solve_triangular(gp.inverse_root[last, last], z, lower=True)
        bests = np.maximum(gp.y[:known].max(), (gp.y[last, None] + moves).max(axis=0))
        return cls(gp, gp.alpha[:, None] + gp.inverse_root[last].T @ z, bests)
