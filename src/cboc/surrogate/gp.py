"""The posterior Gaussian process of Sec. 4.4.1 and its predictions.

Notation (docs/notation.md has the whole table):

    X (n, D)   designs in the unit cube            K   = s² κ(r²) + diag(noise) = L Lᵀ
    ℓ, s², v²  lengthscales, signal, noise         α   = K⁻¹(y - m)
    k(x)       = s² κ between x and the data       m   the constant mean

    μ(x)   = m + k(x)ᵀα               ∇μ  = Σ_j α_j ∇k_j
    σ²(x)  = s² - |L⁻¹k(x)|²          ∇σ² = -2 Σ_j [K⁻¹k(x)]_j ∇k_j
    ∇k_j   = 2 s² κ'(r²) (x - x_j)/ℓ²

`fitting.py` finds the hyper-parameters, `Stack` has the moments of several processes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dtrmm

from cboc.arrays import Array, Owners
from cboc.search.grouping import spans
from cboc.surrogate.algebra import add_to_diagonal, cholesky, invert_root
from cboc.surrogate.kernels import Kernel, from_side, squared_distances, to_side
from cboc.surrogate.transforms import OutputTransform

BLOCK = 2**14  # numbers in a temporary matrix: 128 kB


@dataclass(frozen=True)
class GP:
    """A fitted Gaussian process. `moments` are in standardised units, `predict` in the units of the outcomes."""

    kernel: Kernel
    transform: OutputTransform
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
    believed: int = 0  # so many of the last points are experiments under way, with predicted outcomes

    @cached_property
    def scaled(self) -> Array:
        """The matrix [X/ℓ, 1], (n, D+1)."""
        return np.column_stack([self.X / self.lengthscales, np.ones(len(self.X))])

    @cached_property
    def paired(self) -> Array:
        """The matrix (D+2, n) that turns [-2q, |q|², 1] into the squared distances of q to X/ℓ."""
        return np.ascontiguousarray(to_side(self.scaled[:, :-1]).T)

    def whiten(self, k: Array) -> Array:
        """The rows of L⁻¹k (q, n), for k (q, n)."""
        white: Array = dtrmm(1.0, self.inverse_root, k.T, lower=1)
        return white.T

    def solve(self, k: Array) -> tuple[Array, Array]:
        """The rows of L⁻¹k and of K⁻¹k (q, n), for k (q, n)."""
        white = self.whiten(k)
        solved: Array = dtrmm(1.0, self.inverse_root, white.T, lower=1, trans_a=1)
        return white, solved.T

    def _correlate(self, Q: Array) -> tuple[Array, Array, Array]:
        """κ and κ' between Q and the data (q, n), and Q/ℓ."""
        Qs = Q / self.lengthscales
        return *self.kernel.between(Qs, [(slice(None), self.paired)], len(self.X)), Qs

    def moments(self, Q: Array) -> tuple[Array, Array]:
        """Posterior mean and standard deviation of f at Q (q, D), standardised."""
        mean, sd = Stack([self]).moments(Q[None])
        return mean[0], sd[0]

    def moments_with_gradient(self, Q: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (q,), sd (q,) and their gradients (q, D)."""
        return Stack([self]).moments_with_gradient(Q, np.zeros(len(Q), dtype=int))

    def cross(self, Q: Array) -> Array:
        """k(Q) = s²κ between Q and the data, (q, n)."""
        return self.signal * self._correlate(Q)[0]

    def cross_with_gradient(self, Q: Array, weights: Array) -> tuple[Array, Array]:
        """k(Q) @ weights and its gradient, for weights (n,) or (n, S): (q,), (q, D) or (q, S), (q, S, D)."""
        k, slope, Qs = self._correlate(Q)
        slope *= 2.0 * self.signal
        columns = weights.reshape(len(weights), -1)
        spread = (columns[:, :, None] * self.scaled[:, None, :-1]).reshape(len(columns), -1)  # (n, S D)
        towards = (slope @ spread).reshape(len(Q), columns.shape[1], -1)
        pull = ((slope @ columns)[:, :, None] * Qs[:, None, :] - towards) / self.lengthscales
        return self.signal * k @ weights, pull if weights.ndim == 2 else pull[:, 0]

    def draws_with_gradient(self, Q: Array, alphas: Array) -> tuple[Array, Array, Array, Array]:
        """The means for several α (n, S), and σ, at Q, with their gradients: (q, S), (q, S, D), (q,), (q, D)."""
        k, slope, Qs = self._correlate(Q)
        k *= self.signal
        slope *= 2.0 * self.signal
        white, solved = self.solve(k)
        sd = _sd(np.full(len(Q), self.signal), white)
        spread = (alphas[:, :, None] * self.scaled[:, None, :-1]).reshape(len(alphas), -1)  # (n, S D)
        towards = (slope @ spread).reshape(len(Q), alphas.shape[1], -1)
        d_means = ((slope @ alphas)[:, :, None] * Qs[:, None, :] - towards) / self.lengthscales
        drawn = (slope * solved) @ self.scaled  # (q, D + 1)
        d_sd = (drawn[:, -1:] * Qs - drawn[:, :-1]) / self.lengthscales / -sd[:, None]
        return self.mean + k @ alphas, d_means, sd, d_sd

    def prior_pull(self, x: Array, R: Array, weights: Array) -> Array:
        """The gradient of Σ_r weights_r s²κ(x, R_r) with respect to x (1, D): (D,)."""
        steps = (x - R) / self.lengthscales  # (r, D)
        slope = self.kernel((steps**2).sum(axis=1))[1]
        pull: Array = 2.0 * self.signal * (weights * slope) @ steps / self.lengthscales
        return pull

    def predict(self, Q: Array) -> tuple[Array, Array]:
        """Median and standard deviation (to first order) of f at Q (q, D), in the units of the outcomes."""
        mean, sd = self.moments(Q)
        median = self.transform.backward(mean)
        return median, sd / self.transform.slope(median)

    def covariance(self, Q: Array, R: Array) -> Array:
        """Posterior covariance of f between Q (q, D) and R (r, D), standardised."""
        left, right = self.whiten(self.cross(Q)), self.whiten(self.cross(R))
        squared = (((Q[:, None] - R) / self.lengthscales) ** 2).sum(axis=2)
        return self.signal * self.kernel(squared)[0] - left @ right.T

    def believe(self, pending: Array) -> GP:
        """Condition on the predicted mean at pending experiments: σ shrinks there and μ stays (their α is 0)."""
        if len(pending) == 0:
            return self
        more = replace(
            self,
            X=np.vstack([self.X, pending]),
            y=np.append(self.y, self.moments(pending)[0]),
            alpha=np.append(self.alpha, np.zeros(len(pending))),
            believed=self.believed + len(pending),
        )
        return more.with_noises(np.append(self.noises, np.full(len(pending), self.noise)))

    def with_noises(self, noises: Array) -> GP:
        """This process with other measurement variances (n,): a new L⁻¹; α is left to the caller."""
        K = self.signal * self.kernel(squared_distances(self.X / self.lengthscales))[0]
        add_to_diagonal(K, noises)
        return replace(self, noises=noises, inverse_root=invert_root(cholesky(K)))

    def leave_one_out(self) -> LeaveOneOut:
        """μ_-i = y_i - α_i / [K⁻¹]_ii,  σ²_-i = 1 / [K⁻¹]_ii   (Rasmussen and Williams 2006, eq. 5.12)."""
        diagonal = np.einsum("ij,ij->j", self.inverse_root, self.inverse_root)
        return LeaveOneOut(self.y, self.y - self.alpha / diagonal, 1.0 / np.sqrt(diagonal))


class Stack:
    """Gaussian processes with the same kernel and equally many data: their moments in few calls.

    A process gets the same bits whatever is beside it: operations over all of them are elementwise, and every matrix
    product belongs to one process alone and has the shapes of that process.
    """

    def __init__(self, gps: Sequence[GP]) -> None:
        self.gps = gps
        self.kernel = gps[0].kernel
        self.size, self.dimension = gps[0].X.shape
        self.lengthscales = np.array([gp.lengthscales for gp in gps])  # (K, D)
        self.signals = np.array([gp.signal for gp in gps])
        self.means = np.array([gp.mean for gp in gps])
        self.alphas = np.array([gp.alpha for gp in gps])  # (K, n)
        self._rows: tuple[Owners, list[tuple[GP, slice]]] | None = None  # for the owners of the last call

    def moments(self, Q: Array) -> tuple[Array, Array]:
        """Posterior means and standard deviations (K, q) of every process at its own Q (K, q, D), standardised."""
        sites, count = Q.shape[:2]
        mean, sd = np.empty((2, sites, count))
        rows = max(1, min(count, BLOCK // self.size))  # of one process in a block
        width = max(1, BLOCK // (self.size * rows))  # processes in a block
        for first in range(0, sites, width):
            for start in range(0, count, rows):
                block = slice(first, first + width), slice(start, start + rows)
                mean[block], sd[block] = self._moments(Q[block], range(sites)[first : first + width])
        return mean, sd

    def _moments(self, Q: Array, owners: range) -> tuple[Array, Array]:
        own = slice(owners.start, owners.stop)
        left = from_side(Q / self.lengthscales[own, None])
        k = np.empty((*Q.shape[:2], self.size))
        for i, owner in enumerate(owners):
            np.matmul(left[i], self.gps[owner].paired, out=k[i])
        k = self.kernel(np.maximum(k, 0.0, out=k))[0]
        k *= self.signals[own, None, None]
        gain, white = np.empty(Q.shape[:2]), np.empty_like(k)
        for i, owner in enumerate(owners):
            np.matmul(k[i], self.gps[owner].alpha, out=gain[i])
            white[i] = self.gps[owner].whiten(k[i])
        return self.means[own, None] + gain, _sd(self.signals[own, None], white)

    def moments_with_gradient(self, Q: Array, owners: Owners) -> tuple[Array, Array, Array, Array]:
        """Means and standard deviations (b,), and their gradients (b, D), at Q (b, D).

        Row i of Q belongs to process owners[i]; the owners are in order."""
        D = self.dimension
        lengthscales, signals = self.lengthscales[owners], self.signals[owners]
        rows_of = self._rows_of(owners)
        Qs = Q / lengthscales
        k, slope = self.kernel.between(Qs, [(rows, gp.paired) for gp, rows in rows_of], self.size)
        k *= signals[:, None]
        slope *= (2.0 * signals)[:, None]
        gain, white = np.empty(len(Q)), np.empty_like(k)
        pulls = np.empty((len(Q), 2, self.size))  # of the data on μ and on -σ²/2
        pulls[:, 0] = self.alphas[owners]
        for gp, rows in rows_of:
            np.matmul(k[rows], gp.alpha, out=gain[rows])
            white[rows], pulls[rows, 1] = gp.solve(k[rows])
        pulls *= slope[:, None]
        drawn = np.empty((len(Q), 2, D + 1))
        for gp, rows in rows_of:
            drawn[rows] = (pulls[rows].reshape(-1, self.size) @ gp.scaled).reshape(-1, 2, D + 1)
        sd = _sd(signals, white)
        # Σ_j w_j (q - x_j)/ℓ² of both
        towards = (drawn[:, :, D:] * Qs[:, None] - drawn[:, :, :D]) / lengthscales[:, None]
        return self.means[owners] + gain, sd, towards[:, 0], towards[:, 1] / -sd[:, None]

    def _rows_of(self, owners: Owners) -> list[tuple[GP, slice]]:
        """The rows of each process, cached because a climb asks for the same owners again and again."""
        if len(self.gps) == 1:
            return [(self.gps[0], slice(None))]
        if self._rows is None or self._rows[0] is not owners:
            self._rows = (owners, spans(owners, self.gps))
        return self._rows[1]


def _sd(signal: Array, v: Array) -> Array:
    """√(s² - |v|²), kept above the rounding of the subtraction."""
    variance = signal - np.einsum("...j,...j->...", v, v)
    sd: Array = np.sqrt(np.maximum(variance, 1e-12 * signal))
    return sd


@dataclass(frozen=True)
class LeaveOneOut:
    """Every point predicted from all others, standardised: the cheapest honest test of a surrogate."""

    y: Array
    mean: Array
    sd: Array

    @property
    def z(self) -> Array:
        """Standardised residuals (y - μ) / σ."""
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
