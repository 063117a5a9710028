"""How much the sites of a study differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError


@dataclass(frozen=True)
class Heterogeneity:
    """f_k(x) = a1 f(x + a3) + a2 with a1 ~ U(low, high), a2 ~ N(mean, sd²), a3 ~ N(mean, sd²)  (Sec. 5, Appendix 3)."""

    scale: tuple[float, float] = (0.5, 1.0)  # a1: low, high
    offset: tuple[float, float] = (0.0, 1.0)  # a2: mean, standard deviation
    shift: tuple[float, float] = (0.0, 1.0)  # a3: mean, standard deviation

    def __post_init__(self) -> None:
        (low, high), (_, offset_sd), (_, shift_sd) = self.scale, self.offset, self.shift
        if not 0.0 < low <= high:
            raise CbocError(f"the scale a1 lies between 0 < low <= high, but got {self.scale}.")
        if not (offset_sd >= 0.0 and shift_sd >= 0.0):
            raise CbocError(f"offset and shift are (mean, standard deviation), but got {self.offset} and {self.shift}.")

    def draw(self, sites: int, rng: np.random.Generator) -> Array:  # (K, 3)
        """a1, a2 and a3 of every site."""
        scales = rng.uniform(*self.scale, sites)
        offsets, shifts = (mean + sd * rng.standard_normal(sites) for mean, sd in (self.offset, self.shift))
        return np.stack([scales, offsets, shifts], axis=1)
