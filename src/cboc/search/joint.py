"""The utilities of several sites as one: what a search over all of them looks at and climbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cboc.arrays import Array, Owners
from cboc.search.grouping import spans
from cboc.search.landscape import Landscape


class Joint(Protocol):
    """K utilities that are evaluated together, each of them with the same bits as alone."""

    def __call__(self, X: Array) -> Array:
        """The values (K, S) at the designs (K, S, D), those of each site at its own."""

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        """Values (b,) and gradients (b, D) at X (b, D), row i for the site owners[i]; the owners are in order."""


@dataclass(frozen=True)
class Each:
    """Utilities of any kind, evaluated one by one: what they share is the climbing."""

    utilities: Sequence[Landscape]

    def __call__(self, X: Array) -> Array:
        return np.array([utility(designs) for utility, designs in zip(self.utilities, X, strict=True)])

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        values, gradients = np.empty(len(X)), np.empty(X.shape)
        for utility, rows in spans(owners, self.utilities):
            values[rows], gradients[rows] = utility.with_gradient(X[rows])
        return values, gradients


@runtime_checkable
class Joinable(Protocol):
    """A utility that can be evaluated together with others of equal likeness."""

    @property
    def likeness(self) -> object: ...

    def batch(self, utilities: Sequence[Any]) -> Joint: ...


def likeness(utility: Landscape) -> object:
    """Utilities for which it is equal can be joined."""
    return utility.likeness if isinstance(utility, Joinable) else (type(utility), len(utility.anchors) > 0)


def join(utilities: Sequence[Landscape]) -> Joint:
    """Of utilities that are alike."""
    first = utilities[0]
    return first.batch(utilities) if isinstance(first, Joinable) else Each(utilities)
