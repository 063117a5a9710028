"""Functions that can be sent: one set of random features for all sites, and a vector of weights per function.

    c_m(x)  = cos(s_m·x + b_m)                   s_m ~ N(0, ℓ⁻² I),  b_m ~ U[0, 2π),  m = 1..M, drawn once for all
    φ(x)    = √v c(x) / |c(x)|                   normalised: the prior variance φ·φ is v everywhere
    Σ       = ΦᵀΦ + s² I,   ν = Σ⁻¹Φᵀy           Φ: the rows φ(x_i) of an agent's data
    w       ~ N(ν, s² Σ⁻¹)                       one draw is one sample path x -> φ(x)·w
    ∇φ·w    = -(√v/|c|) Σ_m sin(s_m·x + b_m) (w_m - c_m (c·w)/|c|²) s_m

With distributed exploration the cube is halved in its first coordinates, and each of the P boxes has its own weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.search.ascent import ascend
from cboc.space.sobol import sobol
from cboc.surrogate.algebra import add_to_diagonal, cholesky
from cboc.utility.gp_based import log_gain

SAMPLES = 512  # samples before climbing, over all boxes
STARTS = 5  # climbs in each box
TOLERANCE = 1e-4  # of a climb; functions are of order √v
RACE = 15.0  # as in search/maximise.py
BELOW_HALF = float(np.nextafter(0.5, 0.0))  # the upper edge of a lower half: no point is in two boxes


@dataclass(frozen=True)
class Features:
    """The random features φ, known to all sites."""

    frequencies: Array = field(repr=False)  # s, (M, D)
    phases: Array = field(repr=False)  # b, (M,)
    variance: float = 1.0  # v

    @classmethod
    def draw(
        cls, count: int, dimension: int, lengthscale: float, rng: np.random.Generator, variance: float = 1.0
    ) -> Self:
        """Draw M features of a squared-exponential kernel."""
        if count < 1 or not lengthscale > 0.0 or not variance > 0.0:
            raise CbocError(
                "features need a count from 1, a positive lengthscale and a positive variance; "
                f"got {count!r}, {lengthscale!r} and {variance!r}."
            )
        frequencies = rng.standard_normal((count, dimension)) / lengthscale
        return cls(frequencies, rng.uniform(0.0, 2.0 * np.pi, count), variance)

    def __call__(self, X: Array) -> Array:  # (n, D) -> (n, M)
        c = np.cos(X @ self.frequencies.T + self.phases)
        return c * (np.sqrt(self.variance) / _norms(c))[:, None]

    def pull(self, X: Array, weights: Array) -> tuple[Array, Array]:
        """φ(x)·w (n,) and its gradient (n, D), for common weights (M,) or weights per row (n, M)."""
        angles = X @ self.frequencies.T + self.phases
        c = np.cos(angles)
        norms = _norms(c)
        along = (c * weights).sum(axis=1)
        scale = np.sqrt(self.variance) / norms
        bent = np.sin(angles) * (weights - c * (along / norms**2)[:, None])
        return scale * along, -scale[:, None] * (bent @ self.frequencies)

    def posterior(self, X: Array, y: Array, noise: float) -> tuple[Array, Array]:
        """ν (M,) and the lower root L of Σ = LLᵀ (M, M), for data X (n, D), y (n,) and noise s²."""
        phi = self(X)
        sigma = phi.T @ phi
        add_to_diagonal(sigma, np.full(len(sigma), noise))
        root = cholesky(sigma)
        half = solve_triangular(root, phi.T @ y, lower=True, check_finite=False)
        return solve_triangular(root, half, lower=True, trans="T", check_finite=False), root

    def sample(self, X: Array, y: Array, noise: float, rng: np.random.Generator) -> Array:  # (M,)
        """Draw weights from the posterior: w ~ N(ν, s² Σ⁻¹)."""
        mean, root = self.posterior(X, y, noise)
        white = rng.standard_normal(len(mean))
        draw: Array = mean + np.sqrt(noise) * solve_triangular(root, white, lower=True, trans="T", check_finite=False)
        return draw


def _norms(c: Array) -> Array:
    norms: Array = np.sqrt(np.einsum("ij,ij->i", c, c))
    return norms


@dataclass(frozen=True)
class Shared:
    """x -> φ(x)·ω of the box that x is in: a utility. Its worth is how far it exceeds its own best at the anchors."""

    features: Features
    weights: Array = field(repr=False)  # ω, (P, M)
    anchors: Array = field(repr=False)  # (a, D); the server has none

    def __post_init__(self) -> None:
        halvings = len(self.weights).bit_length() - 1
        if len(self.weights) != 2**halvings or halvings > self.dimension:
            raise CbocError(
                f"halving the coordinates makes 1, 2, 4, ... boxes, at most {2**self.dimension} "
                f"in {self.dimension} dimensions; got weights for {len(self.weights)}."
            )

    @property
    def dimension(self) -> int:
        return int(self.features.frequencies.shape[1])

    @cached_property
    def best(self) -> float:
        """The best value at the anchors; without any, the prior mean."""
        return float(self(self.anchors).max()) if len(self.anchors) else 0.0

    def __call__(self, X: Array) -> Array:
        values: Array = (self.features(X) @ self.weights.T)[np.arange(len(X)), boxes_of(X, len(self.weights))]
        return values

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.features.pull(X, self.weights[boxes_of(X, len(self.weights))])

    def log_worth(self, X: Array) -> Array:
        return log_gain(self(X) - self.best)

    def argmax(self, rng: np.random.Generator) -> Array:  # (D,)
        """The maximiser: the best point of every box, by sampling and climbing inside it, then the best of all."""
        lower, upper = corners(len(self.weights), self.dimension)  # (P, D)
        cube = sobol(SAMPLES // len(lower), self.dimension, rng)
        looks = lower[:, None] + cube * (upper - lower)[:, None]  # (P, n, D)
        values = self(looks.reshape(-1, self.dimension)).reshape(len(lower), -1)
        top = np.argsort(-values, axis=1, kind="stable")[:, :STARTS]
        starts = np.take_along_axis(looks, top[:, :, None], axis=1).reshape(-1, self.dimension)
        low, high = (np.repeat(corner, top.shape[1], axis=0) for corner in (lower, upper))
        found, heights = ascend(self.with_gradient, starts, low, high, tolerance=TOLERANCE, race=RACE)
        highest: Array = found[int(np.argmax(heights))]
        return highest


def boxes_of(X: Array, count: int) -> NDArray[np.intp]:  # (n,)
    """The box that each point is in: the upper halves of the first log2(count) coordinates, as binary digits."""
    digits = X[:, : count.bit_length() - 1] >= 0.5
    numbers: NDArray[np.intp] = digits @ (1 << np.arange(digits.shape[1]))
    return numbers


def corners(count: int, dimension: int) -> tuple[Array, Array]:
    """The lowest and the highest corner of each box (count, D)."""
    halvings = count.bit_length() - 1
    is_upper = np.array(list(product((False, True), repeat=halvings)))[:, ::-1]  # the first coordinate changes fastest
    lower, upper = np.zeros((count, dimension)), np.ones((count, dimension))
    lower[:, :halvings] = np.where(is_upper, 0.5, 0.0)
    upper[:, :halvings] = np.where(is_upper, 1.0, BELOW_HALF)
    return lower, upper
