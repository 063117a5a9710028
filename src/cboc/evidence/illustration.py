"""The illustrative example of Sec. 5.2: two sites with their own versions of Levy-2, CBOC-L beside Individual.

f_1(x) = f(x + 1) + 1,    f_2(x) = 2 f(x + 2) + 2,    five initial designs each, T = 40
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.evidence.case import Case
from cboc.evidence.methods.registry import method, surrogate
from cboc.evidence.tables.summary import ALONE
from cboc.problems.optimum import sample
from cboc.problems.problem import heterogeneous
from cboc.problems.synthetic import levy

LEADER = "cboc-l"
VERSIONS = ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))  # scale, offset, shift: a1, a2, a3
INITIAL, ROUNDS = 5, 40
NEAR = 0.01  # of the range of a site's function: this close to its optimum counts as having found it


@dataclass(frozen=True, eq=False)
class Illustration:
    """The designs of both methods under one surrogate, from the same initial designs."""

    surrogate: str
    case: Case
    designs: Mapping[str, Array]  # by method: (K, T, D), unit cube

    def arrival(self, method: str, site: int) -> int | None:
        """The round, from 1 on, of the first design whose value is near the optimum; 0 if an initial design is near."""
        data = self.case.initial[site]
        is_near = self.share(site, np.vstack([data.X, self.designs[method][site]])) <= NEAR
        first = int(is_near.argmax())
        return max(0, first + 1 - len(data)) if is_near.any() else None

    def share(self, site: int, X: Array) -> Array:  # (n,)
        """How far designs (n, D) are from the optimum in value: 0 there, 1 at the worst value in the box."""
        problem = self.case.problems[site]
        reach = np.abs(problem.function(sample(*problem.box)) - problem.optimum).max()
        return np.abs(problem.values(X) - problem.optimum) / reach


def illustrate(
    seed: int, surrogates: Sequence[str] = ("paper", "default"), rounds: int = ROUNDS
) -> tuple[Illustration, ...]:
    """One illustration for each surrogate, all from the same initial designs."""
    return tuple(_illustration(seed, name, rounds) for name in surrogates)


def _illustration(seed: int, name: str, rounds: int) -> Illustration:
    problems = tuple(heterogeneous(levy(2), *version) for version in VERSIONS)
    designs = [np.random.default_rng([seed, k]).random((INITIAL, 2)) for k in range(len(problems))]
    initial = tuple(
        Dataset(X, site.values(X), direction=site.direction) for X, site in zip(designs, problems, strict=True)
    )
    case = Case(problems, initial, rounds, seed, surrogate(name))
    return Illustration(name, case, {each: method(each)(case) for each in (ALONE, LEADER)})
