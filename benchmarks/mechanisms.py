"""What else could collaboration be? Candidates beside the one that was chosen, on seeds that no table reports.

    python benchmarks/mechanisms.py                     run what is missing in results/mechanisms.jsonl, then the tables
    python benchmarks/mechanisms.py --show              the tables alone, here and in results/mechanisms.md
    python benchmarks/mechanisms.py --candidate alone --candidate "guide, mix"

All start from the same designs, have the same surrogate and share designs only. The tables hold what each brings over
working alone, and docs/decisions/collaboration.md says what was learned from them.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.baselines.case import COIN, OWN, Case
from cboc.bench.engines import engine
from cboc.bench.job import Job, measure
from cboc.bench.scenario import Kind, Scenario
from cboc.bench.sheet import Sheet, Writing, write
from cboc.cli.bar import bar
from cboc.consensus.birkhoff import decompose
from cboc.consensus.whereabouts import locate
from cboc.data import Dataset
from cboc.metrics import standard_error
from cboc.strategy import Situation, default
from cboc.surrogate.gp import GP
from cboc.utility.guide import ALONE, Guide
from cboc.utility.guided import Guided
from cboc.utility.improvement import LogEI
from cboc.utility.maximise import maximise_all

RESULTS = Path(__file__).parent / "results" / "mechanisms.jsonl"
SEEDS = range(1000, 1003)
PLAIN = Guide(least=2.0, doubt=0.1, agreement=-1.0)  # goes by some evidence, whatever the own outcomes say
EVIDENT = replace(PLAIN, doubt=ALONE)  # and mixes only then
SCENARIOS = {
    "Levy-2": Scenario("levy-2", 10, is_displaced=True),
    "Branin": Scenario("branin", 10),
    "Shekel": Scenario("shekel-10", 10),
    "Ackley-5": Scenario("ackley-5", 10, is_displaced=True, rounds=60),
    "Hartmann-6": Scenario("hartmann-6", 10, rounds=60),
    "unrelated 2-D": Scenario("levy-2", 10, Kind.UNRELATED),
    "unrelated 4-D": Scenario("levy-4", 10, Kind.UNRELATED, rounds=60),
    "outlier": Scenario("levy-4", 10, Kind.OUTLIER, is_displaced=True, rounds=60),
}


@dataclass
class Round:
    """What is there after the sites have fitted their surrogates: round t of a case."""

    case: Case
    t: int
    data: list[Dataset]
    gps: list[GP]
    memory: dict[str, Any]  # of the candidate, from round to round

    @property
    def progress(self) -> float:
        return self.t / self.case.horizon

    @cached_property
    def utilities(self) -> list[LogEI]:
        return [LogEI(gp) for gp in self.gps]

    def maximise(self, utilities: list[Any]) -> Array:  # (K, D)
        rngs = [self.case.rng(k, self.t, OWN) for k in range(self.case.sites)]
        return np.array([x for x, _ in maximise_all(utilities, self.case.space, rngs)])

    @cached_property
    def own(self) -> Array:
        """What every site would run by itself."""
        return self.maximise(self.utilities)

    @cached_property
    def bests(self) -> Array:
        """The best design of every site, (K, D)."""
        return np.array([data.best.x for data in self.data])

    def others(self, k: int) -> Array:
        return np.delete(self.bests, k, axis=0)

    def matrix(self) -> Array:
        """CBOC-U."""
        sites, share = self.case.sites, 1.0 - self.progress
        return (1.0 - share) * np.eye(sites) + share / sites

    def follows(self, k: int, x: Array, ratio: float) -> bool:
        """The gate: does x cost site k at most a share 1 - ratio of its utility?"""
        utility = self.utilities[k]
        return ratio == 0.0 or bool(utility(x[None])[0] >= utility(self.own[k][None])[0] + log(ratio))

    def gated(self, X: Array, ratio: float) -> Array:
        return np.array([x if self.follows(k, x, ratio) else self.own[k] for k, x in enumerate(X)])


Candidate = Callable[[Round], Array]  # (K, D) the designs that the sites run


def alone(round: Round) -> Array:
    return round.own


def mixed(round: Round, ratio: float) -> Array:
    """CBOC-U behind a gate."""
    return round.gated(round.matrix() @ round.own, ratio)


def rising(round: Round) -> Array:
    """The gate's ratio goes from 0 to 1 with the rounds."""
    return mixed(round, max(round.progress, 1e-6))


