"""The function over the unit cube that a search climbs, with its gradient and places to begin."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cboc.arrays import Array


class Landscape(Protocol):
    """A function over the unit cube. All methods take a matrix of designs (n, D)."""

    @property
    def anchors(self) -> Array:
        """Designs worth searching around, best first (a, D); may be empty."""

    def __call__(self, X: Array) -> Array:
        """The values (n,) to be maximised, on whatever scale is easy to climb."""

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (n,) and gradients (n, D)."""


def units_of(landscape: Landscape, dimension: int) -> Array:  # (D,)
    """The lengths over which a landscape changes, its `units`; the width of the cube if it does not say."""
    units: Array = getattr(landscape, "units", np.ones(dimension))
    return units
