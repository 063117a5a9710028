"""Cheap and costly experiments: how thorough an experiment can be, and what each level costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from cboc.arrays import Array, Mask, is_number
from cboc.errors import CbocError, short
from cboc.space.choice import Choice, Option
from cboc.space.space import Space

MOST_LEVELS = 10
ROUNDING = 1e-6  # in the unit cube


@dataclass(frozen=True)
class Fidelity:
    """The levels of a site's experiments, the cheapest first; only the last one counts, the others tell about it.

    It is a parameter that only this site has, and the last coordinate of its designs: Fidelity("mesh", ("coarse",
    "fine"), costs=(1, 12)). What an experiment costs by its level is taken where nobody tells its cost.
    """

    name: str
    levels: tuple[Option, ...]
    costs: tuple[float, ...]

    def __post_init__(self) -> None:
        for part in ("levels", "costs"):
            given = getattr(self, part)
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise CbocError(f"the {part} of a fidelity are a list, the cheapest first; this is {short(given)}.")
            object.__setattr__(self, part, tuple(given))
        if not 2 <= len(self.levels) <= MOST_LEVELS or len(self.costs) != len(self.levels):
            raise CbocError(
                f"a fidelity has 2 to {MOST_LEVELS} levels and a cost for each; these are {len(self.levels)} levels "
                f"and {len(self.costs)} costs."
            )
        for cost in self.costs:
            if not is_number(cost) or not 0.0 < cost < inf:
                raise CbocError(f"a level costs a number above 0; this is {short(cost)}.")
        if list(self.costs) != sorted(self.costs) or self.costs[0] == self.costs[-1]:
            raise CbocError(
                f"levels come from the cheapest to the one that counts, which costs most; these cost {self.costs}."
            )
        object.__setattr__(self, "costs", tuple(map(float, self.costs)))
        _ = self.space

    @cached_property
    def parameter(self) -> Choice:
        """The levels as ordered options."""
        return Choice(self.levels, ordered=True)

    @cached_property
    def space(self) -> Space:
        """The level as a space of its own."""
        return Space({self.name: self.parameter})

    @property
    def places(self) -> Array:  # (l,)
        """The last coordinate of a design for each level; 1 is the one that counts."""
        return self.parameter.points[:, 0]

    def cost_of(self, x: Array) -> float:
        """What an experiment at x (D,) costs by its level."""
        return self.costs[int(abs(self.places - x[-1]).argmin())]

    @staticmethod
    def counts(X: Array) -> Mask:  # (n, D) -> (n,)
        """Which designs are at the level that counts."""
        return abs(X[:, -1] - 1.0) <= ROUNDING
