"""Measurement noise that does not depend on when a design is measured."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError


@dataclass(frozen=True)
class Noise:
    """ε ~ N(0, sd²), a function of the seed, the problem's name and the design alone.

    A run that is resumed or in another order measures the same values. A site that repeats a design gets the same
    value again: to average noise out, a method has to move.
    """

    sd: float
    seed: int

    def __post_init__(self) -> None:
        if not 0.0 <= self.sd < np.inf:
            raise CbocError(f"the noise is a standard deviation, finite and not negative, but got {self.sd!r}.")

    def __call__(self, name: str, x: Array) -> float:  # (d,), natural units
        place = crc32(name.encode()), crc32((x + 0.0).tobytes())  # + 0.0, because -0.0 is the same design
        return self.sd * float(np.random.default_rng([self.seed, *place]).standard_normal())
