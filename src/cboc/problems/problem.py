"""A test problem is a value: a name, a space, a function, and which way is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.data import Direction
from cboc.space import Space


@dataclass(frozen=True)
class Problem:
    """An experiment that a computer can run: call it with a design in natural units, by name."""

    name: str
    space: Space
    function: Callable[[Array], Array]  # (n, d) natural units -> (n,)
    direction: Direction = "minimise"
    known_optimum: float | None = None

    def __call__(self, design: dict[str, Any]) -> float:
        return float(self.function(np.array([[design[name] for name in self.space.names]], dtype=float))[0])

    def values(self, X: Array) -> Array:
        """At designs of the unit cube (n, D)."""
        return self.function(self.space.array_from_unit(X))

    @cached_property
    def optimum(self) -> float:
        """y*, the best value inside the box."""
        return self.known_optimum if self.known_optimum is not None else self._search()

    def _search(self) -> float:
        """Many samples, the best of them polished by L-BFGS-B."""
        from scipy.optimize import minimize

        sign = 1.0 if self.direction == "minimise" else -1.0
        X = self.space.sample(8192, np.random.default_rng(0))
        values = sign * self.values(X)
        bounds = [(0.0, 1.0)] * self.space.dimension

        def objective(x: Array) -> float:
            return sign * float(self.values(np.clip(x, 0.0, 1.0)[None])[0])

        starts = X[np.argsort(values, kind="stable")[:50]]
        ends = [minimize(objective, x, method="L-BFGS-B", bounds=bounds).fun for x in starts]
        return sign * float(min(ends))


def heterogeneous(problem: Problem, scale: float, offset: float, shift: float) -> Problem:
    """One site's version of a common problem: f_k(x) = a1 f(x + a3) + a2  (Sec. 5.1), inside the same box."""

    def function(X: Array) -> Array:
        return scale * problem.function(X + shift) + offset

    is_same = (scale, offset, shift) == (1.0, 0.0, 0.0)
    return Problem(problem.name, problem.space, function, problem.direction, problem.known_optimum if is_same else None)
