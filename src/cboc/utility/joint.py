"""The utilities of several sites as one: what a search over all of them looks at and climbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cboc.arrays import Array, Owners
from cboc.utility.improvement import Improvement
from cboc.utility.utility import Utility


class Joint(Protocol):
    """K utilities that are evaluated together, each of them with the same bits as alone."""

    def __call__(self, X: Array) -> Array:
        """The values (K, S) at the designs (K, S, D), those of each site at its own."""

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:
        """Values (b,) and gradients (b, D) at X (b, D), row i for the site owners[i]; the owners are in order."""


@dataclass(frozen=True)
class Alone:
    """One utility of any kind."""

    utility: Utility

    def __call__(self, X: Array) -> Array:
        return self.utility(X[0])[None]

    def with_gradient(self, X: Array, owners: Owners) -> tuple[Array, Array]:  # noqa: ARG002 - there is only one
        return self.utility.with_gradient(X)


def likeness(utility: Utility) -> object:
    """Utilities for which it is equal can be joined."""
    return utility.likeness if isinstance(utility, Improvement) else object()


def join(utilities: Sequence[Utility]) -> Joint:
    """Of utilities that are alike."""
    first = utilities[0]
    if not isinstance(first, Improvement):
        return Alone(first)
    return first.together([utility for utility in utilities if isinstance(utility, Improvement)])
