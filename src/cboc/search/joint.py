"""The utilities of several sites as one: what a search over all of them looks at and climbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


def likeness(landscape: Landscape) -> object:
    """Landscapes for which it is equal can be joined. One that can be evaluated together with others says so itself,
    by a `likeness` and a function `batch` of several; a user's own need not."""
    own = getattr(landscape, "likeness", None)
    return (type(landscape), len(landscape.anchors) > 0) if own is None else own


def join(landscapes: Sequence[Landscape]) -> Joint:
    """Several landscapes that are alike, as one."""
    batch = getattr(landscapes[0], "batch", Each)
    joint: Joint = batch(landscapes)
    return joint
