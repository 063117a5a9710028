"""Surrogates with other hyper-parameters that the data leave plausible: how sure a prediction can honestly be.

    φ = log [ℓ_1 .. ℓ_D, v²/s₀², s²/s₀²] ~ N(location, spread²)          s₀² is the signal of the fit
    log likelihood = -½ (y - m)ᵀα - Σ log L_ii - ½ log 1ᵀK⁻¹1            the mean m is integrated out
    φ' = location + (φ - location) cos t + ν sin t,  ν ~ N(0, spread²)   one step; the angle t shrinks until it fits

A fit takes the most probable hyper-parameters for certain. With ten outcomes its 95 % intervals then hold 68 to 86 % of
new outcomes, measured on functions drawn from the prior. Those of some twenty surrogates together, drawn by elliptical
slice sampling (Murray, Adams and MacKay, AISTATS 2010) and widened by Student's t, hold 91 to 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cboc.arrays import Array, Mask
from cboc.surrogate.algebra import add_to_diagonal, cholesky, invert_root
from cboc.surrogate.gp import GP
from cboc.surrogate.kernels import squared_distances
from cboc.surrogate.priors import along_the_diagonal

COUNT = 24  # surrogates
BURNED, THINNED = 8, 2  # steps before the first one, and from one to the next
ENOUGH = 100  # data from which the hyper-parameters are judged: more would only take longer
NOISE = (-6.0, 2.5)  # of log v²/s₀²: wider than the fit's, because noise that is overlooked makes an interval too short
SIGNAL = (0.5, 1.0)  # of log s²/s₀²: few outcomes span less than the function does
FLOOR = 1e-6  # of v²/s₀²


@dataclass(frozen=True)
class Plausible:
    """Some surrogates of the same data, each as plausible as the others."""

    gps: tuple[GP, ...]

    @classmethod
    def around(cls, gp: GP, count: int = COUNT) -> Plausible:
        """Draw surrogates around a fitted one. The same data give the same surrogates."""
        rng = np.random.default_rng(0)
        chain = _Chain(gp, rng)
        for _ in range(BURNED):
            chain.step()
        drawn = []
        for _ in range(count):
            for _ in range(THINNED):
                chain.step()
            drawn.append(_with(gp, chain.phi))
        return cls(tuple(drawn))

    def moments(self, Q: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of f at Q (q, D), standardised, over all surrogates."""
        means, sds = _stacked([_moments(gp, Q) for gp in self.gps])
        return _mixed(means, sds, np.ones_like(means))

    def leave_one_out(self) -> tuple[Array, Array]:
        """Mean and standard deviation of each outcome (n,), predicted from all others, standardised.

        A surrogate counts the less the more it owes to the outcome that is left out: by 1 / p(y_i | the others).
        """
        means, sds = _stacked([leave_one_out(gp) for gp in self.gps])
        log_p = -0.5 * ((self.gps[0].y - means) / sds) ** 2 - np.log(sds)
        return _mixed(means, sds, np.exp(log_p.min(axis=0) - log_p))

    @property
    def noise(self) -> float:
        """The variance of one more measurement: v² where it is learned, else that of the measurements so far."""
        learned = [gp.noise if _is_learned(gp).any() else float(np.median(gp.noises)) for gp in self.gps]
        return float(np.mean(learned))


