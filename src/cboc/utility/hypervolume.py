"""Expected hypervolume improvement: what an experiment is expected to add below the front of several objectives.

    EHVI(x) = Σ_b Π_i [ψ_i(l_bi) - ψ_i(u_bi)]            boxes (l_b, u_b] of the room above the front (`front.py`)
    ψ_i(a)  = E (f_i(x) - a)⁺ = σ_i h((μ_i - a)/σ_i)      the objectives being independent given the data

It is exact for any number of objectives (Emmerich et al. 2011; Yang et al. 2019). As a logarithm it has a slope where
EHVI is flat zero (Ament et al., NeurIPS 2023), with Δ = log ψ(l) - log ψ(u):

    log [ψ(l) - ψ(u)]  = log ψ(l) + log(1 - e^-Δ)
    ∂ log [ψ(l) - ψ(u)] = (∂ log ψ(l) - e^-Δ ∂ log ψ(u)) / (1 - e^-Δ)
    ∂ log ψ(a)/∂μ      = (h'/h)/σ              ∂ log ψ(a)/∂σ = (1 - z h'/h)/σ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cboc.arrays import Array, Mask, Owners
from cboc.data.front import is_on_front, room
from cboc.surrogate.gp import GP, Stack
from cboc.utility.normal import log_h

MARGIN = 0.1  # how far below the front the reference lies, as a share of the front's extent
TINY = 1e-15  # the least Δ: two sides that are as good as one
LONE = 1.0  # that extent where the front has none, in standard deviations of the outcomes


@dataclass(frozen=True)
class LogEHVI:
    """The logarithm of expected hypervolume improvement, on the standardised scales of the surrogates."""

    gps: Sequence[GP]  # one for every objective, on the same designs
    reference: Array  # r (m,), standardised
    counts: Mask | None = field(default=None, repr=False)  # (n,) which outcomes may be on the front; None: all

    is_log = True

    @cached_property
    def outcomes(self) -> Array:  # (n, m)
        """The outcomes so far, standardised; of experiments under way, those that are expected."""
        return np.column_stack([gp.y for gp in self.gps])

    @cached_property
    def stack(self) -> Stack:
        """The surrogates as one."""
        return Stack(self.gps)

    @cached_property
    def boxes(self) -> Boxes:
        """The room above the front."""
        known = self.outcomes if self.counts is None else self.outcomes[self.counts]
        return Boxes.of(known, self.reference)

    @cached_property
    def anchors(self) -> Array:
        """The designs of the front, and then all others."""
        Y, X = self.outcomes, self.gps[0].X
        best = is_on_front(Y) if self.counts is None else is_on_front(np.where(self.counts[:, None], Y, -np.inf))
        return X[np.argsort(~best, kind="stable")]

    @property
    def units(self) -> Array:
        """The shortest lengths over which an objective changes, (D,)."""
        return np.min([gp.lengthscales for gp in self.gps], axis=0)

    def __call__(self, X: Array) -> Array:
        means, sds = self.stack.moments(np.broadcast_to(X, (len(self.gps), *X.shape)))
        return self.boxes.log_volume(means, sds)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        m, (q, D) = len(self.gps), X.shape
        mean, sd, d_mean, d_sd = self.stack.moments_with_gradient(np.tile(X, (m, 1)), np.repeat(np.arange(m), q))
        value, by_mean, by_sd = self.boxes.slopes(mean.reshape(m, q), sd.reshape(m, q))
        slope = by_mean[:, :, None] * d_mean.reshape(m, q, D) + by_sd[:, :, None] * d_sd.reshape(m, q, D)
        return value, slope.sum(axis=0)

    def log_worth(self, X: Array) -> Array:
        return self(X)


@dataclass(frozen=True)
class Boxes:
    """Disjoint boxes (l, u]. Their sides are few, so that ψ is computed once for each of them."""

    sides: tuple[Array, ...]  # the finite sides of each objective, and ∞
    lower: Owners  # (m, b) which side l is
    upper: Owners  # (m, b) which side u is

    @classmethod
    def of(cls, Y: Array, reference: Array) -> Boxes:
        """The boxes of the room above the outcomes Y (n, m)."""
        corners = room(Y, reference)
        sides = tuple(np.unique(np.concatenate([low, high])) for low, high in zip(*(c.T for c in corners), strict=True))
        lower, upper = (
            np.array([np.searchsorted(s, c) for s, c in zip(sides, corner.T, strict=True)]) for corner in corners
        )
        return cls(sides, lower, upper)

    def log_volume(self, means: Array, sds: Array) -> Array:
        """log EHVI (q,) at means and standard deviations (m, q)."""
        return self._parts(means, sds)[0]

    def slopes(self, means: Array, sds: Array) -> tuple[Array, Array, Array]:
        """log EHVI (q,), and its derivatives with respect to the means and standard deviations, (m, q) each."""
        value, logs, parts = self._parts(means, sds)
        share = np.exp(logs - value[:, None])  # of every box, (q, b)
        by_mean, by_sd = np.empty_like(means), np.empty_like(sds)
        for i, (part, low, high) in enumerate(zip(parts, self.lower, self.upper, strict=True)):
            left = np.exp(-part.gap)  # ψ(u)/ψ(l)
            whole = share / -np.expm1(-part.gap)
            by_mean[i] = (whole * (part.by_mean[:, low] - left * part.by_mean[:, high])).sum(axis=1)
            by_sd[i] = (whole * (part.by_sd[:, low] - left * part.by_sd[:, high])).sum(axis=1)
        return value, by_mean, by_sd

    def _parts(self, means: Array, sds: Array) -> tuple[Array, Array, list[_Part]]:
        """log EHVI (q,), the logarithm of every box's share of it (q, b), and what its slopes need."""
        logs = np.zeros((means.shape[1], self.lower.shape[1]))
        parts = []
        for mean, sd, sides, low, high in zip(means, sds, self.sides, self.lower, self.upper, strict=True):
            z, rate = np.zeros((2, len(mean), len(sides)))
            z[:, :-1] = (mean[:, None] - sides[:-1]) / sd[:, None]
            heights = np.full(z.shape, -np.inf)  # log ψ; ψ(∞) = 0
            heights[:, :-1], rate[:, :-1] = log_h(z[:, :-1])
            heights += np.log(sd)[:, None]
            gap = np.maximum(heights[:, low] - heights[:, high], TINY)
            logs += heights[:, low] + np.log(-np.expm1(-gap))
            parts.append(_Part(rate / sd[:, None], (1.0 - z * rate) / sd[:, None], gap))
        top = logs.max(axis=1, keepdims=True)
        value: Array = (top + np.log(np.exp(logs - top).sum(axis=1, keepdims=True)))[:, 0]
        return value, logs, parts


class _Part(NamedTuple):
    """The slopes of one objective."""

    by_mean: Array  # ∂ log ψ/∂μ at every side (q, s)
    by_sd: Array  # ∂ log ψ/∂σ
    gap: Array  # Δ of every box (q, b)


def usual_reference(Y: Array) -> Array:  # (n, m) -> (m,)
    """The reference where nobody names one: a tenth of the front's extent below its worst values."""
    best = Y[is_on_front(Y)]
    worst, extent = best.min(axis=0), np.ptp(best, axis=0)
    return np.asarray(worst - MARGIN * np.where(extent > 0.0, extent, LONE / MARGIN))