def symmetric(round: Round, ratio: float) -> Array:
    """Two sites mix only if both would follow: W stays doubly stochastic, for one more bit."""
    X = round.matrix() @ round.own
    willing = np.array([round.follows(k, x, ratio) for k, x in enumerate(X)])
    W = round.matrix() * np.outer(willing, willing)
    return (W + np.diag(1.0 - W.sum(axis=1))) @ round.own


def allocated(round: Round, ratio: float) -> Array:
    """Whole proposals are exchanged, not averaged: a permutation of Birkhoff's decomposition, drawn by its weight."""
    parts = decompose(round.matrix())
    shares = np.array([share for share, _ in parts])
    drawn = round.case.rng(0, round.t, COIN).choice(len(parts), p=shares / shares.sum())
    return round.gated(parts[drawn][1] @ round.own, ratio)


def clustered(round: Round, ratio: float) -> Array:
    """The mean is taken over those proposals only that lie within 0.15 √D, link by link."""
    X = round.own
    near = ((X[:, None] - X) ** 2).sum(axis=2) <= 0.15**2 * X.shape[1]
    joined = np.linalg.matrix_power(near.astype(int), len(X)) > 0
    share = 1.0 - round.progress
    return round.gated((1.0 - share) * X + share * (joined / joined.sum(axis=1, keepdims=True)) @ X, ratio)


def similar(round: Round, ratio: float, width: float = 0.2) -> Array:
    """W by how near the best designs of two sites are, made doubly stochastic by turns (Sinkhorn)."""
    Z = round.bests
    W = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2) / (width**2 * Z.shape[1]))
    for _ in range(200):
        W /= W.sum(axis=1, keepdims=True)
        W /= W.sum(axis=0, keepdims=True)
    share = 1.0 - round.progress
    return round.gated(((1.0 - share) * np.eye(len(Z)) + share * W) @ round.own, ratio)


def visits(round: Round, ratio: float) -> Array:
    """Runs the best design of the peer that promises most, until that has failed twice more than it has helped."""
    trust = round.memory.setdefault("trust", np.full(round.case.sites, 2.0))
    went = round.memory.get("went", [])
    for k in went:
        is_better = round.data[k].score[-1] > round.data[k].score[:-1].max()
        trust[k] = max(trust[k], 2.0) if is_better else trust[k] - 1.0
    X, round.memory["went"] = round.own.copy(), []
    for k, utility in enumerate(round.utilities):
        others = round.others(k)
        x = others[int(np.argmax(utility(others)))]
        is_new = np.abs(round.data[k].X - x).max(axis=1).min() > 1e-2
        if trust[k] > 0.0 and is_new and round.follows(k, x, ratio):
            X[k] = x
            round.memory["went"].append(k)
    return X


def guided(round: Round, guide: Guide, ratio: float | None = None) -> Array:
    """The chosen one, and what it is without its parts: drawn to the others, and the mix behind a gate, if any."""
    known = slice(None) if round.t else slice(0)
    counsels = [
        guide(utility, round.data[k], round.others(k)[known], round.progress, round.case.space)
        for k, utility in enumerate(round.utilities)
    ]
    own = round.maximise([counsel.utility for counsel in counsels])
    if ratio is None:
        return own
    designs = round.matrix() @ own
    for k, counsel in enumerate(counsels):
        value, asked = counsel.utility, max(ratio, counsel.keeps)
        if value(designs[k][None])[0] < value(own[k][None])[0] + log(asked):
            designs[k] = own[k]
    return designs


