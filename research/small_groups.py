"""Small groups: what borrowing the others' best designs adds to the guide, on smooth problems and on recipes.

    python research/small_groups.py            run what is missing in results/small_groups.jsonl, then the tables
    python research/small_groups.py --show     the tables alone
    python research/small_groups.py --method default    only this one; may be repeated

Tuning seeds; two initial designs per parameter (four on recipes), 10 experiments per parameter in all (40 on recipes).
Recipes are tables that this file makes: main effects and pairs of effects of the options, alike by a share r.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.data.dataset import Direction
from cboc.evidence.case import Case, begin
from cboc.evidence.methods.consensus import executed, rounds, study_of
from cboc.evidence.methods.others_best import OthersBest
from cboc.evidence.real.lookup import Options, known
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.ledger import Ledger
from cboc.problems.problem import Problem
from cboc.runs.metrics import gap, paired
from cboc.space.parameters import Choice
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gate, Gated
from cboc.strategy.guide.decision import Guide, GuideLike
from cboc.strategy.guide.guided import Guided
from cboc.strategy.opinion import Strategy
from factors import FactorGuide
from rows import RESULTS, Row, complete, kept
from visiting import Clean, Visiting

SEEDS = range(2200, 2216)
SITES = (2, 3, 5, 10)
SMOOTH = ("levy-4", "ackley-5", "rastrigin-4", "shekel-10")
SIZES = (4, 12, 4, 3)  # options
WORLDS = (*SMOOTH, "levy-4 unrelated", "recipes 0.9", "recipes 0.6", "recipes 0.0")
FIELDS = ("world", "sites", "method", "seed")


def guided(strategy: Bayesian, guide: GuideLike) -> Gated:
    return Gated(Guided(strategy, guide), Gate())


METHODS: dict[str, Callable[[Bayesian], Strategy] | None] = {
    "alone": None,
    "others' best first": None,
    "guide": lambda own: guided(own, Guide(patience=0.0)),
    "copies counted": lambda own: Visiting(guided(own, Guide(patience=0.0))),
    "default": lambda own: guided(own, Guide()),
    "patience 1": lambda own: guided(own, Guide(patience=1.0)),
    "everybody borrows": lambda own: Visiting(guided(own, Clean(Guide(patience=0.0)))),
    "by parameter": lambda own: guided(own, FactorGuide(patience=0.0)),
    "by parameter, borrowing": lambda own: Visiting(guided(own, Clean(FactorGuide(patience=0.0)))),
}


@dataclass(frozen=True)
class Job:
    world: str
    sites: int
    method: str
    seed: int


def problems_of(world: str, sites: int, seed: int) -> list[Problem]:
    if world.startswith("recipes"):
        return recipes(float(world.split()[1]), sites, seed)
    if world.endswith("unrelated"):
        return Scenario("levy-4", sites, Kind.UNRELATED).problems(seed)
    return Scenario(world, sites, is_displaced=True).problems(seed)


def recipes(r: float, sites: int, seed: int) -> list[Problem]:
    """Yields of all recipes: effects of options and of pairs, a share r of their variance common to all sites."""
    space = Space({f"p{d}": Choice([f"o{i}" for i in range(size)]) for d, size in enumerate(SIZES)})
    rng = np.random.default_rng([seed, 11])
    common = _effects(rng)
    found = []
    for k in range(sites):
        mixed = np.sqrt(r) * common + np.sqrt(1.0 - r) * _effects(rng) + 0.3 * rng.standard_normal(SIZES)
        table = Options(100.0 / (1.0 + np.exp(1.0 - 1.5 * mixed)))
        found.append(known(f"recipes {k}", space, Direction.MAXIMISE, table).problem)
    return found


def _effects(rng: np.random.Generator) -> Array:
    """Effects of single options and of pairs, with variance one in the mean."""
    total = np.zeros(SIZES)
    for d in range(len(SIZES)):
        total += rng.standard_normal([s if j == d else 1 for j, s in enumerate(SIZES)]) * 0.42
    for d, e in combinations(range(len(SIZES)), 2):
        total += rng.standard_normal([s if j in (d, e) else 1 for j, s in enumerate(SIZES)]) * 0.22
    return total


def work(job: Job) -> Row:
    problems = problems_of(job.world, job.sites, job.seed)
    D = len(problems[0].space.names)
    initial, total = (4, 40) if job.world.startswith("recipes") else (2 * D, 10 * D)
    case = begin(problems, initial, total - initial, job.seed, Bayesian())
    with one_thread():
        designs = run(case, job.method)
    ran = [np.vstack(pair) for pair in zip(case.first, designs, strict=True)]
    curves = np.array([curve(problem, X) for problem, X in zip(problems, ran, strict=True)])
    return {"area": round(float(curves.mean()), 5), "final": round(float(curves[:, -1].mean()), 5)}


def run(case: Case, method: str) -> Array:
    if method == "others' best first":
        return OthersBest()(case)
    make = METHODS[method]
    study = study_of(case, "identity" if make is None else "uniform", shares_best=make is not None)
    ledger = Ledger(study)
    strategy = Gated(case.strategy, Gate(2.0)) if make is None else make(case.strategy)
    return executed(case, rounds(case, study, ledger, strategy, ledger))


def curve(problem: Problem, X: Array) -> Array:
    """The Gap after every experiment, from the median."""
    is_table = isinstance(problem.function, Options)
    values = np.array([problem(problem.space.from_unit(x)) for x in X]) if is_table else problem.values(X)
    loss = np.minimum.accumulate(-problem.direction.sign * (values - problem.optimum))
    if is_table:
        return np.maximum(gap(loss, abs(problem.optimum - float(np.median(problem.function.outcomes)))), 0.0)
    return np.ones(len(loss)) if problem.is_flat else np.maximum(gap(loss, problem.depth), 0.0)


def table(measure: str) -> Table:
    rows, lines = kept(RESULTS / "small_groups.jsonl", FIELDS), []
    methods = [m for m in METHODS if any(key[2] == m for key in rows)]
    for world, sites in product(WORLDS, SITES):
        line = [f"{world} K={sites}"]
        for method in methods:
            both = [s for s in SEEDS if (world, sites, method, s) in rows and (world, sites, "alone", s) in rows]
            if len(both) < 2:
                line.append("")
                continue
            ours, base = ([rows[world, sites, m, s][measure] for s in both] for m in (method, "alone"))
            pair = paired(ours, base)
            line.append(f"{np.mean(base):.3f}" if method == "alone" else f"{pair.difference:+.3f} ± {pair.margin:.3f}")
        if any(line[1:]):
            lines.append(tuple(line))
    return Table(f"{measure}, minus alone", ("", *methods), tuple(lines), (f"{len(SEEDS)} tuning seeds.",))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--method", action="append")
    options = parser.parse_args()
    if not options.show:
        wanted = [Job(w, K, m, s) for s in SEEDS for w, K, m in product(WORLDS, SITES, options.method or METHODS)]
        complete(RESULTS / "small_groups.jsonl", wanted, work)
    print(write([table("area"), table("final")], Writing.TEXT))


if __name__ == "__main__":
    main()
