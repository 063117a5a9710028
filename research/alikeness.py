"""How alike do problems have to be? The gain over working alone, against how far apart the sites' optima are.

    python research/alikeness.py            run what is missing in results/alikeness.jsonl, then the table
    python research/alikeness.py --show     the table alone; with --picture FILE, as a picture too

Ten sites, each with a1 f(x + a3) + a2 where a3 is drawn for every site and every dimension from N(0, s²), s a share of
the width of the box, and the common optimum at a random place; at the end, optima with nothing in common. Sixty rounds,
the default surrogate. `docs/draw.py` makes the picture of docs/should-we-collaborate.md from it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from cboc.cli.progress_bar import bar
from cboc.evidence.case import begin
from cboc.evidence.engines import engine
from cboc.evidence.figures.look import look
from cboc.evidence.job import Job, measure
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.scenario import INITIAL, Scenario
from cboc.plots import style
from cboc.problems.problem import Problem, heterogeneous
from cboc.problems.sites import displaced, unrelated
from cboc.problems.synthetic import problem
from cboc.runs.metrics import Paired, paired
from cboc.strategy.bayesian import Bayesian

RESULTS = Path(__file__).parent / "results" / "alikeness.jsonl"
SEEDS = range(10)
SITES, ROUNDS = 10, 60
PROBLEMS = ("levy-4", "ackley-4")
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, inf)  # s; at last, nothing in common
COMPARED = ("individual", "cboc-u", "cboc")


@dataclass(frozen=True)
class Task:
    problem: str
    share: float
    method: str
    seed: int


def problems(task: Task) -> list[Problem]:
    """Every site's version; the same for every method, and the same common optimum for every share."""
    rng = np.random.default_rng([task.seed, 0])
    published = problem(task.problem)
    if task.share == inf:
        return unrelated(published, SITES, rng)
    common = displaced(published, rng)
    scales, offsets, _ = common.heterogeneity.draw(SITES, rng).T.tolist()
    width = common.box[1] - common.box[0]
    shifts = task.share * width * rng.standard_normal((SITES, len(width)))
    sites = [heterogeneous(common, a1, a2, a3) for a1, a2, a3 in zip(scales, offsets, shifts, strict=True)]
    return [replace(site, name=f"{site.name}#{k}") for k, site in enumerate(sites)]


def work(task: Task) -> dict[str, Any]:
    sites = problems(task)
    case = begin(sites, INITIAL * sites[0].space.dimension, ROUNDS, task.seed, Bayesian())
    ran = METHODS[task.method](case)
    job = Job(Scenario(task.problem, SITES, rounds=ROUNDS), "default", task.method, task.seed)
    row = measure(job, case, ran)
    share = None if task.share == inf else task.share
    return {
        "problem": task.problem,
        "share": share,
        "method": task.method,
        "seed": task.seed,
        "area": list(row.area),
        "final": list(row.final),
    }


def kept() -> Iterator[dict[str, Any]]:
    if RESULTS.exists():
        yield from (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())


def done() -> dict[Task, dict[str, Any]]:
    return {
        Task(row["problem"], inf if row["share"] is None else row["share"], row["method"], row["seed"]): row
        for row in kept()
    }


def table() -> None:
    rows = done()
    for name in PROBLEMS:
        print(f"\n{name}: area and final Gap minus alone, {SITES} sites, {ROUNDS} rounds, 95 % intervals")
        print("optima apart".ljust(16) + "".join(method.rjust(40) for method in COMPARED[1:]))
        for share in SHARES:
            line = _named(share).ljust(16)
            for method in COMPARED[1:]:
                line += "  ".join(_signed(gain(rows, name, share, method, what)) for what in ("area", "final")).rjust(
                    40
                )
            print(line)


def gain(rows: dict[Task, dict[str, Any]], name: str, share: float, method: str, what: str) -> Paired | None:
    """Over working alone on the same seeds; None with fewer than two."""
    pairs = [(Task(name, share, method, seed), Task(name, share, "individual", seed)) for seed in SEEDS]
    means = [[np.mean(rows[task][what]) for task in pair] for pair in pairs if set(pair) <= rows.keys()]
    return paired(*np.array(means).T) if len(means) > 1 else None


def _named(share: float) -> str:
    return "anywhere" if share == inf else f"{100 * share:g} % of box"


def _signed(pair: Paired | None) -> str:
    return "-" if pair is None else f"{pair.difference:+.3f} ± {pair.margin:.3f}"


def picture() -> Any:
    """A panel for each problem: the gain in area against how far apart the optima are."""
    rows = done()
    fig, axes = style.figure(3.6, 1, len(PROBLEMS), sharey=True)
    for ax, name in zip(axes[0], PROBLEMS, strict=True):
        for method in COMPARED[1:]:
            pairs = [gain(rows, name, share, method, "area") for share in SHARES]
            known = [(k, pair.difference, pair.margin) for k, pair in enumerate(pairs) if pair is not None]
            if known:
                x, y, margin = np.array(known).T
                mark = {"color": look(method).colour, "marker": look(method).marker, "capsize": 3, "linewidth": 2.0}
                ax.errorbar(x, y, margin, **mark)
        ax.axhline(0.0, color=style.INK, linewidth=1.0)
        ax.set_xticks(range(len(SHARES)), [f"{100 * s:g} %" if s < inf else "any" for s in SHARES])
        style.title(ax, name)
        style.axis_labels(ax, "spread of the sites' optima, % of the box's width")
    style.axis_labels(axes[0][0], axes[0][0].get_xlabel(), "area, minus Individual's")
    style.legend(
        fig, [{"color": look(m).colour, "marker": look(m).marker, "label": look(m).name} for m in COMPARED[1:]]
    )
    note = (
        f"{SITES} sites, {ROUNDS} rounds; bars: 95 % intervals over {len(SEEDS)} seeds; above zero: better than alone"
    )
    fig.supxlabel(note, fontsize=style.SMALL, color=style.INK)
    return fig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--picture", type=Path, help="write it there")
    parser.add_argument("--workers", type=int, help="processes")
    asked = parser.parse_args()
    if not asked.show:
        every = [Task(p, s, m, seed) for seed in SEEDS for p in PROBLEMS for s in SHARES for m in COMPARED]
        have = done()
        tasks = [task for task in every if task not in have]
        with bar(len(tasks)) as advance, RESULTS.open("a", encoding="utf-8") as file:
            for task, row in engine("local", asked.workers)(work, tasks):
                file.write(json.dumps(row) + "\n")
                file.flush()
                advance(f"{task.problem}, {task.share}, {task.method}, seed {task.seed}", 1)
    table()
    if asked.picture:
        picture().savefig(asked.picture, dpi=200)


if __name__ == "__main__":
    main()
