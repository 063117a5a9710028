"""The maximum of a landscape within a slice of its space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.search.landscape import Landscape, units_of
from cboc.search.maximise import maximise
from cboc.space.slice import Slice


@dataclass(frozen=True)
class Within:
    """A landscape over the free parameters of a slice, X (n, d)."""

    landscape: Landscape
    slice: Slice

    @property
    def anchors(self) -> Array:  # (a, d)
        return self.landscape.anchors[:, self.slice.free] if len(self.landscape.anchors) else np.empty((0, 0))

    @property
    def units(self) -> Array:  # (d,)
        return units_of(self.landscape, self.slice.space.dimension)[self.slice.free]

    def __call__(self, X: Array) -> Array:
        return self.landscape(self.slice.embed(X))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        values, gradients = self.landscape.with_gradient(self.slice.embed(X))
        return values, gradients[:, self.slice.free]


def maximise_within(landscape: Landscape, slice: Slice, rng: np.random.Generator) -> Array:  # (D,)
    """The best design found in a slice."""
    if slice.rest is None:
        return slice.x.copy()
    return slice.embed(maximise(Within(landscape, slice), slice.rest, rng)[0][None])[0]
