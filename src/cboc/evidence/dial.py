"""When does it help? One method in one world with a dial, and what its sites have found.

Every experiment counts: a site begins with 2 random designs per parameter and has 10 experiments per parameter in all.
The Gap runs from the median of the box to the optimum. The reported seeds are not those on which anything was chosen.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cboc.errors import CbocError, at, did_you_mean, whole
from cboc.evidence.case import begin
from cboc.evidence.job import check_rise, check_seed, numbers, rounded
from cboc.evidence.methods.registry import method, method_anywhere
from cboc.evidence.methods.starts import started
from cboc.problems.problem import Problem
from cboc.problems.worlds import WORLDS
from cboc.runs.metrics import gap, gap_so_far
from cboc.strategy.bayesian import Bayesian

INITIAL, EXPERIMENTS = 2, 10  # per parameter: initial designs, and all
REPORTED, TUNING = 60_000, 2_100  # the first seeds of each; those below REPORTED are for choosing
MOST_SITES = 100
MEASURES = ("area", "final", "borrowed")

ALONE, NULL, OURS, RIVAL = "individual", "individual-again", "cboc", "others-best-first"
METHODS_SHOWN = (ALONE, NULL, OURS, RIVAL)
APART = (ALONE, NULL)  # their sites do not hear of each other, so site k is the same whatever the number of sites

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)  # r
SITES = (2, 3, 5, 10)
DIMENSIONS = (2, 4, 8)
NAMES = {
    "dial": "r = {:g}",
    "shifted": "shifts of {:g} of the range",
    "rotated": "turned by {:g}°",
    "mixed": "with a choice, r = {:g}",
    "groups": "two groups, r = {:g}",
}


def _check_kind(kind: str) -> None:
    if kind not in WORLDS:
        raise CbocError(f"there is no world '{kind}'; {did_you_mean(str(kind), WORLDS)}")


@dataclass(frozen=True, order=True)
class World:
    """A kind of world, how much its sites differ or have in common, and the number of parameters."""

    kind: str
    amount: float
    dimension: int

    def __post_init__(self) -> None:
        _check_kind(self.kind)
        with at(f"the world '{self.kind}'"):
            self.problems(1, 0)  # fails now if there is no such world

    @property
    def name(self) -> str:
        parameters = "1 parameter" if self.dimension == 1 else f"{self.dimension} parameters"
        return f"{self.setting}, {parameters}"

    @property
    def setting(self) -> str:
        """Its name without the number of parameters."""
        return NAMES[self.kind].format(self.amount)

    def problems(self, sites: int, seed: int) -> list[Problem]:
        return WORLDS[self.kind](self.amount, self.dimension, sites, seed)


VARIANTS = (
    *(World("shifted", sd, 4) for sd in (0.05, 0.1, 0.2)),
    *(World("rotated", degrees, 4) for degrees in (10.0, 20.0, 40.0)),
    *(World("mixed", r, 4) for r in (0.5, 0.9, 1.0)),
    *(World("groups", r, 4) for r in (0.5, 0.9, 1.0)),
)
SITES_OF_VARIANTS = (5,)


@dataclass(frozen=True, order=True)
class Probe:
    """A world, how many sites, a method and a seed: a job for a worker."""

    world: World
    sites: int
    method: str
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "sites", whole("the number of sites", self.sites, least=2, most=MOST_SITES))
        method_anywhere(self.method)
        check_seed(self.seed)

    @property
    def name(self) -> str:
        return f"{self.world.name}, K = {self.sites}, {self.method}, seed {self.seed}"

    @property
    def size(self) -> int:
        return self.sites * EXPERIMENTS * self.world.dimension

    @property
    def is_reported(self) -> bool:
        return self.seed >= REPORTED


@dataclass(frozen=True)
class Reading:
    """What the sites of a probe have found, (K,) each."""

    job: Probe
    area: tuple[float, ...]  # mean Gap over all experiments
    final: tuple[float, ...]  # Gap at the end
    borrowed: tuple[float, ...]  # Gap that the others' best designs would have had here, their mean

    def __post_init__(self) -> None:
        """Raise a ValueError for values that no run can produce."""
        if any(len(getattr(self, name)) != self.job.sites for name in MEASURES):
            raise ValueError(f"a row of {self.job.name} has another shape")
        gaps = np.array([*self.area, *self.final, *self.borrowed])
        if not ((gaps >= 0.0) & (gaps <= 1.0)).all():  # NaN is neither
            raise ValueError(f"a Gap of {self.job.name} is not in [0, 1]")

    def to_json(self) -> dict[str, Any]:
        world, job = self.job.world, self.job
        named = {"kind": world.kind, "amount": world.amount, "dimension": world.dimension, "sites": job.sites}
        found = {name: list(getattr(self, name)) for name in MEASURES}
        return named | {"method": job.method, "seed": job.seed} | found

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Reading:
        (amount,) = numbers([row["amount"]])
        job = Probe(World(row["kind"], amount, row["dimension"]), row["sites"], row["method"], row["seed"])
        read = cls(job, *(numbers(row[name]) for name in MEASURES))
        check_rise((), read.area, read.final)
        return read


def dials_of(kinds: Sequence[str], shares: Iterable[float], dimensions: Iterable[int]) -> list[World]:
    """The worlds of the dial, if it is among these kinds."""
    shares = list(shares)
    return [World("dial", float(r), dimension) for dimension in dimensions for r in shares if "dial" in kinds]


def variants_of(kinds: Sequence[str], dimensions: Iterable[int] | None = None) -> list[World]:
    """The other worlds of these kinds, with the usual number of parameters or with these."""
    for kind in kinds:
        _check_kind(kind)
    chosen = [world for world in VARIANTS if world.kind in kinds]
    if dimensions is None:
        return chosen
    return [replace(world, dimension=dimension) for dimension in dimensions for world in chosen]


def probes(worlds: Iterable[World], sites: Sequence[int], methods: Iterable[str], seeds: Iterable[int]) -> list[Probe]:
    """All jobs, seed by seed, each once; where nobody hears of anybody, only with the most sites."""
    worlds, methods = list(worlds), list(methods)
    every = [
        Probe(world, count, each, seed)
        for seed in seeds
        for world in worlds
        for each in methods
        for count in ([max(sites)] if each in APART else sites)
    ]
    return list(dict.fromkeys(every))


def explore(job: Probe) -> tuple[dict[str, Any], float]:
    """Run a probe: its reading as JSON, and the CPU seconds it took."""
    began = time.process_time()
    problems, dimension = job.world.problems(job.sites, job.seed), job.world.dimension
    common = begin(problems, INITIAL * dimension, (EXPERIMENTS - INITIAL) * dimension, job.seed, Bayesian())
    case = started(method(job.method), common)
    ran = np.concatenate([case.first, method(job.method)(case)], axis=1)  # (K, n, D)
    outcomes = np.array([[case.experiment(k, x) for x in of_site] for k, of_site in enumerate(ran)])
    optima, depths = (np.array([getattr(problem, name) for problem in problems]) for name in ("optimum", "depth"))
    curves = gap_so_far(outcomes - optima[:, None], depths)
    bests = ran[np.arange(job.sites), outcomes.argmin(axis=1)]  # (K, D)
    lent = np.array([[case.experiment(k, x) for x in bests] for k in range(job.sites)])  # (K, K), here by whose
    worth = np.clip(gap(lent - optima[:, None], depths[:, None]), 0.0, 1.0)
    borrowed = (worth.sum(axis=1) - worth.diagonal()) / (job.sites - 1)
    measures = (curves.mean(axis=1), curves[:, -1], borrowed)
    return Reading(job, *map(rounded, measures)).to_json(), round(time.process_time() - began, 2)
