"""A site's version of a common function: shifted, scaled and offset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cboc.arrays import Array

Function = Callable[[Array], Array]  # (n, d) natural units -> (n,)
Slope = Callable[[Array], Array]  # (n, d) natural units -> (n, d)


def slope_of(function: Function) -> Slope | None:
    """The gradient of a function that has one, under the name `slope`."""
    return getattr(function, "slope", None)


@dataclass(frozen=True)
class Version:
    """f_k(x) = a1 f(x + a3) + a2  (Sec. 5.1), where a3 may differ between the dimensions."""

    common: Function  # f
    scale: float = 1.0  # a1
    offset: float = 0.0  # a2
    shift: tuple[float, ...] = (0.0,)  # a3, one for all dimensions or one for each

    def __call__(self, X: Array) -> Array:
        return self.scale * self.common(X + self.shift) + self.offset

    @property
    def slope(self) -> Slope | None:
        """a1 f'(x + a3), if f' is known."""
        slope = slope_of(self.common)
        return None if slope is None else lambda X: self.scale * slope(X + self.shift)

    @classmethod
    def of(cls, function: Function) -> Version:
        """The function itself as its first version."""
        return function if isinstance(function, Version) else Version(function)

    def again(self, scale: float, offset: float, shift: ArrayLike) -> Version:
        """A version of this version, a1' (a1 f(x + a3' + a3) + a2) + a2', as a version of f."""
        total = np.atleast_1d(np.add(self.shift, shift))
        return Version(self.common, scale * self.scale, scale * self.offset + offset, tuple(total.tolist()))