@dataclass(frozen=True)
class Covariate:
    """LogEI on a surrogate whose mean has a term β φ(x), φ what a guide would add."""

    gp: GP  # of what the term leaves
    guide: Guided
    coefficient: float  # β
    best: float

    @property
    def anchors(self) -> Array:
        return self.guide.anchors

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        return LogEI.worth(mean + self.coefficient * self.guide.bonus(X), sd, self.best)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        bonus, pull = self.guide.together([self.guide]).bonus(X, np.zeros(len(X), dtype=int))
        value, by_mean, by_sd = LogEI.slopes(mean + self.coefficient * bonus, sd, self.best)
        return value, by_sd[:, None] * d_sd + by_mean[:, None] * (d_mean + self.coefficient * pull)

    log_worth = __call__


def _covariate(utility: LogEI, own: Array, others: Array, spread: float = 0.3) -> Any:
    """β by generalised least squares together with the mean, under a prior of this spread; not used if negative."""
    where = locate(own, others)
    if where is None or where.evidence < PLAIN.least:
        return utility
    gp, guide = utility.gp, Guided(utility, where, 1.0, PLAIN.most)
    phi = guide.bonus(gp.X)
    terms = gp.inverse_root @ np.column_stack([np.ones(len(phi)), phi])
    normal = terms.T @ terms + np.diag([0.0, spread**-2])
    mean, coefficient = np.linalg.solve(normal, terms.T @ (gp.inverse_root @ gp.y))
    if coefficient <= 0.0:
        return utility
    rest = gp.y - mean - coefficient * phi
    left = replace(gp, mean=float(mean), alpha=gp.inverse_root.T @ (gp.inverse_root @ rest))
    return Covariate(left, guide, float(coefficient), utility.best)


def covariates(round: Round, ratio: float | None = None) -> Array:
    """The peers' best designs in the prior mean, with a coefficient that the site's own data decide."""
    utilities = [_covariate(u, round.bests[k], round.others(k)) for k, u in enumerate(round.utilities)]
    round.own = round.maximise(utilities)
    return round.own if ratio is None else mixed(round, ratio)


CANDIDATES: dict[str, Candidate] = {
    "alone": alone,
    "mix, gate 0 (the paper)": partial(mixed, ratio=0.0),
    "mix, gate 0.1": partial(mixed, ratio=0.1),
    "mix, gate 0.5": partial(mixed, ratio=0.5),
    "mix, gate rising": rising,
    "mix, symmetric gate 0.1": partial(symmetric, ratio=0.1),
    "exchange, gate 0.1": partial(allocated, ratio=0.1),
    "mix in clusters, gate 0.1": partial(clustered, ratio=0.1),
    "mix by similarity, gate 0.1": partial(similar, ratio=0.1),
    "visits, gate 0.1": partial(visits, ratio=0.1),
    "covariates": covariates,
    "covariates, mix": partial(covariates, ratio=0.1),
    "guide": partial(guided, guide=PLAIN),
    "guide, mix": partial(guided, guide=PLAIN, ratio=0.1),
    "guide, mix, doubt 0.5": partial(guided, guide=replace(PLAIN, doubt=0.5), ratio=0.1),
    "by evidence": partial(guided, guide=EVIDENT, ratio=0.1),
    "by evidence, gate 0.5": partial(guided, guide=EVIDENT, ratio=0.5),
    "by evidence, least 4": partial(guided, guide=replace(EVIDENT, least=4.0), ratio=0.1),
    "by evidence, agreement 0": partial(guided, guide=replace(EVIDENT, agreement=0.0), ratio=0.1),
    "by evidence, agreement 0.3": partial(guided, guide=replace(EVIDENT, agreement=0.3), ratio=0.1),
    "chosen, no mix in doubt": partial(guided, guide=Guide(doubt=ALONE), ratio=0.1),
    "chosen, doubt 0.1": partial(guided, guide=Guide(doubt=0.1), ratio=0.1),
    "chosen": partial(guided, guide=Guide(), ratio=0.1),
}


