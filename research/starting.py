"""How few initial designs a site needs, alone and in company, every experiment counted.

    python research/starting.py                run what is missing in results/starting.jsonl, then the tables
    python research/starting.py --show         the tables alone, here and in results/starting.md
    python research/starting.py --tune         all variants, on seeds that no table reports

Displaced rows of the paper's tables with 3, 5 and 10 sites, and sites with unrelated optima; 15 experiments per
parameter in all, the initial ones among them; free pace, durations log-normal around 1 with a spread of 0.2. The Gap is
the share of the way from the median of the box to the optimum; the area is its mean over all experiments.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cboc import Ledger, Policy, Site, Study
from cboc.arrays import Array
from cboc.cli.progress_bar import bar
from cboc.consensus.matrix import quantise
from cboc.evidence.engines import engine
from cboc.evidence.paper import TABLES
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.experiment.durations import Durations, LogNormal
from cboc.problems.problem import Problem
from cboc.runs.calendar import Calendar
from cboc.runs.metrics import gap, paired, rounds_to
from cboc.site.mind import Mind
from cboc.site.trial import Decision, Status, Trial

HERE = Path(__file__).parent / "results"
SEEDS, TUNING_SEEDS = range(4000, 4030), range(2100, 2104)
IN_ALL, GOAL = 15, 0.9  # experiments per parameter; the Gap that is to be reached
SITES = (3, 5, 10)
NAMES = tuple(dict.fromkeys(scenario.problem for table in TABLES for scenario in table.scenarios))
ROWS = (*(Scenario(name, 10, is_displaced=True) for name in NAMES), Scenario("levy-4", 10, Kind.UNRELATED))
SCENARIOS = {scenario.name: scenario for row in ROWS for K in SITES for scenario in [replace(row, sites=K)]}
TUNED = [name for name in SCENARIOS if any(word in name for word in ("levy-4", "ackley-5", "shekel"))]
FEWEST: dict[str, Callable[[int], int]] = {  # D -> initial designs of a site
    "5 D": lambda D: 5 * D,
    "2 D": lambda D: 2 * D,
    "D + 1": lambda D: D + 1,
    "D": lambda D: D,
    "D / 2": lambda D: max(2, -(-D // 2)),
    "2": lambda _: 2,
}


class SharedMind(Mind):
    """A mind whose initial designs are its own part of one sequence that all sites share."""

    def initial_trial(self, count: int, well: int = 0, copies: int = 1) -> Trial:  # noqa: ARG002
        K, k, number = len(self.study.sites), self.study.index(self.name), len(self.log.trials)
        whole = self.space.sample(K * count, np.random.default_rng([self.policy.seed, 99]))
        x = self.space.project(quantise(whole[k::K][number]))
        return Trial(self.name, number, Status.PENDING, tuple(x.tolist()), decision=Decision.INITIAL)


@dataclass(frozen=True)
class Job:
    scenario: str
    initial: str  # one of FEWEST
    how: str  # alone, together, or shared: together, with one sequence
    seed: int


def work(job: Job) -> dict[str, Any]:
    scenario = SCENARIOS[job.scenario]
    problems = scenario.problems(job.seed)
    space = problems[0].space
    initial, total = FEWEST[job.initial](space.dimension), IN_ALL * space.dimension
    names = tuple(f"site {k + 1}" for k in range(scenario.sites))
    rule = "identity" if job.how == "alone" else "uniform"
    study = Study(space, names, total - initial, rule=rule, pace="free")
    calendar = Calendar()
    ledger, policy = Ledger(study, clock=calendar), Policy(initial=initial, seed=job.seed)
    sites = [
        Site(study, name, ledger, direction=problem.direction, policy=policy, clock=calendar)
        for name, problem in _of(names, problems)
    ]
    if job.how == "shared":
        for site in sites:
            site.mind = SharedMind(study, site.name, space, policy, site.log)
    experiments = dict(_of(names, problems))

    def run(site: Site, trial: Trial) -> None:
        site.tell(trial, experiments[site.name](trial.design(space)))

    calendar.run(sites, run, Durations(LogNormal(1.0, 0.2), study, job.seed))
    curves = np.array([_curve(problem, site.trials) for problem, site in zip(problems, sites, strict=True)])
    reached = rounds_to(curves, GOAL) + 1.0
    row = {"scenario": job.scenario, "initial": job.initial, "how": job.how, "seed": job.seed}
    return row | {
        "area": _rounded(curves.mean(axis=1)),
        "final": _rounded(curves[:, -1]),
        "goal": _rounded(np.where(np.isnan(reached), curves.shape[1], reached)),
        "curve": _rounded(curves.mean(axis=0)),
    }


def _of(names: tuple[str, ...], problems: list[Problem]) -> list[tuple[str, Problem]]:
    return list(zip(names, problems, strict=True))


def _curve(problem: Problem, trials: list[Trial]) -> Array:
    """The Gap after every experiment, from the median of the box."""
    X = np.array([trial.executed for trial in trials])
    loss = np.minimum.accumulate(-problem.direction.sign * (problem.values(X) - problem.optimum))
    return np.ones(len(loss)) if problem.is_flat else np.maximum(gap(loss, problem.depth), 0.0)


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 5) for value in values]


def kept(path: Path) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return {(row["scenario"], row["initial"], row["how"], row["seed"]): row for row in rows}


def jobs(is_tuning: bool, chosen: tuple[str, ...]) -> list[Job]:
    if is_tuning:
        ways = [(few, how) for few in FEWEST for how in ("alone", "together")] + [("D", "shared"), ("2", "shared")]
        return [Job(name, *way, seed) for seed in TUNING_SEEDS for name in TUNED for way in ways]
    ways = [(few, how) for few in ("5 D", *chosen) for how in ("alone", "together")]
    return [Job(name, *way, seed) for seed in SEEDS for name in SCENARIOS for way in ways]


def run(path: Path, wanted: list[Job]) -> None:
    done = kept(path)
    tasks = [job for job in wanted if (job.scenario, job.initial, job.how, job.seed) not in done]
    if tasks:
        with bar(len(tasks)) as advance, path.open("a", encoding="utf-8") as file:
            for job, row in engine()(work, tasks):
                file.write(json.dumps(row) + "\n")
                file.flush()
                advance(f"{job.scenario}, {job.initial} {job.how}, seed {job.seed}", 1)


def tables(path: Path) -> list[Table]:
    """Area, and experiments to the goal, for every variant; the difference is to today's 5 D together."""
    rows = kept(path)
    ways = list(dict.fromkeys((few, how) for _, few, how, _ in rows))
    seeds = sorted({seed for *_, seed in rows})
    found = []
    for measure, what in (("area", "area"), ("final", "final Gap"), ("goal", f"experiments to a Gap of {GOAL}")):
        lines = []
        for name in dict.fromkeys(name for name, *_ in rows):
            line = [name]
            for few, how in ways:
                both = [s for s in seeds if (name, few, how, s) in rows and (name, "5 D", "together", s) in rows]
                ours = [np.mean(rows[name, few, how, s][measure]) for s in both]
                today = [np.mean(rows[name, "5 D", "together", s][measure]) for s in both]
                if len(both) < 2:
                    line.append("–")
                elif (few, how) == ("5 D", "together"):
                    line.append(f"{np.mean(ours):.3f}")
                else:
                    pair = paired(ours, today)
                    line.append(f"{pair.difference:+.3f} ± {pair.margin:.3f}")
            lines.append(tuple(line))
        notes = (f"Minus 5 D together, paired over {len(seeds)} seeds, with half of the 95 % interval.",)
        found.append(Table(what, ("", *(f"{few} {how}" for few, how in ways)), tuple(lines), notes))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="the tables alone")
    parser.add_argument("--tune", action="store_true", help="all variants, on tuning seeds")
    parser.add_argument("--initial", action="append", choices=list(FEWEST), help="beside 5 D; may be repeated")
    options = parser.parse_args()
    path = HERE / ("starting_tuning.jsonl" if options.tune else "starting.jsonl")
    if not options.show:
        run(path, jobs(options.tune, tuple(options.initial or ("D",))))
    found = tables(path)
    print(write(found, Writing.TEXT))
    if not options.tune:
        path.with_suffix(".md").write_text(write(found, Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
