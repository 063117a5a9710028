"""One run of one method: a job for a worker, and the row it leaves.

Everything in a row follows from the job alone, whoever runs it and when; the CPU time, which does not, is kept apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.evidence.case import Case
from cboc.evidence.methods.registry import method, surrogate
from cboc.evidence.methods.starts import Starting
from cboc.evidence.scenario import Kind, Scenario, Trouble
from cboc.runs.metrics import gap

DIGITS, CURVE_DIGITS = 6, 4  # of the numbers per site, and of the numbers per round
BEYOND = 1e9  # no Gap is this far below 0 and no regret this far from it: more would only overflow in a mean


@dataclass(frozen=True, order=True)
class Job:
    """A scenario, a surrogate, a method and a seed."""

    scenario: Scenario
    surrogate: str
    method: str
    seed: int

    def __post_init__(self) -> None:
        method(self.method)
        surrogate(self.surrogate)
        if self.scenario.trouble is not None and not knows_trouble(self.method):
            raise CbocError(
                f"'{self.method}' needs all sites in all rounds, without failures; for a scenario with "
                f"'{self.scenario.trouble}' choose individual or a consensus, such as cboc-u-gated."
            )
        if isinstance(method(self.method), Starting):
            raise CbocError(
                f"'{self.method}' has initial designs of its own, and the Gap of these tables starts from them; it is "
                "for `cboc evidence real`, where the Gap starts from a table's median."
            )
        check_seed(self.seed)

    @property
    def name(self) -> str:
        return f"{self.scenario.name}, {self.surrogate} surrogate, {self.method}, seed {self.seed}"

    @property
    def size(self) -> int:
        """The number of experiments: a rough measure of the cost."""
        return self.scenario.sites * self.scenario.horizon


def knows_trouble(name: str) -> bool:
    """Whether a method can continue without a site or a result, as the methods that run our own rounds can."""
    return bool(getattr(method(name), "knows_trouble", False))  # a method may be any function


def check_seed(seed: object) -> None:
    if type(seed) is not int or seed < 0:
        raise CbocError(f"a seed is a whole number from 0; got {seed!r}.")


def scenario_of(row: dict[str, Any]) -> Scenario:
    """Read the scenario from a row."""
    return Scenario(
        row["problem"],
        row["sites"],
        Kind(row["kind"]),
        row["is_displaced"],
        row["noise"],
        row.get("rounds"),
        Trouble(row["trouble"]) if "trouble" in row else None,
    )


def check_curve(curve: Sequence[float], area: Sequence[float], final: Sequence[float]) -> None:
    """Raise a ValueError if a mean curve (T,), and its mean and its end by site (K,), contradict each other."""
    ends = np.array([np.mean(curve) - np.mean(area), curve[-1] - np.mean(final)])
    if (np.abs(ends) > 10.0**-CURVE_DIGITS).any():
        raise ValueError("a mean curve is not that of its sites")


def check_rise(curve: Sequence[float], area: Sequence[float], final: Sequence[float]) -> None:
    """Raise a ValueError if a best so far falls: in a mean curve (T,), or to an end below the mean, by site (K,)."""
    if (np.diff(curve) < 0.0).any() or (np.array(area) > np.array(final)).any():
        raise ValueError("a best so far falls")


def numbers(values: object) -> tuple[float, ...]:
    """A JSON list as a tuple, if it holds only numbers: neither words nor true and false."""
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise ValueError("not a list of numbers")
    return tuple(values)


@dataclass(frozen=True)
class Row:
    """The results of a job: per site (K,), and the mean over sites after every round (T + 1,)."""

    job: Job
    curve: tuple[float, ...]  # mean Gap
    final: tuple[float, ...]  # Gap at the end
    area: tuple[float, ...]  # mean Gap over the rounds
    regret: tuple[float, ...]  # cumulative, in units of the problem's depth: from its median value to the optimum
    flat: int  # sites with nothing to find

    def __post_init__(self) -> None:
        """Raise a ValueError for values that no run can produce."""
        sites, rounds = self.job.scenario.sites, self.job.scenario.horizon
        lengths = (len(self.curve), len(self.final), len(self.area), len(self.regret))
        if lengths != (rounds + 1, sites, sites, sites):
            raise ValueError(f"a row of {self.job.name} has another shape")
        if type(self.flat) is not int or not 0 <= self.flat <= sites:
            raise ValueError(f"{self.job.name} must have 0 to {sites} flat sites")
        gaps, regrets = np.array([*self.curve, *self.final, *self.area]), np.abs(self.regret)
        if not ((gaps >= -BEYOND) & (gaps <= 1.0)).all() or not (regrets <= BEYOND).all():  # NaN is neither
            raise ValueError(f"a Gap of {self.job.name} is not a number up to 1, or a regret is too large")

    def to_json(self) -> dict[str, Any]:
        scenario = {key: value for key, value in asdict(self.job.scenario).items() if value is not None}
        results = {name: list(getattr(self, name)) for name in ("curve", "final", "area", "regret")}
        return {
            **scenario,
            "surrogate": self.job.surrogate,
            "method": self.job.method,
            "seed": self.job.seed,
            "flat": self.flat,
            **results,
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Row:
        job = Job(scenario_of(row), row["surrogate"], row["method"], row["seed"])
        curve, final, area, regret = (numbers(row[name]) for name in ("curve", "final", "area", "regret"))
        read = cls(job, curve, final, area, regret, row["flat"])
        check_curve(curve[1:], area, final)
        if not job.scenario.noise and job.scenario.trouble is not Trouble.FAILURES:
            check_rise(curve, area, final)
        return read


def work(job: Job) -> tuple[dict[str, Any], float]:
    """Run a job: its row as JSON, and the CPU seconds it took."""
    started = time.process_time()
    case = job.scenario.case(job.seed, surrogate(job.surrogate))
    designs = method(job.method)(case)
    return measure(job, case, designs).to_json(), round(time.process_time() - started, 2)


def measure(job: Job, case: Case, designs: Array) -> Row:
    """Gap, area and regret of the designs (K, T, D) that a method ran."""
    gaps, regrets = [], []
    for k, (site, data) in enumerate(zip(case.problems, case.initial, strict=True)):
        here = ~np.isnan(designs[k]).any(axis=1)
        X = np.vstack([data.X, designs[k][here]])
        y = np.append(data.y, [case.experiment(k, x) for x in designs[k][here]])
        sign = -site.direction.sign
        loss = sign * (site.values(X) - site.optimum)
        way = site.depth if job.scenario.noise else None
        curve = _gap_curve(loss, np.where(np.isnan(y), np.inf, sign * y), len(data), way)
        curve = curve[np.append(0, np.cumsum(here))]  # a site that is absent stays where it was
        gaps.append(np.ones_like(curve) if site.is_flat else curve)
        regrets.append(0.0 if site.is_flat else loss[len(data) :].sum() / site.depth)
    curves = np.array(gaps)  # (K, T + 1)
    return Row(
        job,
        rounded(curves.mean(axis=0), CURVE_DIGITS),
        rounded(curves[:, -1]),
        rounded(curves[:, 1:].mean(axis=1)),
        rounded(np.array(regrets)),
        sum(site.is_flat for site in case.problems),
    )


def _gap_curve(loss: Array, measured: Array, initial: int, way: float | None = None) -> Array:
    """The Gap of xᵗ, the design with the lowest measurement by round t.

    With noise the Gap is computed from true values, and may fall; and since x⁰ may be near the optimum without anybody
    knowing, `way` replaces its distance.
    """
    leads = np.array([int(np.argmin(measured[: n + 1])) for n in range(initial - 1, len(measured))])
    return gap(loss[leads], loss[leads[0]] if way is None else way)


def rounded(values: Array, digits: int = DIGITS) -> tuple[float, ...]:
    """The values with so many digits after the point, as they are kept."""
    return tuple(round(float(value), digits) for value in values)
