"""Theorem 1 and its assumptions, examined in runs: the same function at all sites, squared exponential kernel, EI.

    R(T)          = Σ_t f(x*) - f(x_new(t))                          cumulative regret, of a site
    bound(T)      ~ √(T (log T)^(D+4)) + Σ_t 1/(log(2 + t))^½        up to constants, with ε -> 0
    Assumption 2:   |x_k(t) - x_j(t)|           = O(1/(log(2 + t))^(½+ε))     the proposals come together
    Assumption 3:   |σ_k(x_k) - σ_k(x_k_new)|   = O(1/(log(2 + t))^(½+ε))     mixing does not change what is known there

An order says nothing about any finite number of rounds; what can be seen is whether a quantity, multiplied by
√log(2 + t), still grows. LogEI stands for EI: it has the same maximiser.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean
from cboc.evidence.case import Case
from cboc.evidence.job import BEYOND, check_seed, numbers, scenario_of
from cboc.evidence.scenario import Kind, Scenario
from cboc.exchange.ledger import Ledger
from cboc.exchange.study import Study
from cboc.site.batch import think
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gate, Gated
from cboc.strategy.opinion import Opinion, Strategy
from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import Model
from cboc.surrogate.gp import GP
from cboc.surrogate.kernels import squared_exponential

SCENARIOS = (
    Scenario("branin", 5, Kind.SAME, rounds=160),
    Scenario("levy-2", 5, Kind.SAME, rounds=160),
    Scenario("levy-4", 5, Kind.SAME, rounds=160),
)
RULES = {
    "individual": ("identity", 0.0),
    "cboc-u": ("uniform", 0.0),
    "cboc-l": ("leader", 0.0),
    "gated": ("uniform", 0.5),
}
DIGITS = 5


@dataclass(frozen=True, order=True)
class Inquiry:
    """A scenario, a rule and a seed: a job for a worker."""

    scenario: Scenario
    method: str
    seed: int

    def __post_init__(self) -> None:
        if self.method not in RULES:
            raise CbocError(f"'{self.method}' is not a method of the theory; {did_you_mean(str(self.method), RULES)}")
        check_seed(self.seed)

    @property
    def name(self) -> str:
        return f"theory: {self.scenario.name}, {self.method}, seed {self.seed}"

    @property
    def size(self) -> int:
        return self.scenario.sites * self.scenario.horizon


@dataclass(frozen=True)
class Course:
    """The measurements of an inquiry in every round, means over sites: (T,) each."""

    job: Inquiry
    regret: tuple[float, ...]  # f(x_new) - y*, over the distance between the first best and y*
    spread: tuple[float, ...]  # |x_k - x_j|, the largest pair, unit cube
    blur: tuple[float, ...]  # |σ_k(x_k) - σ_k(x_k_new)|, standardised

    def __post_init__(self) -> None:
        """Raise a ValueError for values that no run can produce."""
        curves = (self.regret, self.spread, self.blur)
        if any(len(curve) != self.job.scenario.horizon for curve in curves):
            raise ValueError(f"{self.job.name} has another number of rounds")
        values = np.array(curves)
        if not ((values >= 0.0) & (values <= BEYOND)).all():  # NaN is neither
            raise ValueError(f"a number of {self.job.name} is negative, too large or NaN")

    def to_json(self) -> dict[str, Any]:
        scenario = {key: value for key, value in asdict(self.job.scenario).items() if value is not None}
        curves = {name: list(getattr(self, name)) for name in ("regret", "spread", "blur")}
        return {**scenario, "method": self.job.method, "seed": self.job.seed, **curves}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Course:
        job = Inquiry(scenario_of(row), row["method"], row["seed"])
        return cls(job, *(numbers(row[name]) for name in ("regret", "spread", "blur")))


class Watched(Strategy):
    """A strategy that remembers its latest surrogates."""

    can_batch = True

    def __init__(self, strategy: Bayesian) -> None:
        self.strategy = strategy
        self.gps: list[GP] = []

    def __call__(self, situation: Situation, rng: np.random.Generator) -> Opinion:
        return self.batch([situation], [rng])[0]

    def batch(self, situations: Sequence[Situation], rngs: Sequence[np.random.Generator]) -> list[Opinion]:
        self.gps = self.strategy.surrogates(situations)
        return self.strategy.opinions(self.gps, situations, rngs)


def inquire(job: Inquiry) -> tuple[dict[str, Any], float]:
    """Run an inquiry: its course as JSON, and the CPU seconds it took."""
    started = time.process_time()
    strategy = Bayesian(model=Model(kernel=squared_exponential))
    course = _run(job, job.scenario.case(job.seed, strategy))
    return course.to_json(), round(time.process_time() - started, 2)


def _run(job: Inquiry, case: Case) -> Course:
    rule, ratio = RULES[job.method]
    study = Study(case.space, case.names, case.horizon, rule=rule, shares_best=False, pace="rounds")
    ledger = Ledger(study)
    eye = Watched(case.strategy)
    sites = [
        Site(
            study,
            name,
            ledger,
            direction=data.direction,
            policy=Policy(Gated(eye, Gate(ratio)), initial=0, seed=case.seed),
            data=data,
        )
        for name, data in zip(case.names, case.initial, strict=True)
    ]
    optima = np.array([site.optimum for site in case.problems])
    distances = np.abs([data.best.y for data in case.initial] - optima)
    regret, spread, blur = [], [], []
    for _ in range(case.horizon):
        think(sites)
        surrogates = eye.gps
        proposals = np.array([site.propose().proposed for site in sites])
        trials = [site.ask() for site in sites]
        outcomes = [case.experiment(k, trial.x) for k, trial in enumerate(trials)]
        for site, trial, outcome in zip(sites, trials, outcomes, strict=True):
            site.tell(trial, outcome)
        regret.append((np.abs(outcomes - optima) / distances).mean())
        spread.append(np.linalg.norm(proposals[:, None] - proposals[None], axis=2).max())
        blur.append(np.mean([_blur(gp, trial) for gp, trial in zip(surrogates, trials, strict=True)]))
    return Course(job, *(tuple(round(float(value), DIGITS) for value in curve) for curve in (regret, spread, blur)))


def in_order(courses: Iterable[Course]) -> list[Course]:
    """Courses in the order of the theory's command: seed by seed, every scenario with every rule; then others."""
    scenarios, rules = list(SCENARIOS), list(RULES)

    def place(course: Course) -> tuple[int, int, Scenario, int]:
        job = course.job
        number = scenarios.index(job.scenario) if job.scenario in scenarios else len(scenarios)
        return job.seed, number, job.scenario, rules.index(job.method)

    return sorted(courses, key=place)


