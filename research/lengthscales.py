"""Priors of lengthscales, judged by a site alone: area under the Gap curve on tuning seeds.

    python research/lengthscales.py            run what is missing in results/lengthscales.jsonl, then the table
    python research/lengthscales.py --show     the table alone

Two initial designs per parameter, 10 experiments per parameter in all, four sites of a displaced problem, alone.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np

from cboc.arrays import Array
from cboc.evidence.case import begin
from cboc.evidence.tables.table import Table, Writing, write
from cboc.runs.metrics import paired
from cboc.strategy.bayesian import Bayesian
from cboc.surrogate.fitting import Model
from cboc.surrogate.priors import LogNormal, dimension_scaled
from rows import RESULTS, Row, complete, kept
from small_groups import run
from worlds import curve, lengths_of, problems_of

PATH = RESULTS / "lengthscales.jsonl"
SEEDS = range(2300, 2316)
SITES = 4
PROBLEMS = (
    *("levy-4", "ackley-5", "rastrigin-4", "shekel-10", "hartmann-6", "branin"),
    *("rosenbrock-4", "styblinski-tang-4", "michalewicz-4", "levy-8", "recipes 0.9", "mixed 0.9 4"),
    *("among branin 5", "among levy-2 6", "among hartmann-6 8", "levy-4 noisy", "hartmann-6 noisy", "ackley-2"),
    *("rastrigin-2", "rosenbrock-8", "styblinski-tang-8", "ackley-8", "michalewicz-5", "levy-2"),
)
FIELDS = ("problem", "prior", "seed")


@dataclass(frozen=True)
class Alike:
    """log l_d = m + d_d with m ~ N(location, spread^2) for all and d_d ~ N(0, own^2): lengthscales that are alike."""

    location: float
    spread: float
    own: float

    def __call__(self, log_theta: Array) -> tuple[Array, Array]:
        z, c = log_theta - self.location, self._share(log_theta.shape[1])
        rest = z - c * z.sum(axis=1, keepdims=True)
        return -log_theta - 0.5 * z * rest / self.own**2, -1.0 - rest / self.own**2

    def _share(self, D: int) -> float:
        return self.spread**2 / (self.own**2 + D * self.spread**2)

    def curvature(self, log_theta: Array) -> float:
        return float((1.0 - self._share(log_theta.shape[1])) / self.own**2)

    @property
    def mode(self) -> float:
        return exp(self.location - self.own**2)


def around(mode: float, scale: float) -> Callable[[int], LogNormal]:
    return lambda D: LogNormal(log(mode) + scale**2 + 0.5 * log(D), scale)


def alike(location: float, spread: float, own: float) -> Callable[[int], Alike]:
    return lambda D: Alike(location + 0.5 * log(D), spread, own)


SCALES = ((0.2, 1.0), (0.2, 0.8), (0.2, 0.6), (0.13, 0.8), (0.3, 0.8), (0.3, 0.6), (0.4, 1.0), (0.4, 0.6), (0.4, 1.73))
BASE, CHOSEN = "BoTorch's", "mode 0.3, scale 0.8"
PRIORS = {
    BASE: dimension_scaled,
    **{f"mode {m:g}, scale {s:g}": around(m, s) for m, s in SCALES},
    "alike 1, 0.5": alike(-0.7, 1.0, 0.5),
    "alike 1.5, 0.8": alike(0.0, 1.5, 0.8),
    "alike 0.7, 0.7": alike(-0.7, 0.7, 0.7),
}
COMPARED = (BASE, "mode 0.2, scale 1", "mode 0.2, scale 0.8", CHOSEN, "mode 0.3, scale 0.6")  # on all problems


@dataclass(frozen=True)
class Job:
    problem: str
    prior: str
    seed: int


def work(job: Job) -> Row:
    problems = problems_of(job.problem, SITES, job.seed)
    initial, total = lengths_of(job.problem, problems)
    model = replace(Model(), lengthscale=PRIORS[job.prior])
    case = begin(problems, initial, total - initial, job.seed, Bayesian(model=model))
    designs = run(case, "alone")
    ran = [np.vstack(pair) for pair in zip(case.first, designs, strict=True)]
    curves = np.array([curve(problem, X) for problem, X in zip(problems, ran, strict=True)])
    return {"area": round(float(curves.mean()), 5), "final": round(float(curves[:, -1].mean()), 5)}


def table(measure: str, priors: Sequence[str]) -> Table:
    """A measure under BoTorch's prior, and what the others have above it, paired by seeds; and the mean of all rows."""
    rows, lines, means = kept(PATH, FIELDS), [], {name: [] for name in priors}
    for problem in PROBLEMS:
        line = [problem]
        for name in priors:
            both = [s for s in SEEDS if (problem, name, s) in rows and (problem, BASE, s) in rows]
            if len(both) < 2:
                line.append("")
                continue
            ours, base = ([rows[problem, p, s][measure] for s in both] for p in (name, BASE))
            pair = paired(ours, base)
            means[name].append(pair.difference)
            line.append(f"{np.mean(base):.3f}" if name == BASE else f"{pair.difference:+.3f} ± {pair.margin:.3f}")
        lines.append(tuple(line))
    lines.append(("mean", "", *(f"{np.mean(means[name]):+.4f}" if means[name] else "" for name in priors[1:])))
    note = "8 to 16 tuning seeds of four sites that work alone; ± is half of the 95 % interval."
    return Table(f"{measure}, minus that under BoTorch's prior", ("", *priors), tuple(lines), (note,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--all", action="store_true", help="what was tried on some of the problems, too")
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    priors = list(PRIORS if options.all else COMPARED)
    if not options.show:
        complete(PATH, [Job(p, name, s) for s in SEEDS[: options.seeds] for p in PROBLEMS for name in priors], work)
    print(write([table(measure, priors) for measure in ("area", "final")], Writing.TEXT))


if __name__ == "__main__":
    main()
