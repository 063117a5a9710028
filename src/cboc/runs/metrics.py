"""How well a search went: the Gap of Sec. 5, and summaries of its curve.

A curve holds a value after the initial trials and after each round, (..., T + 1); axes for sites and seeds come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cboc.arrays import Array
from cboc.runs.history import History

EXACT = 1e-12  # relative: two values this close are the same


def gap(loss: ArrayLike, way: ArrayLike) -> Array:
    """G = 1 - loss / way: 0 at the start, 1 at the optimum; always 1 if there was no way to go.

    The loss is the distance of an outcome to the optimum, the way that of the start. (Sec. 5 writes G = |y*(0) - y*(t)|
    / |y*(0) - y*|, which is the same for outcomes between the two.)
    """
    loss, way = np.asarray(loss, dtype=float), np.asarray(way, dtype=float)
    is_there = way <= 0.0
    return np.where(is_there, 1.0, 1.0 - loss / np.where(is_there, 1.0, way))


def gap_so_far(loss: ArrayLike, way: ArrayLike) -> Array:  # (..., n), (...) -> (..., n)
    """The Gap after each experiment, from the losses of all of them; NaN is a failure.

    Where the way is that of the median design, no first designs decide what a Gap means: it is 0 until one is better.
    """
    losses = np.asarray(loss, dtype=float)
    least = np.minimum.accumulate(np.where(np.isnan(losses), np.inf, losses), axis=-1)
    return np.clip(gap(least, np.asarray(way, dtype=float)[..., None]), 0.0, 1.0)


def area(curve: ArrayLike) -> Array:
    """The mean of a curve over the rounds 1 .. T: how good the search was all along."""
    mean: Array = np.asarray(curve, dtype=float)[..., 1:].mean(axis=-1)
    return mean


def after(curve: ArrayLike, share: float) -> Array:
    """The value of a curve when this share of the rounds is done; 1 is the end."""
    curve = np.asarray(curve, dtype=float)
    value: Array = curve[..., round(share * (curve.shape[-1] - 1))]
    return value


def rounds_to(curve: ArrayLike, level: ArrayLike) -> Array:
    """The first round in which a rising curve reaches the level; NaN if it never does."""
    is_reached = np.asarray(curve, dtype=float) >= np.asarray(level, dtype=float)[..., None]
    return np.where(is_reached.any(axis=-1), is_reached.argmax(axis=-1), np.nan)


def lead(curve: ArrayLike, other: ArrayLike) -> tuple[Array, Array]:
    """The rounds that a rising curve, and the other curve itself, need to reach the other's final value."""
    end = np.asarray(other, dtype=float)[..., -1]
    return rounds_to(curve, end), rounds_to(other, end)


@dataclass(frozen=True)
class Paired:
    """A mean difference over seeds, and its standard error (NaN with one seed)."""

    difference: float
    error: float
    seeds: int

    @property
    def margin(self) -> float:
        """Half the width of the 95 % confidence interval."""
        return _student(self.seeds) * self.error

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval."""
        return self.difference - self.margin, self.difference + self.margin


def paired(one: ArrayLike, other: ArrayLike) -> Paired:
    """The mean difference, one minus the other, paired seed by seed."""
    differences = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    return Paired(float(differences.mean()), float(standard_error(differences)), len(differences))


def harm_rate(one: ArrayLike, other: ArrayLike, tolerance: float = 0.01) -> float:
    """The share of sites that end worse than in the other by more than the tolerance."""
    return float((np.asarray(one, dtype=float) < np.asarray(other, dtype=float) - tolerance).mean())


def standard_error(values: ArrayLike) -> Array:
    """The standard error of the mean over the first axis; NaN where there is only one value."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    error: Array = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return error


def margin(values: ArrayLike) -> Array:
    """Half the width of the 95 % confidence interval of the mean over the first axis; NaN where there is one value."""
    values = np.asarray(values, dtype=float)
    return _student(len(values)) * standard_error(values)


def _student(count: int) -> float:
    """t₀.₉₇₅ with n - 1 degrees of freedom: how many standard errors a 95 % interval reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 0.975)) if count > 1 else float("nan")


def best_curves(histories: Sequence[History]) -> Array:
    """The best outcome so far, (seeds, K, rounds + 1), for the rounds that all histories have.

    A site that has finished before the others keeps its best.
    """
    curves = [[history.best_so_far(site) for site in history.sites] for history in histories]
    length = min(max(len(curve) for curve in of_seed) for of_seed in curves)
    return np.array([[_fitted(curve, length) for curve in of_seed] for of_seed in curves])


def _fitted(curve: Array, length: int) -> Array:
    return np.append(curve, np.full(max(0, length - len(curve)), curve[-1]))[:length]


def gap_curves(histories: Sequence[History], optima: Mapping[str, float]) -> Array:
    """G(t) of every seed and site, (seeds, K, rounds + 1)."""
    best = best_curves(histories)
    optimum = np.array([optima[site] for site in histories[0].sites])[:, None]
    loss = np.abs(best - optimum)
    way = loss[..., :1]
    return gap(loss, np.where(way <= EXACT * np.maximum(np.abs(optimum), EXACT), 0.0, way))


def bests_at(histories: Sequence[History], moments: Array) -> Array:
    """The best outcome of every seed and site at these times, (seeds, K, moments); NaN before a first result."""
    return np.array([[_at(*history.course(s), moments) for s in history.sites] for history in histories])


def _at(times: Array, best: Array, moments: Array) -> Array:
    """A curve that steps up when an experiment ends, at these moments."""
    return np.append(np.nan, best)[np.searchsorted(times, moments, side="right")]


def gaps_at(histories: Sequence[History], optima: Mapping[str, float], moments: Array) -> Array:
    """G of every seed and site at these times, (seeds, K, moments); 0 until the initial experiments have ended."""
    optimum = np.array([optima[site] for site in histories[0].sites])[:, None]
    way = np.abs(best_curves(histories)[..., :1] - optimum)
    loss = np.minimum(np.nan_to_num(np.abs(bests_at(histories, moments) - optimum), nan=np.inf), way)
    return gap(loss, np.where(way <= EXACT * np.maximum(np.abs(optimum), EXACT), 0.0, way))


def time_to(times: Array, best: Array, level: float) -> float:
    """When a rising course reaches the level; NaN if it never does."""
    is_reached = best >= level
    return float(times[is_reached.argmax()]) if is_reached.any() else np.nan


def best_found(histories: Sequence[History]) -> dict[str, float]:
    """The best outcome of each site in any of the histories: the reference where the optimum is unknown."""
    found = best_curves(histories)[..., -1]
    signs = {site: histories[0].goals[site].sign for site in histories[0].sites}
    return {
        site: float(sign * np.nanmax(sign * found[:, k])) if np.isfinite(found[:, k]).any() else np.nan
        for k, (site, sign) in enumerate(signs.items())
    }
