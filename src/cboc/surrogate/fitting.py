"""Hyper-parameters by maximum a posteriori, with the analytic gradient and the average information.

    θ               = log [ℓ_1 .. ℓ_D, (s²), v²]
    log posterior   = -½ (y - m)ᵀα - Σ log L_ii - n/2 log 2π + Σ log prior(θ)
    ∂/∂θ            = ½ Σ_ij (ααᵀ - K⁻¹)_ij ∂K_ij/∂θ + ∂ log prior/∂θ
    -∂²/∂θ∂θ'       ≈ ½ (∂K/∂θ α)ᵀ K⁻¹ (∂K/∂θ' α) - ∂² log prior/∂θ∂θ'
    m               = 1ᵀK⁻¹y / 1ᵀK⁻¹1

m is profiled out: at its optimum it adds nothing to the gradient. The third line is the mean of the observed and the
expected information, in which the costly traces cancel (Gilmour, Thompson and Cullis, Biometrics 1995). It is within a
factor of two of the truth in nearly every direction, at no more than a tenth of the cost of the gradient, so that a
climb takes half as many steps.

Several data sets of the same shape are fitted at once, from one or more starts each: every pair of a data set and a
start is a row, with its own θ, its own K and its own climb. A data set gets the same bits whatever is fitted beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log, pi
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs

from cboc.arrays import Array, Owners
from cboc.errors import CbocError
from cboc.search.ascent import ascend_all
from cboc.search.grouping import by_group
from cboc.surrogate.algebra import add_to_diagonal, cholesky, invert_root
from cboc.surrogate.gp import GP
from cboc.surrogate.kernels import Kernel, matern52
from cboc.surrogate.priors import Gamma, HyperPriors, LogNormal, Prior, along_the_diagonal, gamma_3_6
from cboc.surrogate.transforms import OutputTransform, compressed, raw

UNIT = 6.0  # of a climb, in log units
TOLERANCE = 1e-2  # of a climb, in the log posterior: what is left then is about half of it
RACE = 10.0  # a climb is given up when this many times its promise would not reach the best one
STEPS = 100  # most steps of a climb
CACHE = 2**17  # numbers in the work of one evaluation: 1 MB


@dataclass(frozen=True)
class Model:
    """The assumptions before any data. The defaults were chosen by benchmarks/solo.py on its tuning seeds."""

    kernel: Kernel = matern52
    transform: Callable[[Array], OutputTransform] = compressed
    lengthscale: Callable[[int], Prior] = along_the_diagonal  # the prior, given the dimension D
    outputscale: Prior | None = None  # None: s² = 1, the variance of standardised outcomes
    noise: Prior = field(default=LogNormal(-8.0, 2.0))
    noise_floor: float = 1e-6
    shortest: float = 0.025  # bounds of the lengthscales
    longest: float = 1e3
    is_natural: bool = False  # lengthscales are judged in natural units instead of the unit cube's


PAPER = Model(
    transform=raw,
    lengthscale=gamma_3_6,
    outputscale=Gamma(2.0, 0.15),
    noise=Gamma(1.1, 0.05),
    noise_floor=1e-4,
    shortest=1e-3,
    is_natural=True,
)
"""BoTorch's defaults of 2023 on raw inputs and raw outcomes, as in the paper's experiments."""


@dataclass(frozen=True)
class Task:
    """One data set to be fitted: designs X (n, D) and scores y (n,).

    `sem` holds the standard error of each measurement, NaN where it is to be learned. `warm_start` is the `theta` of an
    earlier fit; with `starts` > 1 other starting points are tried as well and the best result is kept.
    """

    X: Array
    y: Array
    sem: Array | None = None
    warm_start: Array | None = None
    starts: int = 1

    def __post_init__(self) -> None:
        if len(self.X) == 0:
            raise CbocError(
                "a Gaussian process needs at least one completed experiment, and there is none; tell() one first."
            )


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
    """The Gaussian process with the most probable hyper-parameters, for one data set (see `Task`).

    `widths` are the natural widths of the coordinates, for models that need them.
    """
    return fit_all([Task(X, y, sem, warm_start, starts)], model=model, widths=widths)[0]


def fit_all(tasks: Sequence[Task], *, model: Model | None = None, widths: Array | None = None) -> list[GP]:
    """The Gaussian processes of several data sets; data sets of one shape are fitted together."""
    believed = model or Model()
    return by_group(lambda alike: _fit_alike(alike, believed, widths), tasks, key=lambda task: task.X.shape)


def _fit_alike(tasks: list[Task], model: Model, widths: Array | None) -> list[GP]:
    objective, transforms = _objective(tasks, model, widths)
    thetas, values = objective.maximise(tasks)
    return _posteriors(objective, transforms, tasks, thetas, values)


def build(X: Array, y: Array, theta: Array, model: Model | None = None) -> GP:
    """The Gaussian process at given hyper-parameters, without fitting."""
    task = Task(X, y)
    objective, transforms = _objective([task], model or Model(), None)
    return _posteriors(objective, transforms, [task], theta[None], objective(theta[None])[0])[0]


def _objective(tasks: Sequence[Task], model: Model, widths: Array | None) -> tuple[Objective, list[OutputTransform]]:
    transforms = [model.transform(task.y) for task in tasks]
    X = np.array([task.X for task in tasks])
    y = np.array([transform.forward(task.y) for transform, task in zip(transforms, tasks, strict=True)])
    errors = np.full(y.shape, np.nan)
    for k, (transform, task) in enumerate(zip(transforms, tasks, strict=True)):
        if task.sem is not None and not np.isnan(task.sem).all():
            errors[k] = task.sem * transform.slope(task.y)
    return Objective(model, X, y, errors, widths), transforms


def _posteriors(
    objective: Objective, transforms: Sequence[OutputTransform], tasks: Sequence[Task], thetas: Array, values: Array
) -> list[GP]:
    gps = []
    signals, noises = objective.signals(thetas), objective.noises(thetas, np.arange(len(tasks)))
    for k, (task, theta) in enumerate(zip(tasks, thetas, strict=True)):
        found = objective.posterior(theta, k)
        gp = GP(
            kernel=objective.model.kernel,
            transform=transforms[k],
            X=task.X,
            y=objective.y[k],
            lengthscales=np.exp(theta[: task.X.shape[1]]),
            signal=float(signals[k]),
            noise=float(np.exp(theta[-1])),
            noises=noises[k],
            theta=theta,
            mean=found.mean,
            alpha=found.alpha,
            inverse_root=found.inverse_root,
            log_posterior=float(values[k]),
        )
        gps.append(gp)
    return gps


class Evaluated(NamedTuple):
    """What an evaluation of the log posterior leaves for the posterior process."""

    owner: int  # the data set
    theta: Array
    mean: float  # m
    alpha: Array  # α, (n,)
    inverse_root: Array  # L⁻¹, (n, n)


class Objective:
    """θ -> log posterior, gradient and metric, for K data sets X (K, n, D), y (K, n) with standard errors (K, n)."""

    def __init__(self, model: Model, X: Array, y: Array, sem: Array | None = None, widths: Array | None = None) -> None:
        _, n, self.dimension = X.shape
        self.model = model
        self.X = X - X.mean(axis=1, keepdims=True)  # only differences count, and small numbers keep |x - x'|² exact
        self.y = y
        self.targets = np.stack([y, np.ones_like(y)], axis=1)  # (K, 2, n): LAPACK sees [y, 1]
        known = np.full(y.shape, np.nan) if sem is None else sem**2
        self.is_learned = np.isnan(known)  # (K, n) where v² stands for the unknown measurement error
        self.measured = np.where(self.is_learned, 0.0, np.maximum(known, model.noise_floor))
        self.width = max(1, CACHE // (3 * n * n))  # rows in a chunk
        self.work = np.empty(
            (3, 0, n, n)
        )  # K, slopes, scratch: allocated once, because fresh pages cost more than the sums
        self.log_widths = np.log(widths) if model.is_natural and widths is not None else np.zeros(self.dimension)
        sides = model.lengthscale(self.dimension)
        self.priors = HyperPriors(sides, model.outputscale, model.noise, self.log_widths)
        self.last: list[Evaluated] = []  # the rows of the last evaluation

    def __call__(self, thetas: Array, owners: Owners | None = None) -> tuple[Array, Array, Array]:
        """Log posteriors (b,), their gradients (b, p) and the inverses of their information (b, p, p) at θ (b, p).

        Row i belongs to data set owners[i], by default i."""
        owners = np.arange(len(thetas)) if owners is None else owners
        values, gradients = self.priors(thetas)
        information = np.empty((*thetas.shape, thetas.shape[1]))
        self.last = []
        for rows in self.chunks(len(thetas)):
            likelihoods, slopes, information[rows] = self._likelihood(thetas[rows], owners[rows])
            values[rows] += likelihoods
            gradients[rows] += slopes
        np.einsum("bii->bi", information)[...] += self.priors.curvature(thetas)  # on the diagonals
        return values, gradients, np.linalg.inv(information)

    def posterior(self, theta: Array, owner: int) -> Evaluated:
        """The posterior of a data set at θ: known if θ was just evaluated, as the end of a climb usually is."""
        for row in self.last:
            if row.owner == owner and np.array_equal(row.theta, theta):
                return row
        self(theta[None], np.array([owner]))
        return self.last[0]

    def chunks(self, count: int) -> list[slice]:
        """Slices of `count` rows, each small enough to stay in the cache."""
        return [slice(start, min(start + self.width, count)) for start in range(0, count, self.width)]

    def _likelihood(self, thetas: Array, owners: Owners) -> tuple[Array, Array, Array]:
        n, D = self.X.shape[1:]
        noises = self.noises(thetas, owners)
        Xs, roots, slope = self.factorise(thetas, owners, noises)
        means, alpha = self.solve(roots, owners)
        residuals = self.y[owners] - means[:, None]
        fitted = (residuals * alpha).sum(axis=1)
        values = -0.5 * (fitted + n * log(2.0 * pi)) - np.log(roots.diagonal(axis1=1, axis2=2)).sum(axis=1)

        drifts = np.empty((len(thetas), thetas.shape[1], n))  # ∂K/∂θ α
        drifts[:, :D] = self._drifts(Xs, alpha, slope)
        learned = noises * self.is_learned[owners]
        drifts[:, -1] = learned * alpha
        if self.model.outputscale is not None:  # ∂K/∂log s² = K - diag(noise), and Kα = y - m
            drifts[:, -2] = residuals - noises * alpha
        gradients = 0.5 * np.matmul(drifts, alpha[:, :, None])[:, :, 0]
        information = np.empty((len(thetas), *drifts.shape[1:2] * 2))
        for i, (owner, root) in enumerate(zip(owners.tolist(), roots, strict=True)):
            inverse_root = invert_root(root.T)
            self.last.append(Evaluated(owner, thetas[i].copy(), float(means[i]), alpha[i], inverse_root))
            white = inverse_root @ drifts[i].T
            np.matmul(white.T, 0.5 * white, out=information[i])
            root[...] = dlauum(inverse_root, lower=1)[0].T
        inverse = roots  # K⁻¹ on and above the diagonal, 0 below

        # ½ tr K⁻¹ ∂K/∂θ = -½ tr K⁻¹ (2 s²κ' Δ²), and Σ_ij S_ij (x_i - x_j)² = Σ_i (S_i. + S_.i) x_i² - 2 xᵀSx
        slope *= inverse
        sums = slope.sum(axis=1) + slope.sum(axis=2)
        gradients[:, :D] += 2.0 * (Xs * (sums[:, :, None] * Xs - 2.0 * np.matmul(slope, Xs))).sum(axis=1)
        diagonal = inverse.diagonal(axis1=1, axis2=2)
        gradients[:, -1] -= 0.5 * (diagonal * learned).sum(axis=1)
        if self.model.outputscale is not None:
            gradients[:, -2] -= 0.5 * (n - (diagonal * noises).sum(axis=1))
        return values, gradients, information

    @staticmethod
    def _drifts(Xs: Array, alpha: Array, slope: Array) -> Array:  # (b, D, n)
        """∂K/∂log ℓ_d α = -2 Σ_j s²κ'_ij (x_i - x_j)² α_j, the square multiplied out."""
        D = Xs.shape[2]
        powers = np.empty((*Xs.shape[:2], 2 * D + 1))
        powers[:, :, 0] = 1.0
        powers[:, :, 1 : D + 1] = Xs
        np.multiply(Xs, Xs, out=powers[:, :, D + 1 :])
        powers *= alpha[:, :, None]
        sums = np.matmul(slope, powers)
        drifts: Array = Xs * (4.0 * sums[:, :, 1 : D + 1] - 2.0 * sums[:, :, :1] * Xs) - 2.0 * sums[:, :, D + 1 :]
        return drifts.transpose(0, 2, 1)

    def factorise(self, thetas: Array, owners: Owners, noises: Array) -> tuple[Array, Array, Array]:
        """X/ℓ, the roots Lᵀ of K and the slopes s²κ' (b, n, n); both live in `work` until the next call."""
        if self.work.shape[1] < len(thetas):
            self.work = np.empty((3, len(thetas), *self.work.shape[2:]))
        Xs = self.X[owners] * np.exp(-thetas[:, None, : self.dimension])
        K, slope, scratch = self.work[:, : len(thetas)]
        self._correlate(Xs, thetas, K, slope, scratch)
        np.einsum("bii->bi", K)[...] += noises  # on the diagonals
        for i, matrix in enumerate(K):
            if dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)[1] != 0:  # K is gone: once more, with jitter
                row = slice(i, i + 1)
                self._correlate(Xs[row], thetas[row], K[row], slope[row], scratch[row])
                add_to_diagonal(matrix, noises[i])
                matrix[...] = cholesky(matrix).T
        return Xs, K, slope

    def _correlate(self, Xs: Array, thetas: Array, K: Array, slope: Array, scratch: Array) -> None:
        """s²κ and s²κ' between the rows of every X/ℓ, into K and slope (b, n, n)."""
        self.model.kernel.within(Xs, K, slope, scratch)
        if self.model.outputscale is not None:
            signals = self.signals(thetas)[:, None, None]
            K *= signals
            slope *= signals

    def signals(self, thetas: Array) -> Array:
        """The signal variances s² of the rows of θ."""
        return np.ones(len(thetas)) if self.model.outputscale is None else np.exp(thetas[:, -2])

    def noises(self, thetas: Array, owners: Owners) -> Array:
        """(b, n) the measured variances where known, v² elsewhere; never below the floor."""
        noises: Array = self.measured[owners] + np.exp(thetas[:, -1:]) * self.is_learned[owners]
        return noises

    def solve(self, roots: Array, owners: Owners) -> tuple[Array, Array]:
        """m (b,) and α = K⁻¹(y - m) (b, n)."""
        solutions = np.array(  # K⁻¹[y, 1]
            [
                dpotrs(root.T, self.targets[owner].T, lower=1)[0].T
                for root, owner in zip(roots, owners.tolist(), strict=True)
            ]
        )
        sums = solutions.sum(axis=2)
        means = sums[:, 0] / sums[:, 1]
        return means, solutions[:, 0] - means[:, None] * solutions[:, 1]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds of every component of θ."""
        sides = [(log(self.model.shortest) - w, log(self.model.longest) - w) for w in self.log_widths]
        signal = [] if self.model.outputscale is None else [(log(1e-4), log(1e6))]
        return [*sides, *signal, (log(self.model.noise_floor), log(1e6))]

    def starts(self, warm_start: Array | None, count: int) -> list[Array]:
        """The warm start if there is one, the priors' mode, a short-range one, then the mode disturbed.

        A warm start from another model, with more or fewer hyper-parameters, is ignored.
        """
        warm = [] if warm_start is None or not self._is_usable(warm_start) else [warm_start]
        if warm and count == 1:
            return warm
        mode = self.priors.mode
        short = mode - np.append(np.full(self.dimension, log(2.0)), np.zeros(len(mode) - self.dimension))
        rng = np.random.default_rng(0)  # the same for everybody: a fit is a function of the data
        disturbed = [mode + rng.normal(0.0, 1.0, len(mode)) for _ in range(count)]
        first = (short, mode) if warm else (mode, short)
        return [*warm, *first, *disturbed][:count]

    def _is_usable(self, theta: Array) -> bool:
        parameters = self.dimension + 1 + (self.model.outputscale is not None)
        return theta.shape == (parameters,) and bool(np.isfinite(theta).all())

    def maximise(self, tasks: Sequence[Task]) -> tuple[Array, Array]:
        """The best θ of every task (K, p), and its log posterior (K,)."""
        starts = [(k, start) for k, task in enumerate(tasks) for start in self.starts(task.warm_start, task.starts)]
        owners = np.array([k for k, _ in starts])
        lower, upper = np.array(self.bounds).T
        thetas, values = ascend_all(
            self,
            np.array([start for _, start in starts]),
            lower,
            upper,
            owners=owners,
            tolerance=TOLERANCE,
            race=RACE,
            steps=STEPS,
            units=UNIT,
        )
        best = [max(np.flatnonzero(owners == k), key=lambda row: values[row]) for k in range(len(tasks))]
        return thetas[best], values[best]
