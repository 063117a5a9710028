"""The posterior Gaussian process of Sec. 4.4.1, and everything that is read from it.

Notation (docs/notation.md has the whole table):

    X (n, D)   designs in the unit cube            K   = s² κ(r²) + diag(noise) = L Lᵀ
    ℓ, s², v²  lengthscales, signal, noise         α   = K⁻¹(y - m)
    k(x)       = s² κ between x and the data       m   the constant mean

    μ(x)   = m + k(x)ᵀα               ∇μ  = Σ_j α_j ∇k_j
    σ²(x)  = s² - |L⁻¹k(x)|²          ∇σ² = -2 Σ_j [K⁻¹k(x)]_j ∇k_j
    ∇k_j   = 2 s² κ'(r²) (x - x_j)/ℓ²

`fitting.py` finds the hyper-parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from cboc.arrays import Array
from cboc.surrogate.kernels import Kernel
from cboc.surrogate.outcomes import Outcomes

BLOCK = 2**14  # numbers in a temporary matrix: 128 kB


@dataclass(frozen=True)
class GP:
    """A fitted Gaussian process. `moments` speak in standardised units, `predict` in those of the outcomes."""

    kernel: Kernel
    outcomes: Outcomes
    X: Array  # (n, D)
    y: Array  # (n,) standardised
    lengthscales: Array  # ℓ, (D,)
    signal: float  # s²
    noise: float  # v², of a point whose standard error is not known
    noises: Array = field(repr=False)  # (n,) the variance of each measurement
    theta: Array = field(repr=False)  # log [ℓ, (s²), v²]: the next fit's warm start
    mean: float  # m
    alpha: Array = field(repr=False)  # α, (n,)
    inverse_root: Array = field(repr=False)  # L⁻¹, (n, n)
    log_posterior: float

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """X/ℓ and the squared norms of its rows."""
        scaled = self.X / self.lengthscales
        return scaled, np.einsum("ij,ij->i", scaled, scaled)

    def _correlate(self, Q: Array) -> tuple[Array, Array, Array]:
        """κ and κ' between Q and the data (q, n), and Q/ℓ."""
        scaled, norms = self._scaled
        Qs = Q / self.lengthscales
        squared = Qs @ scaled.T
        squared *= -2.0
        squared += norms
        squared += np.einsum("ij,ij->i", Qs, Qs)[:, None]
        np.maximum(squared, 0.0, out=squared)
        return *self.kernel(squared), Qs

    def moments(self, Q: Array) -> tuple[Array, Array]:
        """Posterior mean and standard deviation of f at Q (q, D), standardised; in blocks that fit the cache."""
        rows = max(1, BLOCK // len(self.X))
        if len(Q) > rows:
            blocks = [self.moments(Q[start : start + rows]) for start in range(0, len(Q), rows)]
            return np.concatenate([mean for mean, _ in blocks]), np.concatenate([sd for _, sd in blocks])
        k = self._correlate(Q)[0]
        k *= self.signal
        return self.mean + k @ self.alpha, self._sd(k @ self.inverse_root.T)

    def moments_with_gradient(self, Q: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (q,), sd (q,) and their gradients (q, D)."""
        k, slope, Qs = self._correlate(Q)
        k *= self.signal
        slope *= 2.0 * self.signal
        v = k @ self.inverse_root.T
        sd = self._sd(v)
        d_mean = self._pull(slope * self.alpha, Qs)
        slope *= v @ self.inverse_root
        return self.mean + k @ self.alpha, sd, d_mean, self._pull(slope, Qs) / -sd[:, None]

    def _sd(self, v: Array) -> Array:
        """√(s² - |v|²), kept above the rounding of the subtraction."""
        variance = self.signal - np.einsum("ij,ij->i", v, v)
        sd: Array = np.sqrt(np.maximum(variance, 1e-12 * self.signal))
        return sd

    def _pull(self, weights: Array, Qs: Array) -> Array:
        """Σ_j weights_ij (q_i - x_j)/ℓ²."""
        pull: Array = (weights.sum(axis=1)[:, None] * Qs - weights @ self._scaled[0]) / self.lengthscales
        return pull

    def cross(self, Q: Array) -> Array:
        """k(Q) = s²κ between Q and the data, (q, n)."""
        return self.signal * self._correlate(Q)[0]

    def cross_with_gradient(self, Q: Array, weights: Array) -> tuple[Array, Array]:
        """k(Q) @ weights and its gradient, for weights (n,) or (n, S): (q,), (q, D) or (q, S), (q, S, D)."""
        k, slope, Qs = self._correlate(Q)
        slope *= 2.0 * self.signal
        columns = weights.reshape(len(weights), -1)
        spread = (columns[:, :, None] * self._scaled[0][:, None, :]).reshape(len(columns), -1)  # (n, S D)
        towards = (slope @ spread).reshape(len(Q), columns.shape[1], -1)
        pull = ((slope @ columns)[:, :, None] * Qs[:, None, :] - towards) / self.lengthscales
        return self.signal * k @ weights, pull if weights.ndim == 2 else pull[:, 0]

    def prior_pull(self, x: Array, R: Array, weights: Array) -> Array:
        """The gradient of Σ_r weights_r s²κ(x, R_r) with respect to x (1, D): (D,)."""
        steps = (x - R) / self.lengthscales  # (r, D)
        slope = self.kernel((steps**2).sum(axis=1))[1]
        pull: Array = 2.0 * self.signal * (weights * slope) @ steps / self.lengthscales
        return pull

    def predict(self, Q: Array) -> tuple[Array, Array]:
        """Median and standard deviation (to first order) of f at Q (q, D), in the units of the outcomes."""
        mean, sd = self.moments(Q)
        median = self.outcomes.backward(mean)
        return median, sd / self.outcomes.slope(median)

    def covariance(self, Q: Array, R: Array) -> Array:
        """Posterior covariance of f between Q (q, D) and R (r, D), standardised."""
        left = self.signal * self._correlate(Q)[0] @ self.inverse_root.T
        right = self.signal * self._correlate(R)[0] @ self.inverse_root.T
        squared = (((Q[:, None] - R) / self.lengthscales) ** 2).sum(axis=2)
        return self.signal * self.kernel(squared)[0] - left @ right.T

    def believe(self, pending: Array) -> GP:
        """Condition on the predicted mean at experiments under way: σ shrinks there and μ stays (their α is 0)."""
        if len(pending) == 0:
            return self
        more = replace(
            self,
            X=np.vstack([self.X, pending]),
            y=np.append(self.y, self.moments(pending)[0]),
            alpha=np.append(self.alpha, np.zeros(len(pending))),
        )
        return more.with_noises(np.append(self.noises, np.full(len(pending), self.noise)))

    def with_noises(self, noises: Array) -> GP:
        """The same data with other measurement variances (n,): a new L⁻¹; α is left to the caller."""
        K = self.signal * self.kernel(squared_distances(self.X / self.lengthscales))[0]
        add_to_diagonal(K, noises)
        return replace(self, noises=noises, inverse_root=invert_root(cholesky(K)))

    def leave_one_out(self) -> LeaveOneOut:
        """μ_-i = y_i - α_i / [K⁻¹]_ii,  σ²_-i = 1 / [K⁻¹]_ii   (Rasmussen and Williams 2006, eq. 5.12)."""
        diagonal = np.einsum("ij,ij->j", self.inverse_root, self.inverse_root)
        return LeaveOneOut(self.y, self.y - self.alpha / diagonal, 1.0 / np.sqrt(diagonal))


@dataclass(frozen=True)
class LeaveOneOut:
    """Every point predicted from all others, standardised: the cheapest honest test of a surrogate."""

    y: Array
    mean: Array
    sd: Array

    @property
    def z(self) -> Array:
        return (self.y - self.mean) / self.sd

    @property
    def q2(self) -> float:
        """1 - Σ(y - ŷ)² / Σ(y - ȳ)²: 1 is perfect, 0 no better than the mean."""
        spread = float(((self.y - self.y.mean()) ** 2).sum())
        return 1.0 - float(((self.y - self.mean) ** 2).sum()) / spread if spread > 0.0 else 0.0

    @property
    def coverage(self) -> float:
        """The share of points inside their 95 % interval."""
        return float((np.abs(self.z) < 1.96).mean())


def squared_distances(X: Array, out: Array | None = None) -> Array:
    """|x_i - x_j|² of all rows (n, n), as one product: [-2x, |x|², 1] [x, 1, |x|²]ᵀ."""
    norms = np.einsum("ij,ij->i", X, X)[:, None]
    ones = np.ones_like(norms)
    squared = np.matmul(np.hstack([-2.0 * X, norms, ones]), np.hstack([X, ones, norms]).T, out=out)
    return np.maximum(squared, 0.0, out=squared)


def add_to_diagonal(K: Array, values: Array) -> None:
    """K += diag(values), in place."""
    K.ravel()[:: len(K) + 1] += values


def cholesky(K: Array) -> Array:
    """The lower factor of a symmetric matrix, with the least jitter that makes it exist."""
    root, info = dpotrf(K.T, lower=1, clean=1)
    jitter = 1e-12 * float(K.diagonal().max())
    while info != 0:
        jitter *= 10.0
        root, info = dpotrf(K + jitter * np.eye(len(K)), lower=1, clean=1)
    lower: Array = root
    return lower


def invert_root(root: Array) -> Array:
    """L⁻¹."""
    return np.ascontiguousarray(dtrtri(root, lower=1)[0])
