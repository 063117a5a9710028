"""The utilities of several sites as one, to search all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cboc.arrays import Array, Owners
from cboc.search.grouping import spans
from cboc.search.landscape import Landscape


class Joint(Protocol):
    """K utilities that are evaluated together, with the same bits as each alone."""

    def __call__(self, X: Array) -> Array:
        """The values (K, S) at the designs (K, S, D), of each site's utility at that site's designs."""

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        """Values (b,) and gradients (b, D) at X (b, D), row i for the site owners[i]; the owners are in order."""


@dataclass(frozen=True)
class Each:
    """Utilities of any kind, evaluated one by one; they share only the climbing."""

    utilities: Sequence[Landscape]

    def __call__(self, X: Array) -> Array:
        return np.array([utility(designs) for utility, designs in zip(self.utilities, X, strict=True)])

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        values, gradients = np.empty(len(X)), np.empty(X.shape)
        for utility, rows in spans(owners, self.utilities):
            values[rows], gradients[rows] = utility.with_gradient(X[rows])
        return values, gradients


def likeness(landscape: Landscape) -> object:
    """A key that is equal for landscapes that can be joined.

    A landscape that can be evaluated together with others has a `likeness` and a function `batch` of several; a user's
    landscape needs neither."""
    own = getattr(landscape, "likeness", None)
    return (type(landscape), len(landscape.anchors) > 0) if own is None else own


def join(landscapes: Sequence[Landscape]) -> Joint:
    """Join several landscapes of equal likeness into one."""
    batch = getattr(landscapes[0], "batch", Each)
    joint: Joint = batch(landscapes)
    return joint
