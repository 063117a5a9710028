"""Weights where not all sites are neighbours: uniform with the missing pairs cut, or from local degrees.

    python research/graphs.py                  run what is missing in results/graphs.jsonl, then the table
    python research/graphs.py --show           the table alone, here and in results/graphs.md
    python research/graphs.py --tune           on the seeds on which the default was chosen, with more variants

Displaced problems, and one with unrelated optima (not when tuning), with 10 and 20 sites on a ring, a star and a random
graph (a ring, and as many random links again); 10 experiments per parameter, of which 2 initial ones; rounds, and the
free pace with durations log-normal around 1 with a spread of 0.2. "default" is our strategy; "paper's" follows every
mix, and shares no best designs. The Gap is the share of the way from the median of the box to the optimum, its area the
mean over all experiments.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from cboc import Policy, Study, simulate
from cboc.arrays import Array
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.experiment.durations import LogNormal
from cboc.problems.problem import Problem
from cboc.runs.metrics import Paired, gap, paired
from cboc.site.trial import Trial
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.collaborative import collaborative
from cboc.strategy.gate import Gate, Gated
from rows import RESULTS, Row, complete, kept

SEEDS, TUNING_SEEDS = range(4100, 4104), range(2100, 2102)
UNRELATED = "levy-4, unrelated"
IN_ALL, INITIAL = 10, 2  # experiments per parameter
PROBLEMS, SITES = ("levy-4", "shekel-10", "ackley-5"), (10, 20)
GRAPHS, PACES = ("ring", "star", "random"), ("rounds", "free")
STRATEGIES = {"default": collaborative(), "paper's": Gated(Bayesian(), Gate(0.0))}
FIELDS = ("problem", "sites", "graph", "rule", "pace", "strategy", "seed")


@dataclass(frozen=True)
class Job:
    problem: str
    sites: int
    graph: str  # "": alone, as is the pace
    rule: str  # identity: alone
    pace: str
    strategy: str
    seed: int


def work(job: Job) -> Row:
    is_related = job.problem != UNRELATED
    scenario = (
        Scenario(job.problem, job.sites, is_displaced=True)
        if is_related
        else Scenario("levy-4", job.sites, Kind.UNRELATED)
    )
    problems = scenario.problems(job.seed)
    space, names = problems[0].space, tuple(f"site {k + 1}" for k in range(job.sites))
    initial = INITIAL * space.dimension
    study = Study(
        space,
        names,
        IN_ALL * space.dimension - initial,
        rule=job.rule,
        graph=links(job.graph, names, job.seed),
        pace=job.pace or "rounds",
        shares_best=job.strategy == "default" and job.rule != "identity",
    )
    done = simulate(
        study,
        dict(zip(names, problems, strict=True)),
        direction=problems[0].direction,
        policy=Policy(STRATEGIES[job.strategy], initial, job.seed),
        durations=LogNormal(1.0, 0.2) if job.pace == "free" else None,
    )
    curves = np.array([_curve(problem, done.of(name)) for name, problem in zip(names, problems, strict=True)])
    return {"area": round(float(curves.mean()), 5), "final": round(float(curves[:, -1].mean()), 5)}


def links(graph: str, names: tuple[str, ...], seed: int) -> str | list[tuple[str, str]]:
    """A graph by its name; "random" is a ring with as many random links again, others for every seed."""
    if graph != "random":
        return graph or "complete"
    K, random = len(names), np.random.default_rng([seed, 7])
    ring = {(k, k + 1) for k in range(K - 1)} | {(0, K - 1)}
    others = [(i, j) for i in range(K) for j in range(i + 1, K) if (i, j) not in ring]
    chosen = random.choice(len(others), size=K, replace=False)
    return [(names[i], names[j]) for i, j in sorted(ring | {others[k] for k in chosen})]


def _curve(problem: Problem, trials: list[Trial]) -> Array:
    """The Gap after every experiment, from the median of the box."""
    X = np.array([trial.executed for trial in trials])
    loss = np.minimum.accumulate(-problem.direction.sign * (problem.values(X) - problem.optimum))
    return np.ones(len(loss)) if problem.is_flat else np.maximum(gap(loss, problem.depth), 0.0)


def jobs(is_tuning: bool) -> list[Job]:
    found, alone = [], ("", "identity", "")
    for seed, problem, sites in product(*_cases(is_tuning)):
        graphs = GRAPHS if is_tuning else ("ring", "random")  # on a star both rules are the same
        ways = [alone, *product(graphs, ("uniform", "metropolis"), PACES)]
        strategies = STRATEGIES if is_tuning and problem == "levy-4" else ("default",)
        found += [Job(problem, sites, *way, strategy, seed) for strategy in strategies for way in ways]
    return found


def _cases(is_tuning: bool) -> tuple[range, tuple[str, ...], tuple[int, ...]]:
    return (TUNING_SEEDS, PROBLEMS, SITES) if is_tuning else (SEEDS, (*PROBLEMS, UNRELATED), SITES)


def table(path: Path, is_tuning: bool) -> Table:
    """The area of every way, and what the rule from degrees adds, paired over problems, numbers of sites and seeds."""
    rows, lines = kept(path, FIELDS), []
    seeds, _, counts = _cases(is_tuning)
    groups = [PROBLEMS] if is_tuning else [PROBLEMS, (UNRELATED,)]
    for group, strategy, graph, pace in product(groups, STRATEGIES, GRAPHS, PACES):
        ways = [(graph, "uniform", pace), (graph, "metropolis", pace), ("", "identity", "")]
        cases = product(group, counts, seeds)
        found = [[rows.get((problem, sites, *way, strategy, seed)) for way in ways] for problem, sites, seed in cases]
        areas = np.array([[row["area"] for row in case if row] for case in found if all(case)])
        if len(areas) < 2:
            continue
        above, alone = paired(areas[:, 1], areas[:, 0]), paired(areas[:, 1], areas[:, 2])
        means = [f"{mean:.3f}" for mean in areas.mean(axis=0)]
        better = f"{(areas[:, 1] > areas[:, 0]).sum()} of {len(areas)}"
        what = strategy if group is PROBLEMS else f"{strategy}, unrelated"
        lines.append((what, graph, pace, *means, _shown(above), better, _shown(alone)))
    columns = ("", "graph", "pace", "uniform, cut", "metropolis", "alone", "minus uniform", "better in", "minus alone")
    notes = ("Paired over problems, numbers of sites and seeds, with half of the 95 % interval.",)
    return Table("mean Gap over all experiments", columns, tuple(lines), notes)


def _shown(pair: Paired) -> str:
    return f"{pair.difference:+.3f} ± {pair.margin:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="the table alone")
    parser.add_argument("--tune", action="store_true", help="on tuning seeds")
    options = parser.parse_args()
    path = RESULTS / ("graphs_tuning.jsonl" if options.tune else "graphs.jsonl")
    if not options.show:
        complete(path, jobs(options.tune), work)
    found = [table(path, options.tune)]
    print(write(found, Writing.TEXT))
    if not options.tune:
        path.with_suffix(".md").write_text(write(found, Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
