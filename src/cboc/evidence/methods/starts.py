"""Methods that begin with other designs than everybody else, and then work alone.

`begin` makes their own case from the common one; the designs that they return are those of the rounds after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from cboc.arrays import Array
from cboc.evidence.case import PEER, Case, Method, begin, begun
from cboc.evidence.methods.consensus import Consensus

ALONE = Consensus("identity")
ANOTHER = 2**20  # added to the seed


@runtime_checkable
class Starting(Protocol):
    """A method with initial designs of its own."""

    def begin(self, case: Case) -> Case: ...

    def __call__(self, case: Case, /) -> Array: ...


def started(method: Method, case: Case) -> Case:
    """The case that a method works on: its own if it has other initial designs, else the common one."""
    return method.begin(case) if isinstance(method, Starting) else case


@dataclass(frozen=True)
class WarmStart:
    """Half of the initial designs as everybody; the others are the best designs of the other sites' first halves."""

    def begin(self, case: Case) -> Case:
        half = len(case.first[0]) // 2
        early = begun(case, [X[:half] for X in case.first])
        bests = {k: data.best.x for k, data in enumerate(early.initial) if len(data)}
        return begun(case, [self._designs(case, k, half, bests) for k in range(case.sites)])

    def _designs(self, case: Case, site: int, half: int, bests: dict[int, Array]) -> Array:
        """The own first half, the others' best designs in random order and each once, then own ones."""
        own = case.first[site]
        designs = list(own[:half])
        for peer in case.rng(site, 0, PEER).permutation([k for k in sorted(bests) if k != site]):
            if len(designs) < len(own) and not (bests[peer] == np.array(designs)).all(axis=1).any():
                designs.append(bests[peer])
        return np.vstack([designs, own[len(designs) :]])

    def __call__(self, case: Case) -> Array:
        return ALONE(case)


@dataclass(frozen=True)
class Again:
    """The null: alone at the same sites, with other initial designs and other randomness."""

    def begin(self, case: Case) -> Case:
        return begin(case.problems, len(case.first[0]), case.horizon, case.seed + ANOTHER, case.strategy)

    def __call__(self, case: Case) -> Array:
        return ALONE(case)
