"""Hyper-parameters by maximum a posteriori, with the analytic gradient.

    θ               = log [ℓ_1 .. ℓ_D, (s²), v²]
    log posterior   = -½ (y - m)ᵀα - Σ log L_ii - n/2 log 2π + Σ log prior(θ)
    ∂/∂θ            = ½ Σ_ij (ααᵀ - K⁻¹)_ij ∂K_ij/∂θ + ∂ log prior/∂θ
    m               = 1ᵀK⁻¹y / 1ᵀK⁻¹1

m is profiled out: at its optimum it adds nothing to the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log, pi

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.surrogate.gp import GP, add_to_diagonal, cholesky, invert_root, squared_distances
from cboc.surrogate.kernels import Kernel, matern52
from cboc.surrogate.outcomes import Outcomes, compressed, raw
from cboc.surrogate.priors import Gamma, LogNormal, Prior, dimension_scaled, gamma_3_6

STRIDE = 0.1  # the first step from a warm start, in log units: hyper-parameters move little from round to round
TOLERANCE = 1e-5  # of L-BFGS-B, relative to the log posterior: well inside 0.01 for any n in use


@dataclass(frozen=True)
class Model:
    """What is believed before any data. The defaults were chosen by benchmarks/solo.py on its tuning seeds."""

    kernel: Kernel = matern52
    outcomes: Callable[[Array], Outcomes] = compressed
    lengthscale: Callable[[int], Prior] = dimension_scaled  # of the dimension D
    outputscale: Prior | None = None  # None: s² = 1, the variance of standardised outcomes
    noise: Prior = field(default=LogNormal(-8.0, 2.0))
    noise_floor: float = 1e-6
    shortest: float = 0.025  # bounds of the lengthscales
    longest: float = 1e3
    is_natural: bool = False  # lengthscales are judged in natural units instead of the unit cube's


PAPER = Model(
    outcomes=raw,
    lengthscale=gamma_3_6,
    outputscale=Gamma(2.0, 0.15),
    noise=Gamma(1.1, 0.05),
    noise_floor=1e-4,
    shortest=1e-3,
    is_natural=True,
)
"""BoTorch's defaults of 2023 on raw inputs and raw outcomes, as in the paper's experiments."""


def fit(
    X: Array,
    y: Array,
    *,
    sem: Array | None = None,
    model: Model | None = None,
    widths: Array | None = None,
    warm_start: Array | None = None,
    starts: int = 1,
) -> GP:
    """The Gaussian process with the most probable hyper-parameters, for designs X (n, D) and scores y (n,).

    `sem` holds the standard error of each measurement, NaN where it is to be learned. `widths` are the natural widths
    of the coordinates, for models that speak of them. `warm_start` is the `theta` of an earlier fit; with `starts` > 1
    other starting points are tried as well and the best result is kept.
    """
    model = model or Model()
    if len(X) == 0:
        raise CbocError(
            "a Gaussian process needs at least one completed experiment, and there is none; tell() one first."
        )
    objective, outcomes = _objective(X, y, sem, model, widths)
    theta, value = objective.minimise(warm_start, starts)
    return _posterior(objective, outcomes, X, theta, value)


def build(X: Array, y: Array, theta: Array, model: Model | None = None) -> GP:
    """The Gaussian process at given hyper-parameters, nothing fitted."""
    objective, outcomes = _objective(X, y, None, model or Model(), None)
    return _posterior(objective, outcomes, X, theta, objective(theta)[0])


def _objective(X: Array, y: Array, sem: Array | None, model: Model, widths: Array | None) -> tuple[Objective, Outcomes]:
    outcomes = model.outcomes(y)
    errors = None if sem is None else sem * outcomes.slope(y)
    return Objective(model, X, outcomes.forward(y), errors, widths), outcomes


def _posterior(objective: Objective, outcomes: Outcomes, X: Array, theta: Array, value: float) -> GP:
    root = objective.factorise(theta)[1]
    mean, alpha = objective.solve(root)
    return GP(
        kernel=objective.model.kernel,
        outcomes=outcomes,
        X=X,
        y=objective.y,
        lengthscales=np.exp(theta[: X.shape[1]]),
        signal=objective.signal(theta),
        noise=float(np.exp(theta[-1])),
        noises=objective.noises(theta),
        theta=theta,
        mean=mean,
        alpha=alpha,
        inverse_root=invert_root(root),
        log_posterior=-value,
    )


class Objective:
    """θ -> -log posterior and its gradient, for one data set."""

    def __init__(self, model: Model, X: Array, y: Array, sem: Array | None = None, widths: Array | None = None) -> None:
        n, self.dimension = X.shape
        self.model = model
        self.X = X - X.mean(axis=0)  # only differences count, and small numbers keep |x - x'|² exact
        self.y = y
        self.targets = np.asfortranarray(np.stack([y, np.ones(n)], axis=1))
        known = np.full(n, np.nan) if sem is None else sem**2
        self.is_learned = np.isnan(known)  # (n,) where v² stands for the unknown measurement error
        self.measured = np.where(self.is_learned, 0.0, np.maximum(known, model.noise_floor))
        self.work = np.empty((3, n, n))  # K, slopes, scratch: once, because fresh pages cost more than the sums
        self.prior = model.lengthscale(self.dimension)
        self.log_widths = np.log(widths) if model.is_natural and widths is not None else np.zeros(self.dimension)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        n, D = self.X.shape
        Xs, root, slope = self.factorise(theta)
        mean, alpha = self.solve(root)
        fitted = (self.y - mean) @ alpha
        value = -0.5 * (fitted + n * log(2.0 * pi)) - np.log(root.diagonal()).sum()
        inverse = dpotri(root, lower=1, overwrite_c=1)[0].T  # K⁻¹ on and above the diagonal, 0 below

        # Σ_ij (ααᵀ - K⁻¹)_ij S_ij for a symmetric S with nothing on its diagonal needs only ααᵀ - 2 triu(K⁻¹)
        G = np.multiply.outer(alpha, alpha, out=self.work[2])
        G -= inverse
        G -= inverse
        slope *= G
        gradient = np.empty_like(theta)
        # ∂K/∂log ℓ_d = -2 s²κ' (x_d - x'_d)²/ℓ_d², and Σ_ij S_ij (x_i - x_j)² = Σ_i (S_i. + S_.i) x_i² - 2 xᵀSx
        gradient[:D] = 2.0 * (Xs * (slope @ Xs)).sum(axis=0) - (slope.sum(axis=0) + slope.sum(axis=1)) @ (Xs * Xs)
        diagonal = alpha * alpha - inverse.diagonal()
        noises = self.noises(theta)
        gradient[-1] = 0.5 * (diagonal * noises * self.is_learned).sum()
        if self.model.outputscale is not None:  # ∂K/∂log s² = K - diag(noise), αᵀKα = (y - m)ᵀα and tr K⁻¹K = n
            gradient[-2] = 0.5 * (fitted - n - diagonal @ noises)

        density, derivative = self.log_prior(theta)
        gradient += derivative
        return -float(value + density), -gradient

    def factorise(self, theta: Array) -> tuple[Array, Array, Array]:
        """X/ℓ, the Cholesky factor of K, and the slopes s²κ' (n, n); both live in `work` until the next call."""
        Xs = self.X * np.exp(-theta[: self.dimension])
        K, slope, scratch = self.work
        self.model.kernel.profile(squared_distances(Xs, out=K), slope, scratch)
        if self.model.outputscale is not None:
            K *= self.signal(theta)
            slope *= self.signal(theta)
        np.copyto(scratch, K)
        add_to_diagonal(K, self.noises(theta))
        root, info = dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
        if info != 0:
            add_to_diagonal(scratch, self.noises(theta))
            root = cholesky(scratch)
        return Xs, root, slope

    def signal(self, theta: Array) -> float:
        return 1.0 if self.model.outputscale is None else float(np.exp(theta[-2]))

    def noises(self, theta: Array) -> Array:
        """(n,) the measured variances where known, v² elsewhere; never below the floor."""
        noises: Array = self.measured + np.exp(theta[-1]) * self.is_learned
        return noises

    def solve(self, root: Array) -> tuple[float, Array]:
        """m and α = K⁻¹(y - m)."""
        solution = dpotrs(root, self.targets, lower=1)[0]  # K⁻¹[y, 1]
        mean = float(solution[:, 0].sum() / solution[:, 1].sum())
        return mean, solution[:, 0] - mean * solution[:, 1]

    def log_prior(self, theta: Array) -> tuple[float, Array]:
        derivative = np.empty_like(theta)
        sides, derivative[: self.dimension] = self.prior(theta[: self.dimension] + self.log_widths)
        noise, derivative[-1] = self.model.noise(theta[-1])
        density = float(sides.sum() + noise)
        if self.model.outputscale is not None:
            signal, derivative[-2] = self.model.outputscale(theta[-2])
            density += float(signal)
        return density, derivative

    @property
    def bounds(self) -> list[tuple[float, float]]:
        sides = [(log(self.model.shortest) - w, log(self.model.longest) - w) for w in self.log_widths]
        signal = [] if self.model.outputscale is None else [(log(1e-4), log(1e6))]
        return [*sides, *signal, (log(self.model.noise_floor), log(1e6))]

    @property
    def mode(self) -> Array:
        """The mode of the priors: where a cold fit starts."""
        signal = [] if self.model.outputscale is None else [log(self.model.outputscale.mode)]
        return np.array([*(log(self.prior.mode) - self.log_widths), *signal, log(self.model.noise.mode)])

    def starts(self, warm_start: Array | None, count: int) -> list[tuple[Array, float]]:
        """(θ, stride): the warm start if there is one, the priors' mode, a short-range one, then the mode disturbed.

        A warm start that another model left, with more or fewer hyper-parameters, is no use and left out.
        """
        short = self.mode - np.append(np.full(self.dimension, log(2.0)), np.zeros(len(self.mode) - self.dimension))
        rng = np.random.default_rng(0)  # the same for everybody: a fit is a function of the data
        disturbed = [self.mode + rng.normal(0.0, 1.0, len(self.mode)) for _ in range(count)]
        cold = [(theta, 1.0) for theta in (self.mode, short, *disturbed)]
        if warm_start is not None and warm_start.shape == self.mode.shape and np.isfinite(warm_start).all():
            cold = [(warm_start, STRIDE), cold[1], cold[0], *cold[2:]]
        lower, upper = np.array(self.bounds).T
        return [(np.clip(theta, lower, upper), stride) for theta, stride in cold[:count]]

    def minimise(self, warm_start: Array | None, count: int) -> tuple[Array, float]:
        """The best θ and its -log posterior."""
        return min((self._descend(*start) for start in self.starts(warm_start, count)), key=lambda result: result[1])

    def _descend(self, theta: Array, stride: float) -> tuple[Array, float]:
        """L-BFGS-B in θ/stride, because its first step has length 1 there."""
        from scipy.optimize import minimize  # here, because it takes half a second to import

        def scaled(z: Array) -> tuple[float, Array]:
            value, gradient = self(stride * z)
            return value, stride * gradient

        bounds = [(low / stride, high / stride) for low, high in self.bounds]
        options = {"ftol": TOLERANCE, "gtol": 1e-2 * stride}
        result = minimize(scaled, theta / stride, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return stride * result.x, float(result.fun)
