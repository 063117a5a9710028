"""Problems with several objectives, as people in this field use them; all objectives are to be minimised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean
from cboc.problems.functions import branin
from cboc.space.space import Space


@dataclass(frozen=True)
class Tradeoff:
    """An experiment with several outcomes: call it with a design in natural units, by name."""

    name: str
    space: Space
    function: Callable[[Array], Array]  # (n, d) natural units -> (n, m)
    reference: tuple[float, ...]  # the worst outcomes that are worth anything
    shift: tuple[float, ...] = (0.0,)  # a3: f(x + a3), brought back into the box by reflection at its faces

    @property
    def objectives(self) -> tuple[str, ...]:
        """The names of the objectives: f1, f2, ..."""
        return tuple(f"f{i + 1}" for i in range(len(self.reference)))

    def __call__(self, design: dict[str, Any]) -> dict[str, float]:
        """One experiment."""
        return dict(zip(self.objectives, self.values(self.space.to_unit(design)[None])[0].tolist(), strict=True))

    def values(self, X: Array) -> Array:
        """Outcomes (n, m) at designs of the unit cube (n, D)."""
        moved = np.mod(X + self.shift, 2.0)
        return self.function(self.space.array_from_unit(np.where(moved > 1.0, 2.0 - moved, moved)))

    def shifted(self, by: ArrayLike) -> Tradeoff:
        """A site's version of the problem; the shift is in widths of the box."""
        return replace(self, shift=tuple(np.atleast_1d(np.add(self.shift, by)).tolist()))


def _tail(X: Array, used: int) -> Array:
    """Σ (x_d - ½)² over the coordinates that place a design behind the front of DTLZ."""
    return ((X[:, used:] - 0.5) ** 2).sum(axis=1)


def zdt1(X: Array) -> Array:
    """f₂ = g (1 - √(f₁/g)),  g = 1 + 9 mean x₂.. : a convex front along a face of the box."""
    f, g = X[:, 0], 1.0 + 9.0 * X[:, 1:].mean(axis=1)
    return np.column_stack([f, g * (1.0 - np.sqrt(f / g))])


def zdt2(X: Array) -> Array:
    """f₂ = g (1 - (f₁/g)²): a concave front."""
    f, g = X[:, 0], 1.0 + 9.0 * X[:, 1:].mean(axis=1)
    return np.column_stack([f, g * (1.0 - (f / g) ** 2)])


def zdt3(X: Array) -> Array:
    """f₂ = g (1 - √(f₁/g) - (f₁/g) sin 10πf₁): a front in five pieces."""
    f, g = X[:, 0], 1.0 + 9.0 * X[:, 1:].mean(axis=1)
    return np.column_stack([f, g * (1.0 - np.sqrt(f / g) - f / g * np.sin(10.0 * np.pi * f))])


def dtlz2(X: Array, objectives: int) -> Array:
    """(1 + g) times a point of the unit sphere: a spherical front in the middle of the box."""
    angles, r = 0.5 * np.pi * X[:, : objectives - 1], 1.0 + _tail(X, objectives - 1)
    columns = []
    for i in range(objectives):
        f = r * np.cos(angles[:, : objectives - 1 - i]).prod(axis=1)
        columns.append(f * np.sin(angles[:, objectives - 1 - i]) if i else f)
    return np.column_stack(columns)


def branin_currin(X: Array) -> Array:
    """Branin beside Currin's exponential function, on the unit square."""
    x, y = X.T
    decay = 1.0 - np.exp(-0.5 / np.maximum(y, 1e-12))
    currin = (
        decay * (2300.0 * x**3 + 1900.0 * x**2 + 2092.0 * x + 60.0) / (100.0 * x**3 + 500.0 * x**2 + 4.0 * x + 20.0)
    )
    return np.column_stack([branin(np.column_stack([15.0 * x - 5.0, 15.0 * y])), -currin])


def vehicle_safety(X: Array) -> Array:
    """Mass, acceleration and intrusion of a car in a frontal crash, from five thicknesses (Liao et al. 2008)."""
    a, b, c, d, e = X.T
    mass = 1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e
    acceleration = (
        6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d + 0.0861 * a * e
        + 0.3628 * b * d - 0.1106 * a**2 - 0.3437 * c**2 + 0.1764 * d**2
    )  # fmt: skip
    intrusion = (
        -0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c - 0.0118 * b * d
        - 0.0204 * c * d - 0.008 * c * e - 0.0241 * b**2 + 0.0109 * d**2
    )  # fmt: skip
    return np.column_stack([mass, acceleration, intrusion])


def _box(dimension: int, low: float, high: float) -> Space:
    return Space({f"x{d + 1}": (low, high) for d in range(dimension)})


TRADEOFFS = {
    problem.name: problem
    for problem in (
        Tradeoff("zdt1-4", _box(4, 0.0, 1.0), zdt1, (11.0, 11.0)),
        Tradeoff("zdt2-4", _box(4, 0.0, 1.0), zdt2, (11.0, 11.0)),
        Tradeoff("zdt3-4", _box(4, 0.0, 1.0), zdt3, (11.0, 11.0)),
        Tradeoff("dtlz2-4-2", _box(4, 0.0, 1.0), partial(dtlz2, objectives=2), (1.1, 1.1)),
        Tradeoff("dtlz2-5-3", _box(5, 0.0, 1.0), partial(dtlz2, objectives=3), (1.1, 1.1, 1.1)),
        Tradeoff("branin-currin", _box(2, 0.0, 1.0), branin_currin, (18.0, -6.0)),
        Tradeoff("vehicle-safety", _box(5, 1.0, 3.0), vehicle_safety, (1864.72022, 11.81993945, 0.2903999384)),
    )
}


def tradeoff(name: str) -> Tradeoff:
    """The problem of this name."""
    if name not in TRADEOFFS:
        raise CbocError(f"unknown problem {name!r}; {did_you_mean(name, TRADEOFFS)}")
    return TRADEOFFS[name]