def _stacked(moments: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:  # (m, q), (m, q)
    means, sds = zip(*moments, strict=True)
    return np.array(means), np.array(sds)


def _mixed(means: Array, sds: Array, weights: Array) -> tuple[Array, Array]:
    """The moments (q,) of a mixture of m parts (m, q)."""
    share = weights / weights.sum(axis=0)
    mean = (share * means).sum(axis=0)
    return mean, np.sqrt((share * (sds**2 + (means - mean) ** 2)).sum(axis=0))


def _moments(gp: GP, Q: Array) -> tuple[Array, Array]:
    """μ(x) and σ²(x) = s² - |L⁻¹k|² + (1 - 1ᵀK⁻¹k)² / 1ᵀK⁻¹1: the last part, because m is estimated."""
    k, ones = gp.cross(Q), gp.inverse_root.sum(axis=1)
    white = gp.whiten(k)
    mean = gp.mean + k @ gp.alpha
    variance = np.maximum(gp.signal - (white**2).sum(axis=1), 1e-12 * gp.signal)
    return mean, np.sqrt(variance + (1.0 - white @ ones) ** 2 / (ones @ ones))


def leave_one_out(gp: GP) -> tuple[Array, Array]:
    """μ_-i = y_i - α_i / Q_ii,  σ²_-i = 1 / Q_ii,  Q = K⁻¹ - K⁻¹11ᵀK⁻¹ / 1ᵀK⁻¹1   (Dubrule, Math. Geology 1983).

    As `GP.leave_one_out`, but the constant mean is estimated without the point, too. The standard deviation is that of
    the measurement, with its noise.
    """
    solved = gp.inverse_root.T @ gp.inverse_root.sum(axis=1)  # K⁻¹1
    diagonal = np.einsum("ij,ij->j", gp.inverse_root, gp.inverse_root) - solved**2 / solved.sum()
    return gp.y - gp.alpha / diagonal, 1.0 / np.sqrt(diagonal)


def _is_learned(gp: GP) -> Mask:
    """Whether v² stands for a measurement's unknown variance, (n,)."""
    return np.isclose(gp.noises, gp.noise)


def _with(gp: GP, phi: Array) -> GP:
    """The surrogate of the same data with other hyper-parameters."""
    signal = gp.signal * float(np.exp(phi[-1]))
    noise = gp.signal * max(float(np.exp(phi[-2])), FLOOR)
    other = replace(gp, lengthscales=np.exp(phi[:-2]), signal=signal, noise=noise)
    other = other.with_noises(np.where(_is_learned(gp), noise, gp.noises))
    white, ones = other.inverse_root @ gp.y, other.inverse_root.sum(axis=1)
    mean = float(white @ ones / (ones @ ones))
    return replace(other, mean=mean, alpha=other.inverse_root.T @ (white - mean * ones))


@dataclass
class _Chain:
    """A walk through the hyper-parameters, from those of the fit."""

    gp: GP
    rng: np.random.Generator
    phi: Array = field(init=False)
    level: float = field(init=False)  # the log likelihood there

    def __post_init__(self) -> None:
        gp, D = self.gp, self.gp.X.shape[1]
        sides = along_the_diagonal(D)
        self.location = np.array([*[sides.location] * D, NOISE[0], SIGNAL[0]])
        self.spread = np.array([*[sides.scale] * D, NOISE[1], SIGNAL[1]])
        rows = self.rng.permutation(len(gp.y))[:ENOUGH]
        self.X, self.y, self.noises, self.is_learned = gp.X[rows], gp.y[rows], gp.noises[rows], _is_learned(gp)[rows]
        self.phi = np.array([*np.log(gp.lengthscales), np.log(gp.noise / gp.signal), 0.0])
        self.level = self._likelihood(self.phi)

    def step(self) -> None:
        """Go to another point of the ellipse through φ and a draw from the prior, as likely as a random cut or more."""
        draw = self.spread * self.rng.standard_normal(len(self.phi))
        cut = self.level + np.log(self.rng.random())
        angle = self.rng.uniform(0.0, 2.0 * np.pi)
        low, high = angle - 2.0 * np.pi, angle
        while True:
            phi = self.location + (self.phi - self.location) * np.cos(angle) + draw * np.sin(angle)
            level = self._likelihood(phi)
            if level > cut or high - low < 1e-9:  # the ellipse closes around where we are
                break
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = self.rng.uniform(low, high)
        self.phi, self.level = phi, level

    def _likelihood(self, phi: Array) -> float:
        signal = self.gp.signal * np.exp(phi[-1])
        K = signal * self.gp.kernel(squared_distances(self.X / np.exp(phi[:-2])))[0]
        noise = self.gp.signal * max(float(np.exp(phi[-2])), FLOOR)
        add_to_diagonal(K, np.where(self.is_learned, noise, self.noises))
        root = invert_root(cholesky(K))
        white, ones = root @ self.y, root.sum(axis=1)
        total = float(ones @ ones)
        residual = white - (white @ ones / total) * ones
        return float(np.log(root.diagonal()).sum() - 0.5 * np.log(total) - 0.5 * (residual @ residual))
