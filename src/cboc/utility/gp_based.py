"""The common part of utilities on a Gaussian process."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from cboc.arrays import Array
from cboc.surrogate.gp import GP


class Surrogated:
    """A utility read from a fitted surrogate, `gp`."""

    gp: GP
    is_log: ClassVar[bool] = False  # is the utility a logarithm, to which nats can be added?

    @classmethod
    def on(cls, gp: GP, rng: np.random.Generator) -> Self:  # noqa: ARG003 - those that draw use it
        """Build the utility on a surrogate, with default settings; strategies call this."""
        return cls(gp)  # type: ignore[call-arg]

    @property
    def anchors(self) -> Array:
        """The data, best first."""
        return self.gp.X[np.argsort(-self.gp.y, kind="stable")]

    @property
    def units(self) -> Array:
        """The lengths over which the utility changes: those of its surrogate, (D,)."""
        return self.gp.lengthscales


def log_gain(gain: Array) -> Array:
    """log of a gain over the best so far; -inf where there is no gain."""
    with np.errstate(divide="ignore"):
        value: Array = np.log(np.maximum(gain, 0.0))
    return value
