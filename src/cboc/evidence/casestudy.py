"""The paper's case study in runs: biosensors designed by finite-element simulations, together and alone.

Three settings, all on the library's default surrogate:

paper     three sites with the paper's sensor, ten rounds (the paper's Fig. 8)
labs      six constructed labs, whose channels, chemistry, costs and stocks differ, and therefore their optima
trouble   the same labs; the second and the fifth are slow, and one simulation in five fails
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cboc.arrays import Array, Mask
from cboc.errors import CbocError, did_you_mean
from cboc.evidence.case import Case, begin
from cboc.evidence.job import check_seed
from cboc.evidence.methods.registry import METHODS
from cboc.problems.problem import Problem
from cboc.strategy.bayesian import Bayesian

METHODS_SHOWN = ("individual", "cboc-l", "cboc")
PARAMETERS = 3  # inflow, receptors, pulse
RESULTS = "biosensor.jsonl"  # the file of its rows
INITIAL = 5  # random designs of every site before the first round
SLOW = (1, 4)  # the labs that take part in every second round only
FAILING = 0.2
COARSER = 0.7  # right to 0.03 %, at a third of the cost (docs/biosensor.md)
DIGITS = 9  # significant digits of outcomes and designs


@dataclass(frozen=True)
class Setup:
    """A setup of the case study: who takes part, for how long, and what goes wrong."""

    sites: int
    rounds: int
    is_constructed: bool
    fineness: float = 1.0  # of the mesh
    slow: tuple[int, ...] = ()
    failing: float = 0.0

    def problems(self) -> list[Problem]:
        """The problems of the sites; this is the first step that needs the extra `fem`."""
        from cboc.evidence.biosensor.labs import biosensor, labs
        from cboc.evidence.biosensor.response import Numerics

        numerics = Numerics(self.fineness)
        return labs(numerics) if self.is_constructed else [biosensor(numerics)] * self.sites

    @property
    def names(self) -> list[str]:
        """The names of the sites in tables and pictures."""
        noun = "lab" if self.is_constructed else "site"
        return [f"{noun} {k + 1}" for k in range(self.sites)]

    @property
    def attendance(self) -> Mask | None:
        if not self.slow:
            return None
        here = np.ones((self.sites, self.rounds), dtype=bool)
        here[list(self.slow), 1::2] = False
        return here


SETUPS = {
    "paper": Setup(3, 10, is_constructed=False),
    "labs": Setup(6, 20, is_constructed=True, fineness=COARSER),
    "trouble": Setup(6, 20, is_constructed=True, fineness=COARSER, slow=SLOW, failing=FAILING),
}


@dataclass(frozen=True, order=True)
class Attempt:
    """A setup, a method and a seed: a job for a worker."""

    setup: str
    method: str
    seed: int

    def __post_init__(self) -> None:
        if self.setup not in SETUPS:
            raise CbocError(f"'{self.setup}' is not a setup of the case study; {did_you_mean(str(self.setup), SETUPS)}")
        if self.method not in METHODS:
            raise CbocError(
                f"'{self.method}' is not a method of this library; {did_you_mean(str(self.method), METHODS)}"
            )
        check_seed(self.seed)

    @property
    def name(self) -> str:
        return f"biosensor: {self.setup}, {self.method}, seed {self.seed}"

    @property
    def size(self) -> int:
        setup = SETUPS[self.setup]
        return setup.sites * (INITIAL + setup.rounds)


@dataclass(frozen=True, eq=False)
class Account:
    """Every simulation of an attempt, initial designs included: designs in the unit cube and outcomes.

    NaN where a site was absent (design and outcome) or its simulation failed (outcome).
    """

    job: Attempt
    designs: Array  # (K, n + T, 3)
    outcomes: Array  # (K, n + T)

    def __post_init__(self) -> None:
        """Raise a ValueError for values that no run can produce."""
        setup = SETUPS[self.job.setup]
        shape = (setup.sites, INITIAL + setup.rounds)
        if self.outcomes.shape != shape or self.designs.shape != (*shape, PARAMETERS):
            raise ValueError(f"an account of {self.job.name} has another shape")
        if np.isinf(self.outcomes).any() or ((self.designs < 0.0) | (self.designs > 1.0)).any():
            raise ValueError(f"an outcome of {self.job.name} is infinite, or a design is outside the box")
        has_design, has_outcome = ~np.isnan(self.designs).any(axis=-1), ~np.isnan(self.outcomes)
        if not has_outcome[:, :INITIAL].all() or (has_outcome & ~has_design).any():
            raise ValueError(f"{self.job.name} has no initial outcome, or an outcome without a design")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Account) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.job)

    @property
    def best(self) -> Array:  # (K, T + 1)
        """The best outcome so far of every site, from the initial designs on."""
        return np.fmax.accumulate(self.outcomes, axis=1)[:, INITIAL - 1 :]

    def to_json(self) -> dict[str, Any]:
        job = {"setup": self.job.setup, "method": self.job.method, "seed": self.job.seed}
        return {**job, "designs": _written(self.designs), "outcomes": _written(self.outcomes)}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Account:
        job = Attempt(row["setup"], row["method"], row["seed"])
        return cls(job, np.array(row["designs"], dtype=float), np.array(row["outcomes"], dtype=float))


def _written(values: Array) -> Any:
    """The values as lists, with None for NaN."""
    if values.ndim:
        return [_written(part) for part in values]
    return None if np.isnan(values) else float(f"{values:.{DIGITS}g}")


def attempt(job: Attempt) -> tuple[dict[str, Any], float]:
    """Run an attempt: its account as JSON, and the CPU seconds it took."""
    started = time.process_time()
    case = _case(SETUPS[job.setup], job.seed)
    ran = METHODS[job.method](case)
    outcomes = [_outcomes(case, k, designs) for k, designs in enumerate(ran)]
    designs = np.concatenate([[data.X for data in case.initial], ran], axis=1)
    measured = np.concatenate([[data.y for data in case.initial], outcomes], axis=1)
    return Account(job, designs, measured).to_json(), round(time.process_time() - started, 2)


def _outcomes(case: Case, site: int, designs: Array) -> list[float]:
    """The site's outcomes, from the simulator's cache; NaN where it was absent."""
    return [np.nan if np.isnan(x).any() else case.experiment(site, x) for x in designs]


def _case(setup: Setup, seed: int) -> Case:
    """A case with equal initial designs for every method."""
    return begin(setup.problems(), INITIAL, setup.rounds, seed, Bayesian(), setup.attendance, setup.failing)


def optima(setup: str) -> tuple[float, ...]:
    """The best possible outcome of each site, cached by the simulator."""
    return tuple(problem.optimum for problem in SETUPS[setup].problems())


def by_method(accounts: Iterable[Account], setup: str) -> dict[str, list[Account]]:
    """The accounts of one setup by method, each with its seeds in order."""
    chosen = sorted((a for a in accounts if a.job.setup == setup), key=lambda a: a.job.seed)
    names = [name for name in METHODS if any(a.job.method == name for a in chosen)]
    return {name: [a for a in chosen if a.job.method == name] for name in names}