def _blur(gp: GP, trial: Trial) -> float:
    """|σ(x_k) - σ(x_k_new)| on the site's surrogate."""
    mix = trial.proposed if trial.answer is None else trial.answer.mix
    _, sd = gp.moments(np.array([trial.proposed, mix]))
    return float(abs(sd[0] - sd[1]))


def slope(cumulative: Array) -> float:
    """The slope of log R over log t in the second half of the rounds (T,): under 1 is sublinear."""
    T = len(cumulative)
    t = np.arange(T // 2, T)
    return float(np.polyfit(np.log(t + 1.0), np.log(np.maximum(cumulative[t], 1e-300)), 1)[0])


def bound_slope(rounds: int, dimension: int) -> float:
    """The slope of the bound √(T (log T)^(D+4)): ½ + (D + 4) / (2 log T). It is under 1 from T = exp(D + 4) on."""
    return 0.5 + (dimension + 4) / (2.0 * np.log(rounds))


def trend(curve: Array) -> float:
    """The trend of a quantity times √log(2 + t): its mean over the last quarter over its mean over the first (T,)."""
    quarters = _quarters(curve)
    return quarters[-1] / quarters[0]


def swell(curve: Array) -> float:
    """The ratio of the largest quarter's mean to the first quarter's."""
    quarters = _quarters(curve)
    return max(quarters) / quarters[0]


def _quarters(curve: Array) -> list[float]:
    """Means over the quarters of the rounds; leftover rounds are ignored."""
    scaled = curve * np.sqrt(np.log(2.0 + np.arange(1, len(curve) + 1)))
    quarter, rest = divmod(len(curve), 4)
    starts = [0, quarter, 2 * quarter, 3 * quarter + rest]
    return [max(float(scaled[start : start + quarter].mean()), 1e-300) for start in starts]
