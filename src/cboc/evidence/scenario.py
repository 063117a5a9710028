"""A scenario: a problem, how many sites share it, and how far their versions of it differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from sys import float_info

import numpy as np

from cboc.arrays import Mask
from cboc.errors import CbocError
from cboc.evidence.case import Case, begin
from cboc.problems.problem import Problem, noisy
from cboc.problems.sites import displaced, same, sites_of, two_groups, unrelated, with_outlier
from cboc.problems.synthetic import problem
from cboc.strategy.bayesian import Bayesian

INITIAL = 5  # designs per dimension before the first round (Sec. 5)
ROUNDS = 20  # rounds per dimension (Sec. 5)
SAMPLE = 1024  # designs from which the spread of a problem is judged
FAILING = 0.2  # the share of failing experiments, in a scenario with failures
MOST_SITES = 1000
MOST_ROUNDS = 10_000


class Kind(StrEnum):
    """How the sites' problems are related."""

    SAME = "same"  # f_k = f
    SHIFTED = "shifted"  # f_k = a1 f(x + a3) + a2
    UNRELATED = "unrelated"  # shifted, with the optimum of every site at its own random place
    OUTLIER = "outlier"  # shifted, except the last site, whose optimum is at a random place
    GROUPS = "groups"  # shifted, in two groups whose optima are at random places


class Trouble(StrEnum):
    """The troubles of a study in real life. Half of the sites means those with odd numbers."""

    LATE = "late"  # half of the sites join when half of the rounds are over
    LEAVING = "leaving"  # half of the sites leave then
    BUDGETS = "budgets"  # half of the sites take part in every second round only
    FAILURES = "failures"  # one experiment in five gives no result


VERSIONS: dict[Kind, Callable[[Problem, int, np.random.Generator], list[Problem]]] = {
    Kind.SAME: lambda problem, sites, _: same(problem, sites),
    Kind.SHIFTED: sites_of,
    Kind.UNRELATED: unrelated,
    Kind.OUTLIER: with_outlier,
    Kind.GROUPS: two_groups,
}


@lru_cache
def _dimension(name: str) -> int:
    """The dimension of a problem, cached because long lists of jobs are sorted by it."""
    return problem(name).space.dimension


@dataclass(frozen=True)
class Scenario:
    """One row of a table."""

    problem: str
    sites: int
    kind: Kind = Kind.SHIFTED
    is_displaced: bool = False  # the common optimum is moved to a random place: the centre of the box is not a hint
    noise: float = 0.0  # standard deviation, in units of the problem's own over the box
    rounds: int | None = None  # None: 20 per dimension
    trouble: Trouble | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.problem, str):
            raise CbocError(f"a problem has a name, such as levy-4; got {self.problem!r}.")
        problem(self.problem)  # fails now if there is no such problem
        if type(self.sites) is not int or not 1 <= self.sites <= MOST_SITES:
            raise CbocError(f"a scenario has 1 to {MOST_SITES} sites; got {self.sites!r}.")
        if not isinstance(self.is_displaced, bool):
            raise CbocError(f"is_displaced is true or false; got {self.is_displaced!r}.")
        is_number = isinstance(self.noise, int | float) and not isinstance(self.noise, bool)
        if not is_number or not 0.0 <= self.noise <= float_info.max:
            raise CbocError(f"noise is a finite number from 0, in units of the problem's spread; got {self.noise!r}.")
        if self.rounds is not None and (type(self.rounds) is not int or not 1 <= self.rounds <= MOST_ROUNDS):
            raise CbocError(f"a scenario has 1 to {MOST_ROUNDS} rounds; got {self.rounds!r}.")

    @property
    def name(self) -> str:
        parts = [
            "displaced" if self.is_displaced else "",
            self.problem,
            f"K={self.sites}",
            "" if self.kind == Kind.SHIFTED else str(self.kind),
            f"noise {self.noise:g}" if self.noise else "",
            f"T={self.rounds}" if self.rounds is not None else "",
            str(self.trouble or ""),
        ]
        return " ".join(part for part in parts if part)

    def __lt__(self, other: Scenario) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, int, str, bool, float, int, str]:
        trouble = self.trouble or ""
        return self.problem, self.sites, self.kind, self.is_displaced, self.noise, self.rounds or 0, trouble

    @property
    def horizon(self) -> int:
        return ROUNDS * _dimension(self.problem) if self.rounds is None else self.rounds

    def problems(self, seed: int) -> list[Problem]:
        """Every site's version of the problem, the same for every method."""
        rng = np.random.default_rng([seed, 0])
        common = problem(self.problem)
        if self.is_displaced:
            common = displaced(common, rng)
        sites = VERSIONS[self.kind](common, self.sites, rng)
        return [noisy(site, self._sd(site), seed) for site in sites] if self.noise else sites

    def _sd(self, site: Problem) -> float:
        X = site.space.sample(SAMPLE, np.random.default_rng(0))
        return self.noise * float(site.values(X).std())

    def case(self, seed: int, strategy: Bayesian) -> Case:
        """The case of a seed: sites that have measured 5 D random designs each."""
        failing = FAILING if self.trouble == Trouble.FAILURES else 0.0
        initial = INITIAL * _dimension(self.problem)
        return begin(self.problems(seed), initial, self.horizon, seed, strategy, self._attendance, failing)

    @property
    def affected(self) -> Mask | None:
        """The sites (K,) that differ from the others, by a trouble or as outlier; None if all are alike."""
        sites = np.arange(self.sites)
        if self.trouble in (Trouble.LATE, Trouble.LEAVING, Trouble.BUDGETS):
            return sites % 2 == 1
        return sites == self.sites - 1 if self.kind == Kind.OUTLIER else None

    @property
    def _attendance(self) -> Mask | None:
        """Which sites are present in which round, (K, T)."""
        here, who = np.ones((self.sites, self.horizon), dtype=bool), self.affected
        match self.trouble:
            case Trouble.LATE:
                here[who, : self.horizon // 2] = False
            case Trouble.LEAVING:
                here[who, self.horizon // 2 :] = False
            case Trouble.BUDGETS:
                here[who, 1::2] = False
            case _:
                return None
        return here
