"""One method on one family of real tables, and the progress that its sites make.

docs/decisions/real-tables-protocol.md says what is run and how it is judged; it is older than the first run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean, whole
from cboc.evidence.case import Case, Method, begin
from cboc.evidence.job import CURVE_DIGITS, DIGITS, check_curve, check_rise, check_seed, numbers, rounded
from cboc.evidence.methods.consensus import Consensus
from cboc.evidence.methods.registry import method, method_anywhere
from cboc.evidence.methods.starts import started
from cboc.evidence.real.families import MOST_SITES, family, tables
from cboc.evidence.real.lookup import Known
from cboc.experiment.durations import LogNormal
from cboc.runs.metrics import gap_so_far
from cboc.strategy.bayesian import Bayesian

EXPERIMENTS = 40  # of every site in all
STARTS = (4, 10)  # so many of them are initial designs
FIRST_SEED = 50_000  # what seed 0 stands for: nothing was tuned in this range
NEAR = 0.95  # the Gap at which a site has all but arrived
DURATION = LogNormal(1.0, 0.2)  # of an experiment, at the free pace

GAPS, COUNTS = ("curve", "area", "final"), ("arrival", "failures", "repeats")  # what is kept
ALONE, NULL, OURS = "individual", "individual-again", "cboc"
METHODS_SHOWN = (
    *(ALONE, NULL, "random"),
    *(OURS, "cboc-u-gated", "cboc-u", "cboc-l"),
    *("others-best-first", "bounding-box", "warm-start", "fts"),
    *("pooled", "rgpe"),
)
FREE_METHODS = (ALONE, OURS, "cboc-u-gated")


class Pace(StrEnum):
    """Whether sites wait for each other."""

    ROUNDS = "rounds"
    FREE = "free"


@dataclass(frozen=True, order=True)
class Campaign:
    """A family, how many initial designs, a pace, a method and a seed: a job for a worker."""

    family: str
    initial: int
    pace: Pace
    method: str
    seed: int

    def __post_init__(self) -> None:
        family(self.family)
        object.__setattr__(self, "initial", whole("initial", self.initial, least=2, most=EXPERIMENTS - 1))
        if self.pace not in tuple(Pace):
            raise CbocError(f"there is no pace {self.pace!r}; {did_you_mean(str(self.pace), Pace)}")
        method_anywhere(self.method)
        if self.pace is Pace.FREE and self.method not in FREE_METHODS:
            raise CbocError(
                f"'{self.method}' exists in rounds only; at the free pace there are {', '.join(FREE_METHODS)}."
            )
        check_seed(self.seed)

    @property
    def name(self) -> str:
        return f"{self.family}, {self.initial} initial designs, {self.pace}, {self.method}, seed {self.seed}"

    @property
    def size(self) -> int:
        return family(self.family).sites * EXPERIMENTS

    @property
    def chosen(self) -> Method:
        """The method, at the pace of the campaign."""
        named = method(self.method)
        return replace(named, durations=DURATION) if self.pace is Pace.FREE and isinstance(named, Consensus) else named


@dataclass(frozen=True)
class Progress:
    """What the sites of a campaign have found: the mean Gap after every experiment (40,), and measures by site (K,)."""

    job: Campaign
    curve: tuple[float, ...]
    area: tuple[float, ...]  # mean Gap over all experiments
    final: tuple[float, ...]
    arrival: tuple[int, ...]  # the first experiment with a Gap of 0.95; 41: never
    failures: tuple[int, ...]  # experiments that gave no result
    repeats: tuple[int, ...]  # experiments whose design the site had run before

    def __post_init__(self) -> None:
        """Raise a ValueError for values that no run can produce."""
        sites = len(self.area)
        by_site = (self.final, self.arrival, self.failures, self.repeats)
        if (
            len(self.curve) != EXPERIMENTS
            or not 1 <= sites <= MOST_SITES
            or any(len(each) != sites for each in by_site)
        ):
            raise ValueError(f"a row of {self.job.name} has another shape")
        gaps = np.array([*self.curve, *self.area, *self.final])
        if not ((gaps >= 0.0) & (gaps <= 1.0)).all():  # NaN is neither
            raise ValueError(f"a Gap of {self.job.name} is not in [0, 1]")
        if not all(type(n) is int and 1 <= n <= EXPERIMENTS + 1 for n in self.arrival):
            raise ValueError(f"an arrival of {self.job.name} is not an experiment")
        counted = all(type(n) is int and 0 <= n <= EXPERIMENTS for n in (*self.failures, *self.repeats))
        if not counted or EXPERIMENTS in self.repeats:  # the first repeats nothing
            raise ValueError(f"{self.job.name} has an impossible number of failures or repeats")

    def _check_arrivals(self) -> None:
        """Raise a ValueError if a site has arrived and does not end near, or its area does not fit its arrival."""
        area, final, before = np.array(self.area), np.array(self.final), np.array(self.arrival) - 1
        has_arrived, slack = before < EXPERIMENTS, 10.0**-DIGITS
        least = np.where(has_arrived, NEAR * (EXPERIMENTS - before), 0.0) / EXPERIMENTS
        most = (np.minimum(final, NEAR) * before + final * (EXPERIMENTS - before)) / EXPERIMENTS
        is_near = np.where(has_arrived, final >= NEAR - slack, final <= NEAR + slack)
        if not (is_near & (least - slack <= area) & (area <= most + slack)).all():
            raise ValueError(f"an arrival of {self.job.name} contradicts its Gaps")

    def to_json(self) -> dict[str, Any]:
        job = {name: getattr(self.job, name) for name in ("family", "initial", "pace", "method", "seed")}
        return job | {name: list(getattr(self, name)) for name in (*GAPS, *COUNTS)}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Progress:
        job = Campaign(row["family"], row["initial"], Pace(row["pace"]), row["method"], row["seed"])
        curve, area, final = (numbers(row[name]) for name in GAPS)
        read = cls(job, curve, area, final, *(tuple(row[name]) for name in COUNTS))
        check_curve(curve, area, final)
        check_rise(curve, area, final)
        read._check_arrivals()
        return read


def campaigns(
    families: Iterable[str],
    initial: Iterable[int],
    paces: Iterable[Pace] | None,
    methods: Iterable[str] | None,
    seeds: Iterable[int],
) -> list[Campaign]:
    """All jobs, seed by seed, each once; at the free pace those methods that it has, unless both are given."""
    families, initial = list(families), list(initial)
    chosen, given = list(METHODS_SHOWN if methods is None else methods), None if paces is None else list(paces)
    is_free = {Pace.ROUNDS: False, Pace.FREE: given is None or methods is None}
    every = [
        Campaign(name, count, pace, each, seed)
        for seed in seeds
        for name in families
        for count in initial
        for pace in (given or Pace)
        for each in chosen
        if not is_free[pace] or each in FREE_METHODS
    ]
    return list(dict.fromkeys(every))


def carry_out(data: Path | None, job: Campaign) -> tuple[dict[str, Any], float]:
    """Run a campaign on the tables of a directory: its progress as JSON, and the CPU seconds it took."""
    if data is None:
        raise CbocError(f"'{job.name}' is a run on real tables; --data says where these tables are.")
    began = time.process_time()
    sites = drawn(tables(job.family, data), job.seed)
    problems = [site.problem for site in sites]
    common = begin(problems, job.initial, EXPERIMENTS - job.initial, FIRST_SEED + job.seed, Bayesian())
    case = started(job.chosen, common)
    progress = measure(job, case, job.chosen(case), sites)
    return progress.to_json(), round(time.process_time() - began, 2)


def drawn(sites: Sequence[Known], seed: int) -> list[Known]:
    """The sites that take part: all, or eight of them by the seed."""
    if len(sites) <= MOST_SITES:
        return list(sites)
    chosen = np.random.default_rng([FIRST_SEED + seed, 2]).choice(len(sites), MOST_SITES, replace=False)
    return [sites[k] for k in sorted(chosen.tolist())]


def measure(job: Campaign, case: Case, designs: Array, sites: Sequence[Known]) -> Progress:
    """The progress of a method that ran these designs (K, T, D) after the initial ones of its case."""
    ran = np.concatenate([case.first, designs], axis=1)  # (K, 40, D)
    outcomes = np.array([[case.experiment(k, x) for x in of_site] for k, of_site in enumerate(ran)])  # (K, 40)
    curves = np.array([gap_curve(y, site) for y, site in zip(outcomes, sites, strict=True)])
    is_near = curves >= NEAR
    arrival = np.where(is_near.any(axis=1), is_near.argmax(axis=1) + 1, EXPERIMENTS + 1)
    return Progress(
        job,
        rounded(curves.mean(axis=0), CURVE_DIGITS),
        rounded(curves.mean(axis=1)),
        rounded(curves[:, -1]),
        tuple(arrival.tolist()),
        tuple(np.isnan(outcomes).sum(axis=1).tolist()),
        tuple(len(of_site) - len(np.unique(of_site, axis=0)) for of_site in ran),
    )


def gap_curve(outcomes: Array, site: Known) -> Array:  # (n,) -> (n,)
    """The share of the way from the table's median to its optimum, after each experiment; 0 below the median."""
    loss = -site.problem.direction.sign * (outcomes - site.problem.optimum)
    return gap_so_far(loss, site.way)
