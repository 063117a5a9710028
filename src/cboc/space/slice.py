"""A slice of a space: all designs that share the values of some parameters with a given one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean
from cboc.space.constraints import parse
from cboc.space.space import Space


class Slice:
    """The designs of `space` in which the parameters `same` have the values that they have in x, a feasible vector."""

    def __init__(self, space: Space, x: ArrayLike, same: Sequence[str]) -> None:
        check_names(space, same)
        self.space, self.x, self.same = space, np.array(x, dtype=float), tuple(same)

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """The coordinates that differ within the slice."""
        owners = [name for name, parameter in self.space.parameters.items() for _ in range(parameter.size)]
        return np.flatnonzero([name not in self.same for name in owners])

    @property
    def held(self) -> NDArray[np.intp]:
        """The coordinates that all designs of the slice have in common."""
        return np.setdiff1d(np.arange(self.space.dimension), self.free)

    @cached_property
    def rest(self) -> Space | None:
        """The space of the other parameters, with what the constraints leave of it; None if there are none."""
        free = {name: p for name, p in self.space.parameters.items() if name not in self.same}
        if not free:
            return None
        constraints = [text for text in map(self._remainder, self.space.constraints) if text]
        if self.space.listed is None:
            return Space(free, constraints)
        there = self.space.listed.within(self.x, self.held)
        return Space(free, constraints, [{name: design[name] for name in free} for design in there])

    def _remainder(self, text: str) -> str:
        """A constraint with the values of this slice put in; empty if it speaks of nothing else."""
        constraint, values = parse(text), self.space.from_unit(self.x)
        bound = constraint.bound - sum(
            c * values[name] for name, c in constraint.coefficients.items() if name in self.same
        )
        terms = [f"{c!r}*{name}" for name, c in constraint.coefficients.items() if name not in self.same]
        return f"{' + '.join(terms)} {constraint.relation} {bound!r}" if terms else ""

    @property
    def most_designs(self) -> int | None:
        """The number of designs, constraints left aside; None if a parameter is continuous."""
        return 1 if self.rest is None else self.rest.most_designs

    def embed(self, Z: Array) -> Array:  # (n, d) -> (n, D)
        """Vectors of `rest` as vectors of the whole space."""
        X = np.tile(self.x, (len(Z), 1))
        X[:, self.free] = Z
        return X

    def project(self, x: ArrayLike) -> Array:  # (D,)
        """The design of the slice that is nearest to any vector in its other parameters."""
        if self.rest is None:
            return self.x.copy()
        return self.embed(self.rest.project(np.asarray(x, dtype=float)[self.free])[None])[0]

    def sample(self, n: int, rng: np.random.Generator) -> Array:  # (n, D)
        """Draw n designs of the slice."""
        return self.embed(np.empty((n, 0)) if self.rest is None else self.rest.sample(n, rng))


def check_names(space: Space, same: Sequence[str]) -> None:
    """Raise one sentence if these are not names of parameters."""
    if isinstance(same, str) or not isinstance(same, Iterable) or not all(isinstance(name, str) for name in same):
        raise CbocError(f"the parameters that are the same are a list of names, such as ['T']; this is {same!r}.")
    for name in same:
        if name not in space.parameters:
            raise CbocError(f"unknown parameter '{name}'; {did_you_mean(name, space.names)}")
