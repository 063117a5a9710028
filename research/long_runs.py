"""Priors of lengthscales where budgets are long: ten sites, together and alone, on tuning seeds.

    python research/long_runs.py            run what is missing in results/long_runs.jsonl, then the tables
    python research/long_runs.py --show     the tables alone

Five initial designs per parameter, 20 experiments per parameter, in rounds: what `cboc evidence paper` and `honest`
run, on other seeds.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from dataclasses import dataclass, replace

import numpy as np

from cboc.arrays import one_thread
from cboc.evidence.case import begin
from cboc.evidence.methods.consensus import Consensus
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.runs.metrics import gap, paired
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gate
from cboc.strategy.guide.decision import Guide
from cboc.surrogate.fitting import Model
from lengthscales import BASE, PRIORS
from rows import RESULTS, Row, complete, kept

PATH = RESULTS / "long_runs.jsonl"
SEEDS = range(2400, 2408)
PROBLEMS = (
    "ackley-5",
    "displaced ackley-5",
    "hartmann-6",
    "levy-4",
    "displaced levy-4",
    "shekel-10",
    "branin",
    "levy-2",
)
COMPARED = (BASE, "mode 0.3, scale 0.8", "mode 0.2, scale 1", "mode 0.2, scale 0.8", "mode 0.4, scale 1")
METHODS = {"together": Consensus("uniform", Gate(), guide=Guide()), "alone": Consensus("identity")}
FIELDS = ("problem", "method", "prior", "seed")
SITES = 10


@dataclass(frozen=True)
class Job:
    problem: str
    method: str
    prior: str
    seed: int


def work(job: Job) -> Row:
    name = job.problem.removeprefix("displaced ")
    problems = Scenario(name, SITES, is_displaced=name != job.problem).problems(job.seed)
    D = problems[0].space.dimension
    case = begin(problems, 5 * D, 20 * D, job.seed, Bayesian(model=replace(Model(), lengthscale=PRIORS[job.prior])))
    with one_thread():
        ran = np.concatenate([case.first, METHODS[job.method](case)], axis=1)
    curves = []
    for k, designs in enumerate(ran):
        y = np.array([case.experiment(k, x) for x in designs])
        best = np.minimum.accumulate(y)[5 * D - 1 :]
        curves.append(gap(best - problems[k].optimum, best[0] - problems[k].optimum))
    found = np.array(curves)
    return {"area": round(float(found[:, 1:].mean()), 5), "final": round(float(found[:, -1].mean()), 5)}


def table(measure: str, method: str) -> Table:
    rows, lines = kept(PATH, FIELDS), []
    for problem in PROBLEMS:
        line = [problem]
        for prior in COMPARED:
            both = [s for s in SEEDS if {(problem, method, p, s) for p in (prior, BASE)} <= rows.keys()]
            if len(both) < 2:
                line.append("")
                continue
            ours, base = ([rows[problem, method, p, s][measure] for s in both] for p in (prior, BASE))
            pair = paired(ours, base)
            line.append(f"{np.mean(base):.3f}" if prior == BASE else f"{pair.difference:+.3f} ± {pair.margin:.3f}")
        lines.append(tuple(line))
    note = f"Ten sites, {len(SEEDS)} tuning seeds at most; ± is half of the 95 % interval."
    return Table(f"{method}: {measure}, minus that under BoTorch's prior", ("", *COMPARED), tuple(lines), (note,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    if not parser.parse_args().show:
        jobs = [Job(p, m, prior, s) for s in SEEDS for m in METHODS for p in PROBLEMS for prior in COMPARED]
        complete(PATH, jobs, work)
    print(write([table(measure, method) for method in METHODS for measure in ("area", "final")], Writing.TEXT))


if __name__ == "__main__":
    main()
