"""A test problem is a value: a name, a space, a function, which way is better, and what is known of its optimum."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cboc.arrays import Array
from cboc.data.dataset import Direction
from cboc.errors import CbocError
from cboc.problems.heterogeneity import Heterogeneity
from cboc.problems.noise import Noise
from cboc.problems.optimum import SAMPLES, lowest, sample
from cboc.problems.version import Function, Version
from cboc.space.space import Space

FLAT = 1e-6  # share of the depth of the common problem

Point = tuple[float, ...]


@dataclass(frozen=True)
class Problem:
    """An experiment that a computer can run: call it with a design in natural units, by name."""

    name: str
    space: Space
    function: Function  # (n, d) natural units -> (n,); an option is its number, from 0
    direction: Direction = Direction.MINIMISE
    known_optimum: float | None = None  # y*, the best value inside the box
    # (m, d), natural units: where f as published has its optimum; they move along with f, perhaps out of the box
    optimisers: Array = field(default_factory=lambda: np.empty((0, 0)), compare=False, repr=False)
    is_global: bool = False  # is nothing better outside the published box? then y* moves along, too
    heterogeneity: Heterogeneity = field(default_factory=Heterogeneity)
    noise: Noise | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", Direction.of(self.direction))
        places, d = np.array(self.optimisers, dtype=float), len(self.space.names)
        if places.size == 0:
            places = np.empty((0, d))
        if places.ndim != 2 or places.shape[1] != d:
            raise CbocError(f"optimisers of '{self.name}' have the shape (m, {d}), but got {places.shape}.")
        places.setflags(write=False)
        object.__setattr__(self, "optimisers", places)

    def __call__(self, design: dict[str, Any]) -> float:
        """One measurement, with its noise if the problem is noisy."""
        x = np.array([p.position(design[name]) for name, p in self.space.parameters.items()])
        exact = float(self.function(x[None])[0])
        return exact if self.noise is None else exact + self.noise(self.name, x)

    def values(self, X: Array) -> Array:
        """Values at designs of the unit cube (n, D), without noise."""
        return self.function(self.space.array_from_unit(X))

    @cached_property
    def optimum(self) -> float:
        """y*, the best value inside the box: known, or found by a search (which ignores grids and constraints)."""
        if self.known_optimum is not None:
            return self.known_optimum
        version = Version.of(self.function)
        sign = -self.direction.sign * (1.0 if version.scale >= 0 else -1.0)
        search = _lowest if isinstance(version.common, Hashable) else _lowest.__wrapped__
        upright, hints = replace(version, scale=sign, offset=0.0), tuple(map(tuple, self.optimisers.tolist()))
        extreme = sign * min(search(upright, tuple(low), tuple(high), hints) for low, high in self._boxes)
        return version.scale * extreme + version.offset

    @cached_property
    def depth(self) -> float:
        """|median - y*|, how much there is to find; the median is over a Sobol' sample of the box, and all options."""
        if self.space.blocks:
            everywhere = self.space.array_from_unit(self.space.sample(SAMPLES, np.random.default_rng(0)))
        else:
            everywhere = sample(*self.box)
        return abs(float(np.median(self.function(everywhere))) - self.optimum)

    @cached_property
    def is_flat(self) -> bool:
        """Is there nothing to find? True if the depth is at most a1 · 1e-6 of the depth of f itself in the same box."""
        version = Version.of(self.function)
        common = replace(
            self, function=version.common, known_optimum=None, optimisers=self.optimisers + np.array(version.shift)
        )
        return self.depth <= FLAT * abs(version.scale) * common.depth

    @cached_property
    def box(self) -> tuple[Array, Array]:  # (d,) each
        """The lowest and the highest corner of the box, in natural units; a choice is held at its first option."""
        low, high = self.space.array_from_unit(np.repeat([[0.0], [1.0]], self.space.dimension, axis=1))
        return low, high

    @property
    def _boxes(self) -> Iterator[list[list[float]]]:
        """The corners of the box for every combination of options."""
        choices = [k for k, p in enumerate(self.space.parameters.values()) if p.is_choice]
        sizes = [len(points) for _, points in self.space.choices]
        for options in product(*map(range, sizes)):
            corners = np.array(self.box)
            corners[:, choices] = options
            yield corners.tolist()


def heterogeneous(problem: Problem, scale: float, offset: float, shift: ArrayLike) -> Problem:
    """One site's version of a common problem: f_k(x) = a1 f(x + a3) + a2  (Sec. 5.1), inside the same box.

    The shift a3 is one number, or one for each dimension. Where an optimiser stays in the box, y* is known exactly.
    """
    version = Version.of(problem.function).again(scale, offset, shift)
    if scale <= 0.0:  # best and worst change places
        return replace(problem, function=version, known_optimum=None, optimisers=np.empty((0, 0)))
    moved = problem.optimisers - np.asarray(shift, dtype=float)
    is_known = not np.any(shift) or (problem.is_global and _is_one_inside(moved, *problem.box))
    known = scale * problem.known_optimum + offset if is_known and problem.known_optimum is not None else None
    return replace(problem, function=version, known_optimum=known, optimisers=moved)


def noisy(problem: Problem, sd: float, seed: int) -> Problem:
    """Measurements with N(0, sd²) noise that is a function of seed, name and design; `values` and y* stay exact."""
    return replace(problem, noise=Noise(sd, seed))


def _is_one_inside(places: Array, low: Array, high: Array) -> bool:
    return bool(((places >= low) & (places <= high)).all(axis=1).any())


@lru_cache(maxsize=2**14)  # a benchmark makes the same sites again for every method
def _lowest(function: Version, low: Point, high: Point, hints: tuple[Point, ...]) -> float:
    return lowest(function, np.array(low), np.array(high), np.array(hints))