def designs(case: Case, candidate: Candidate) -> Array:  # (K, T, D)
    data, memory = list(case.initial), dict[str, Any]()
    warm: list[tuple[float, ...] | None] = [None] * case.sites
    ran = np.empty((case.sites, case.horizon, case.space.dimension))
    for t in range(case.horizon):
        known = [Situation(own, case.space, warm_start=last) for own, last in zip(data, warm, strict=True)]
        gps = case.strategy.surrogates(known)
        warm = [tuple(gp.theta.tolist()) for gp in gps]
        ran[:, t] = candidate(Round(case, t, data, gps, memory))
        data = [
            own.with_point(x, case.experiment(k, x)) for k, (own, x) in enumerate(zip(data, ran[:, t], strict=True))
        ]
    return ran


@dataclass(frozen=True)
class Task:
    candidate: str
    scenario: str
    seed: int


def work(task: Task) -> dict[str, Any]:
    scenario = SCENARIOS[task.scenario]
    case = scenario.case(task.seed, default())
    ran = designs(case, CANDIDATES[task.candidate])
    row = measure(Job(scenario, "default", "individual", task.seed), case, ran)
    sites = {"area": list(row.area), "final": list(row.final)}
    return {"candidate": task.candidate, "scenario": task.scenario, "seed": task.seed, **sites}


def kept() -> Iterator[dict[str, Any]]:
    if RESULTS.exists():
        yield from (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())


def sheets() -> list[Sheet]:
    """Mean over sites, minus alone: mean over seeds and its standard error."""
    rows = {(row["candidate"], row["scenario"], row["seed"]): row for row in kept()}
    return [
        Sheet(
            f"{title} minus that of working alone, seeds {SEEDS[0]} to {SEEDS[-1]}",
            ("", *SCENARIOS),
            tuple((name, *(_gain(rows, measured, name, scenario) for scenario in SCENARIOS)) for name in CANDIDATES),
            ("Mean over sites and seeds, and the standard error over seeds.",),
        )
        for measured, title in (("area", "Area under the Gap curve"), ("final", "Final Gap"))
    ]


def _gain(rows: dict[tuple[str, str, int], dict[str, Any]], measured: str, candidate: str, scenario: str) -> str:
    pairs = [[(name, scenario, seed) for name in (candidate, "alone")] for seed in SEEDS]
    means = np.array([[np.mean(rows[key][measured]) for key in pair] for pair in pairs if set(pair) <= rows.keys()])
    if len(means) < 2:
        return "–"
    gains = means[:, 0] - means[:, 1]
    return f"{gains.mean():+.3f} ± {standard_error(gains):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--candidate", action="append", choices=list(CANDIDATES), help="only this one; may be repeated")
    parser.add_argument("--workers", type=int, help="processes")
    asked = parser.parse_args()
    if not asked.show:
        done = {(row["candidate"], row["scenario"], row["seed"]) for row in kept()}
        names = asked.candidate or list(CANDIDATES)
        tasks = [Task(name, scenario, seed) for name in names for scenario in SCENARIOS for seed in SEEDS]
        tasks = [task for task in tasks if (task.candidate, task.scenario, task.seed) not in done]
        with bar(len(tasks)) as advance, RESULTS.open("a", encoding="utf-8") as file:
            for task, row in engine("local", asked.workers)(work, tasks):
                file.write(json.dumps(row) + "\n")
                file.flush()
                advance(f"{task.candidate}, {task.scenario}, seed {task.seed}", 1)
    print(write(sheets(), Writing.TEXT))
    RESULTS.with_suffix(".md").write_text(write(sheets(), Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
