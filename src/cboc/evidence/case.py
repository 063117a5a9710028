"""A case: the conditions that are the same for every method, so only the method makes a difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from zlib import crc32

import numpy as np

from cboc.arrays import Array, Mask
from cboc.data.dataset import Dataset
from cboc.problems.problem import Problem
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian

COIN, PEER, OWN, DRAW, SEARCH, ANEW, RANDOM, POOLED = range(1, 9)
"""Streams of randomness, one for each purpose. None is 0: NumPy takes [1, 2] and [1, 2, 0] for the same seed."""


@dataclass(frozen=True)
class Case:
    """K sites with their problems and their initial outcomes, T rounds, one seed, one surrogate."""

    problems: tuple[Problem, ...]  # of the sites, (K,)
    initial: tuple[Dataset, ...]  # (K,), the same for every method
    horizon: int  # T
    seed: int
    strategy: Bayesian  # surrogate and utility of every site
    attendance: Mask | None = field(default=None, repr=False)  # who is there in which round (K, T); None: all, always
    failing: float = 0.0  # the share of experiments that give no result
    first: tuple[Array, ...] = field(default=(), repr=False)  # initial designs (n, D) of each site, as they were run

    @property
    def sites(self) -> int:
        return len(self.problems)

    @property
    def space(self) -> Space:
        return self.problems[0].space

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"site {k + 1}" for k in range(self.sites))

    def rng(self, site: int, round: int, stream: int) -> np.random.Generator:
        """The random generator for one place in the run: a function of the seed and the place alone."""
        return np.random.default_rng([self.seed, site, round, stream])

    def experiment(self, site: int, x: Array) -> float:
        """The outcome of a design of the unit cube (D,) at a site, as the site would measure it; NaN: it failed."""
        if self.failing and crc32(x.tobytes(), site + 1) < self.failing * 2**32:
            return nan
        return self.problems[site](self.space.from_unit(x))

    def measured(self, site: int, X: Array) -> Dataset:
        """The site's outcomes of designs (n, D), failures apart."""
        y = np.array([self.experiment(site, x) for x in X])
        is_failed = np.isnan(y)
        return Dataset(X[~is_failed], y[~is_failed], failures=X[is_failed], direction=self.problems[site].direction)


def begin(
    problems: Sequence[Problem],
    initial: int,
    horizon: int,
    seed: int,
    strategy: Bayesian,
    attendance: Mask | None = None,
    failing: float = 0.0,
) -> Case:
    """Make a case whose sites have measured random initial designs; a share of `failing` applies to later ones only."""
    case = Case(tuple(problems), (), horizon, seed, strategy)
    rngs = [np.random.default_rng([seed, 1, k]) for k in range(case.sites)]
    designs = [case.space.sample(initial, rng, method="uniform") for rng in rngs]
    return replace(begun(case, designs), attendance=attendance, failing=failing)


def begun(case: Case, designs: Sequence[Array]) -> Case:
    """The case whose sites have begun with these designs, (n, D) each."""
    initial = tuple(case.measured(k, X) for k, X in enumerate(designs))
    return replace(case, initial=initial, first=tuple(designs))


Method = Callable[[Case], Array]
"""A function from a case to the designs that the sites run: (K, T, D) in the unit cube, NaN for absent sites."""
