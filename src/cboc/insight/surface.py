"""The outcome that a site's own surrogate expects at any design, with an interval, in the outcome's own units.

    w    = μ(x) ± t √(σ²(x) + v²)      mean and variance over some twenty plausible surrogates
    y    = ± backward(w)               the output transform undone, and the sign if outcomes are to be minimised

t is Student's quantile with n - 1 degrees of freedom: the scale of n outcomes is known no better. The transform is
monotone, so the ends of the interval stay its ends; it need not be symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import floor, log10

import numpy as np

from cboc.arrays import Array, Owners
from cboc.data.dataset import Dataset
from cboc.data.goal import Limit
from cboc.space.space import Space
from cboc.surrogate.gp import GP
from cboc.surrogate.plausible import Plausible

SHARE = 0.95  # of outcomes that lie in an interval
DIGITS = 2  # of the width of an interval
FAR = 0.5  # a difference of expected outcomes, standardised, from which a design tells little about another


@dataclass(frozen=True)
class Expected:
    """Expected outcomes and the intervals around them, in the outcome's own units; low <= middle <= high."""

    low: Array  # (q,)
    middle: Array
    high: Array

    def __getitem__(self, place: int) -> Expectation:
        """The expected outcome in one place."""
        return Expectation(float(self.low[place]), float(self.middle[place]), float(self.high[place]))


@dataclass(frozen=True)
class Expectation:
    """One expected outcome: 95 of 100 experiments there would give something from low to high."""

    low: float
    middle: float
    high: float

    def __str__(self) -> str:
        return "{} to {}".format(*rounded(self.low, self.high))

    def holds(self, y: float) -> bool:
        """Whether an outcome lies in the interval."""
        return self.low <= y <= self.high


@dataclass(frozen=True)
class Surface:
    """What a surrogate says in the units of the outcomes. Failed experiments count as bad as the worst that worked."""

    space: Space
    dataset: Dataset
    gp: GP = field(repr=False)  # fitted to the outcomes, then the failures

    @cached_property
    def plausible(self) -> Plausible:
        """The surrogates that the data leave plausible."""
        return Plausible.around(self.gp)

    @cached_property
    def widening(self) -> float:
        """Student's quantile, n - 1 degrees of freedom: how many standard deviations an interval reaches."""
        from scipy.special import stdtrit

        return float(stdtrit(len(self.dataset) - 1, 0.5 + 0.5 * SHARE))

    def expected(self, X: Array, *, is_measured: bool = True) -> Expected:
        """What an experiment at each design of X (q, D) would measure; else its mean, without the noise."""
        mean, sd = self.plausible.moments(X)
        noise = self.plausible.noise if is_measured else 0.0
        return self.in_units(mean, np.sqrt(sd**2 + noise))

    def chance(self, X: Array, limit: Limit) -> Array:  # (q,)
        """The probability that an experiment at each design of X (q, D) measures what keeps to a limit."""
        from scipy.special import stdtr

        mean, sd = self.plausible.moments(X)
        sign = self.dataset.direction.sign
        edge = self.gp.transform.forward(np.array([sign * limit.bound]))
        z = (edge - mean) / np.sqrt(sd**2 + self.plausible.noise)
        is_below = (limit.relation == "<=") == (sign > 0.0)  # of the score
        return np.asarray(stdtr(len(self.dataset) - 1, z if is_below else -z))

    def middle(self, X: Array) -> Array:  # (q,)
        """The expected outcomes alone."""
        return self.of_scores(self.gp.transform.backward(self.plausible.moments(X)[0]))

    def leave_one_out(self) -> Expected:
        """Every outcome as it is expected from all others, (n,)."""
        mean, sd = self.plausible.leave_one_out()
        count = len(self.dataset)
        return self.in_units(mean[:count], sd[:count])

    def surprise(self, X: Array, y: Array) -> Array:  # (q,)
        """How many standard deviations outcomes y (q,) lie from what the surrogate expects at X (q, D)."""
        mean, sd = self.plausible.moments(X)
        told = self.gp.transform.forward(self.dataset.direction.sign * y)
        return (told - mean) / np.sqrt(sd**2 + self.plausible.noise)

    def surprises(self) -> Array:  # (n,)
        """The same for every outcome so far, as it is expected from all others."""
        mean, sd = self.plausible.leave_one_out()
        return ((self.gp.y - mean) / sd)[: len(self.dataset)]

    def in_units(self, mean: Array, sd: Array) -> Expected:
        """Expected outcomes from the surrogate's standardised ones."""
        ends = (self.of_scores(self.gp.transform.backward(mean + t * sd)) for t in (-self.widening, 0.0, self.widening))
        low, middle, high = ends
        return Expected(np.minimum(low, high), middle, np.maximum(low, high))

    def of_scores(self, scores: Array) -> Array:
        """Outcomes from scores, of which more is better."""
        return self.dataset.direction.sign * scores

    def nearness(self, X: Array, base: Array, free: Owners) -> Array:  # (n,)
        """How much designs X (n, D) tell about those that differ from a base in the coordinates `free` alone, 0 to 1.

        It is the correlation of their outcomes with that of the nearest such design, times exp(-½ d²/FAR²) where the
        surrogate expects the two to differ by d, standardised.
        """
        nearest = np.tile(base, (len(X), 1))
        nearest[:, free] = X[:, free]
        squared = (((X - nearest) / self.gp.lengthscales) ** 2).sum(axis=1)
        apart = self.plausible.moments(X)[0] - self.plausible.moments(nearest)[0]
        correlation: Array = self.gp.kernel(squared)[0]
        return correlation * np.exp(-0.5 * (apart / FAR) ** 2)


def rounded(low: float, high: float) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart: 0.62 and 0.81, 1240 and 1310."""
    width = high - low
    if not width > 0.0:
        return f"{low:.4g}", f"{high:.4g}"
    decimals = DIGITS - 1 - floor(log10(width))
    largest = max(abs(low), abs(high))
    if largest >= 1e9 or largest < 1e-3:
        digits = max(1, floor(log10(largest)) + decimals)
        return f"{low:.{digits}e}", f"{high:.{digits}e}"
    return f"{_zeroless(low, decimals)}", f"{_zeroless(high, decimals)}"


def _zeroless(value: float, decimals: int) -> str:
    """The value with so many decimals, and never as -0."""
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"
