"""A list of candidates: the only designs that exist, such as 96 catalysts on a shelf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cboc.arrays import Array
from cboc.errors import CbocError, at, short
from cboc.space.parameters import plain_scalar

MOST_CANDIDATES = 10_000
ROUNDING = 1e-6  # in the unit cube


@dataclass(frozen=True)
class Listed:
    """The designs that exist, as rows of the unit cube."""

    designs: tuple[Mapping[str, Any], ...]  # natural units, as they were written
    X: Array = field(repr=False)  # (n, D)

    @classmethod
    def of(cls, given: object, to_unit: Callable[[Mapping[str, Any]], Array]) -> Listed:
        """The candidates that a user gave, each a design of the space; raises one sentence if one is not."""
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise CbocError(f"candidates are a list of designs; this is {short(given)}.")
        rows: list[Array] = []
        designs: list[Mapping[str, Any]] = []
        for k, design in enumerate(given):
            if k == MOST_CANDIDATES:
                raise CbocError(f"a space has at most {MOST_CANDIDATES:,} candidates; these are more.")
            with at(f"candidate {k + 1}"):
                rows.append(to_unit(design))
                designs.append(MappingProxyType({name: plain_scalar(value) for name, value in design.items()}))
        if not rows:
            raise CbocError("a list of candidates has at least one design; this one is empty.")
        X = np.array(rows)
        _, first, counts = np.unique(X, axis=0, return_index=True, return_counts=True)
        if (counts > 1).any():
            one = int(first[counts > 1][0])
            other = int(np.flatnonzero((X[one] == X).all(axis=1))[1])
            raise CbocError(f"candidates {one + 1} and {other + 1} are the same design; leave one of them out.")
        X.setflags(write=False)
        return cls(tuple(designs), X)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (tuple(map(dict, self.designs)), self.X)  # a read-only mapping cannot be pickled

    def design(self, x: Array) -> dict[str, Any] | None:
        """The candidate that lies at x, as it was written; None if there is none."""
        k = int(((self.X - x) ** 2).sum(axis=1).argmin())
        return dict(self.designs[k]) if np.abs(self.X[k] - x).max() <= ROUNDING else None

    def nearest(self, x: Array) -> Array:  # (D,)
        """The candidate nearest to any vector, the first one on ties."""
        return self.X[((self.X - x) ** 2).sum(axis=1).argmin()].copy()

    def has(self, x: Array, tolerance: float) -> bool:
        """Whether this is a candidate."""
        return bool((np.abs(self.X - x).max(axis=1) <= tolerance).any())

    def sample(self, n: int, rng: np.random.Generator) -> Array:  # (n, D)
        """Draw n candidates; each is there before one is there twice."""
        rounds = -(-n // len(self.X))
        places = np.concatenate([rng.permutation(len(self.X)) for _ in range(rounds)] or [np.empty(0, dtype=int)])
        return self.X[places[:n]]

    def within(self, x: Array, held: NDArray[np.intp]) -> list[Mapping[str, Any]]:
        """The candidates that share the coordinates `held` with a design."""
        is_there = (np.abs(self.X[:, held] - x[held]) <= ROUNDING).all(axis=1)
        return [self.designs[k] for k in np.flatnonzero(is_there)]


def _rebuilt(designs: tuple[Mapping[str, Any], ...], X: Array) -> Listed:
    return Listed(tuple(map(MappingProxyType, designs)), X)
