"""Small groups: what borrowing the others' best designs adds to the guide, on smooth problems and on recipes.

    python research/small_groups.py            run what is missing in results/small_groups.jsonl, then the tables
    python research/small_groups.py --show     the tables alone
    python research/small_groups.py --method default --world "dial 0.9 4" --sites 3    only these; may be repeated
    python research/small_groups.py --show --tried    what was tried beside it

Tuning seeds; two initial designs per parameter (four on recipes), 10 experiments per parameter in all (40 on recipes).
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.evidence.case import Case, begin
from cboc.evidence.methods.consensus import executed, rounds, study_of
from cboc.evidence.methods.others_best import OthersBest
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.ledger import Ledger
from cboc.runs.metrics import paired
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gate, Gated
from cboc.strategy.guide.decision import Guide, GuideLike
from cboc.strategy.guide.guided import Guided
from cboc.strategy.opinion import Strategy
from cboc.strategy.verdict import Stance
from factors import FactorGuide
from leaving import Leaving, LeavingStale
from pooled import Pooled
from rows import RESULTS, Row, complete, kept
from told import Told
from visiting import Clean, FewBorrow, Visiting
from worlds import curve, lengths_of, problems_of

SEEDS = range(2200, 2212)
SITES = (2, 3, 5, 8, 10)
PATH = RESULTS / "small_groups.jsonl"
SMOOTH = ("levy-4", "ackley-5", "rastrigin-4", "shekel-10", "levy-4 unrelated")
DIALS = ("dial 0.5 4", "dial 0.9 4", "dial 1 4", "dial 0.9 2", "shifted 0.1 4", "mixed 0.9 4", "dial 0 4")
WORLDS = (*DIALS, *SMOOTH, "recipes 0.9", "recipes 0.6", "recipes 0.0")
GROUPS = {
    "dials and shifts, related": DIALS[:-1],
    "Levy, Ackley, Rastrigin, Shekel": SMOOTH[:-1],
    "recipes, related": ("recipes 0.9", "recipes 0.6"),
    "nothing in common": (DIALS[-1], SMOOTH[-1], "recipes 0.0"),
}
FIELDS = ("world", "sites", "method", "seed")


def guided(strategy: Strategy, guide: GuideLike) -> Gated:
    return Gated(Guided(strategy, guide), Gate())


def visiting(own: Bayesian, **how: object) -> Visiting:
    """Borrowing apart from the guide, for groups of any size."""
    return Visiting(guided(own, Clean(Guide(patience=0.0))), **how)


CHOSEN: dict[str, Callable[[Bayesian], Strategy] | None] = {
    "alone": None,
    "others' best first": None,
    "guide": lambda own: guided(own, Guide(patience=0.0)),
    "hope 0": lambda own: guided(own, Guide(hope=0.0)),
    "hope 0.05": lambda own: visiting(own, hope=0.05),
    "hope 0.1": lambda own: visiting(own, hope=0.1),
    "hope 0.2": lambda own: visiting(own, hope=0.2),
    "hope 0.5": lambda own: visiting(own, hope=0.5),
    "default": lambda own: guided(own, Guide()),
}
TRIED: dict[str, Callable[[Bayesian], Strategy] | None] = {
    "few borrow": lambda own: guided(own, FewBorrow(Guide())),
    "a new best pays": lambda own: visiting(own, hope=0.1, good=0.0),
    "by turns": lambda own: visiting(own, hope=0.1, by_turns=True),
    "patience 1": lambda own: visiting(own, hope=0.1, patience=1.0),
    "together too": lambda own: visiting(own, hope=0.05, stances=(Stance.DOUBT, Stance.TOGETHER)),
    "together too, hope 0.1": lambda own: visiting(own, hope=0.1, stances=(Stance.DOUBT, Stance.TOGETHER)),
    "together too, hope 0.2": lambda own: visiting(own, hope=0.2, stances=(Stance.DOUBT, Stance.TOGETHER)),
    "leaving": lambda own: guided(own, Leaving(Guide())),
    "leaving if stale": lambda own: guided(own, LeavingStale(Guide())),
    "least 2.5": lambda own: guided(own, Guide(least=2.5)),
    "told": lambda own: Gated(Told(own), Gate(2.0)),
    "told, guide": lambda own: guided(Told(own), Guide(patience=0.0)),
    "pooled lengthscales": lambda own: guided(Pooled(own.utility, own.model), Guide()),
    "pooled, alone": lambda own: Gated(Pooled(own.utility, own.model), Gate(2.0)),
    "by parameter": lambda own: guided(own, FactorGuide(patience=0.0)),
    "by parameter, borrowing": lambda own: Visiting(guided(own, Clean(FactorGuide(patience=0.0)))),
}
METHODS = CHOSEN | TRIED


@dataclass(frozen=True)
class Job:
    world: str
    sites: int
    method: str
    seed: int


def work(job: Job) -> Row:
    problems = problems_of(job.world, job.sites, job.seed)
    initial, total = lengths_of(job.world, problems)
    case = begin(problems, initial, total - initial, job.seed, Bayesian())
    with one_thread():
        designs = run(case, job.method)
    ran = [np.vstack(pair) for pair in zip(case.first, designs, strict=True)]
    curves = np.array([curve(problem, X) for problem, X in zip(problems, ran, strict=True)])
    arrivals = [int(np.argmax(c >= 0.95)) + 1 if c[-1] >= 0.95 else len(c) + 1 for c in curves]
    measures = {"area": curves.mean(), "final": curves[:, -1].mean(), "arrival": np.mean(arrivals)}
    return {name: round(float(value), 5) for name, value in measures.items()}


def run(case: Case, method: str) -> Array:
    if method == "others' best first":
        return OthersBest()(case)
    make = METHODS[method]
    study = study_of(case, "identity" if make is None else "uniform", shares_best=make is not None)
    ledger = Ledger(study)
    strategy = Gated(case.strategy, Gate(2.0)) if make is None else make(case.strategy)
    return executed(case, rounds(case, study, ledger, strategy, ledger))


def table(measure: str, methods: Iterable[str]) -> Table:
    """A measure of working alone, and what the methods have above it, paired by seeds."""
    rows, lines = kept(PATH, FIELDS), []
    shown = ["alone", *(m for m in methods if m != "alone" and any(key[2] == m for key in rows))]
    for world, sites in product(WORLDS, SITES):
        line = [f"{world} K={sites}"]
        for method in shown:
            both = [s for s in SEEDS if (world, sites, method, s) in rows and (world, sites, "alone", s) in rows]
            ours, base = ([rows[world, sites, m, s].get(measure, np.nan) for s in both] for m in (method, "alone"))
            if len(both) < 2 or np.isnan([*ours, *base]).any():
                line.append("")
                continue
            pair = paired(ours, base)
            line.append(f"{np.mean(base):.3f}" if method == "alone" else f"{pair.difference:+.3f} ± {pair.margin:.3f}")
        if any(line[2:]):
            lines.append(tuple(line))
    note = f"{len(SEEDS)} tuning seeds, fewer with 5 and 10 sites; ± is half of the 95 % interval."
    return Table(f"{measure}, minus alone", ("", *shown), tuple(lines), (note,))


def summary(measure: str, methods: Iterable[str]) -> Table:
    """Means over the worlds of a group, on the seeds that all of them have."""
    rows, lines = kept(PATH, FIELDS), []
    shown = [m for m in methods if m != "alone"]
    for (group, worlds), sites in product(GROUPS.items(), SITES):
        line = [f"{group} K={sites}"]
        for method in shown:
            keys = [(world, sites, m) for world in worlds for m in (method, "alone")]
            both = [s for s in SEEDS if all((*key, s) in rows for key in keys)]
            pair = None
            if len(both) > 1:
                ours, base = (
                    [np.mean([rows[w, sites, m, s][measure] for w in worlds]) for s in both] for m in (method, "alone")
                )
                pair = paired(ours, base)
            line.append("" if pair is None else f"{pair.difference:+.3f} ± {pair.margin:.3f}")
        if any(line[1:]):
            lines.append(tuple(line))
    note = f"Means over worlds; up to {len(SEEDS)} tuning seeds; ± is half of the 95 % interval."
    return Table(f"{measure}, minus alone, in short", ("", *shown), tuple(lines), (note,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--tried", action="store_true", help="what was not chosen")
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--world", action="append")
    parser.add_argument("--sites", type=int, action="append")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    options = parser.parse_args()
    methods = list(options.method or (TRIED if options.tried else CHOSEN))
    if not options.show:
        wanted = [
            Job(w, K, m, s)
            for s in SEEDS[: options.seeds]
            for w, K, m in product(options.world or WORLDS, options.sites or (2, 3, 5), methods)
        ]
        complete(PATH, wanted, work)
    measures = ("area", "final", "arrival")
    print(write([*(summary(m, methods) for m in measures[:2]), *(table(m, methods) for m in measures)], Writing.TEXT))


if __name__ == "__main__":
    main()
