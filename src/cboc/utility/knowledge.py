"""Knowledge gradient: how much the best predicted mean is expected to rise by one more experiment (Sec. 4.4.2).

    KG(x)  = E max_i (a_i + b_i(x) Z) - a*,           Z ~ N(0, 1)
    a_i    = μ(x_i),   b_i(x) = cov(x_i, x) / √(σ²(x) + v²)        x_i: a finite set, and x itself
    a*     = max_i a_i over the set alone, so it is the same for every x

The maximum of lines is their upper envelope; between its corners c_i one line leads, so that (Frazier et al. 2009)

    E max  = Σ a_i [Φ(c_i+1) - Φ(c_i)] + b_i [φ(c_i) - φ(c_i+1)]
    ∇E max = Σ ∇a_i [Φ(c_i+1) - Φ(c_i)] + ∇b_i [φ(c_i) - φ(c_i+1)]      (corners do not count: the lines meet there)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import ndtr

from cboc.arrays import Array
from cboc.search.ascent import ascend
from cboc.space.sobol import sobol
from cboc.surrogate.gp import GP
from cboc.utility.gp_based import Surrogated, log_gain
from cboc.utility.normal import phi

SPREAD = 48  # space-filling members of the finite set
BEST = 16  # the best data points in it


@dataclass(frozen=True)
class KnowledgeGradient(Surrogated):
    """KG over a finite set: the maximisers of the posterior mean, the best data and a spread of other designs."""

    gp: GP
    points: Array = field(repr=False)  # x_i, (m, D)
    means: Array = field(repr=False)  # a_i, (m,)
    solved: Array = field(repr=False)  # K⁻¹k(X, x_i), (n, m)

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Self:
        """Build the utility on a surrogate, and choose its finite set."""
        best = gp.X[np.argsort(-gp.y, kind="stable")[:BEST]]
        tops, _ = ascend(lambda X: gp.moments_with_gradient(X)[::2], best[:4], np.zeros(1), np.ones(1))
        points = np.vstack([tops, best, sobol(SPREAD, gp.X.shape[1], rng)])
        solved = gp.inverse_root.T @ (gp.inverse_root @ gp.cross(points).T)
        return cls(gp, points, gp.moments(points)[0], solved)

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        covariances = self.gp.covariance(X, self.points)
        spread = np.sqrt(sd**2 + self.gp.noise)
        rows = zip(mean, sd, covariances, spread, strict=True)
        return np.array([self._value(m, np.append(c, s * s) / r) for m, s, c, r in rows])

    def _value(self, mean: float, b: Array) -> float:
        a = np.append(self.means, mean)
        lead, weight, tilt = envelope(a, b)
        return float(weight @ a[lead] + tilt @ b[lead] - self.means.max())

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        covariances = self.gp.covariance(X, self.points)
        pairs = [self._row(X[[i]], mean[i], sd[i], d_mean[i], d_sd[i], covariances[i]) for i in range(len(X))]
        return np.array([value for value, _ in pairs]), np.array([gradient for _, gradient in pairs])

    def _row(
        self, x: Array, mean: float, sd: float, d_mean: Array, d_sd: Array, covariance: Array
    ) -> tuple[float, Array]:
        a = np.append(self.means, mean)
        cov = np.append(covariance, sd * sd)
        spread = np.sqrt(sd * sd + self.gp.noise)
        lead, weight, tilt = envelope(a, cov / spread)
        value = float(weight @ a[lead] + tilt @ cov[lead] / spread - self.means.max())

        tilts = np.zeros(len(a))
        tilts[lead] = tilt
        others, own = tilts[:-1], tilts[-1]
        d_cov = self.gp.prior_pull(x, self.points, others) - self.gp.cross_with_gradient(x, self.solved @ others)[1][0]
        d_cov = d_cov + own * 2.0 * sd * d_sd
        d_spread = sd * d_sd / spread
        gradient = d_cov / spread - (tilts @ cov) / spread**2 * d_spread
        if len(a) - 1 in lead:
            gradient = gradient + weight[list(lead).index(len(a) - 1)] * d_mean
        return value, gradient

    def log_worth(self, X: Array) -> Array:
        return log_gain(self(X))


def envelope(a: Array, b: Array) -> tuple[list[int], Array, Array]:
    """The lines that lead somewhere in max_i (a_i + b_i z), by slope, with Φ- and φ-differences of their corners."""
    lead: list[int] = []
    corners: list[float] = []
    for i in np.lexsort((a, b)):
        corner = -np.inf
        while lead:
            j = lead[-1]
            if b[i] - b[j] > 1e-14 * max(1.0, abs(b[i])):
                corner = (a[j] - a[i]) / (b[i] - b[j])  # line i leads from here on
                if corner > corners[-1]:
                    break
            elif a[i] < a[j]:
                corner = np.inf
                break
            lead.pop()
            corners.pop()
            corner = -np.inf
        if corner < np.inf:
            lead.append(int(i))
            corners.append(float(corner))
    edges = np.array([*corners, np.inf])
    return lead, np.diff(ndtr(edges)), -np.diff(phi(edges))
