"""One site that runs plates of eight, against BoTorch's sequential-greedy qLogEI, from the same initial points.

    python benchmarks/plates.py               seeds 0-19 of six problems: area per plate, paired, and CPU per plate
    python benchmarks/plates.py --tune        ways to fill a plate, on the tuning seeds 1000-1003, q = 4, 8, 24, 96
    python benchmarks/plates.py --large       the CPU of one plate of 96 with six parameters and 60 results
    python benchmarks/plates.py --quick       two seeds of the 2-D problems, results not kept

5 D random designs, then 20 D experiments in plates (40 D with more than eight wells). Results are appended to
benchmarks/results/ as they come, and what is there is not run again: delete the file to start anew.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from cboc import Dataset, Ledger, Policy, Site, Study
from cboc.problems.synthetic import problem as named
from cboc.runs.metrics import paired
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.opinion import Strategy
from cboc.utility.thompson import Thompson
from fillings import Alternating, Crowded, Exploring, believing

PROBLEMS = ("levy-2", "branin", "shekel-10", "levy-4", "ackley-5", "hartmann-6")
REPORTED, TUNING = range(20), range(1000, 1004)
RESULTS = Path(__file__).parent / "results"
WELLS = 8
FILLINGS: dict[str, Callable[[], Strategy]] = {
    "believers": lambda: Bayesian(utility=believing),
    "batch LogEI": Bayesian,  # the default
    "batch LogEI, Thompson from 25th": Crowded,
    "exploring": Exploring,
    "alternating": Alternating,
    "Thompson": lambda: Bayesian(utility=Thompson.on),
    "Thompson from 9th": lambda: Crowded(utility=believing, after=8),
    "Thompson from 17th": lambda: Crowded(utility=believing, after=16),
    "Thompson from 25th": lambda: Crowded(utility=believing, after=24),
}
Task = tuple[str, str, int, int]  # optimiser, problem, wells, seed


def run(task: Task) -> dict[str, object]:
    """One optimiser on one problem from one seed, with plates."""
    optimiser, name, wells, seed = task
    started = time.process_time()
    problem = named(name)
    D = problem.space.dimension
    X0 = np.random.default_rng(seed).random((5 * D, D))
    plates = -(-(20 if wells <= WELLS else 40) * D // wells)
    if optimiser == "botorch":
        y = botorch(name, X0, seed, wells, plates)
    else:
        y = ours(name, X0, seed, wells, plates, FILLINGS[optimiser]())
    best = np.minimum.accumulate(y)[len(X0) - 1 :: wells]
    gap = (best[0] - best) / (best[0] - problem.optimum)
    cpu = (time.process_time() - started) / plates
    row = {"optimiser": optimiser, "problem": name, "wells": wells, "seed": seed, "cpu": round(cpu, 4)}
    return row | {"gap": [round(float(g), 6) for g in gap]}


def ours(name: str, X0: np.ndarray, seed: int, wells: int, plates: int, strategy: Strategy) -> np.ndarray:
    problem = named(name)
    study = Study(problem.space, ("alone",), wells * plates, rule="identity")
    data = Dataset(X0, problem.values(X0), direction="minimise")
    site = Site(study, "alone", Ledger(study), direction="minimise", data=data, policy=Policy(strategy, seed=seed))
    for _ in range(plates):
        for trial in site.ask(wells):
            site.tell(trial, problem(trial.design(problem.space)))
    return site.dataset.y


def botorch(name: str, X0: np.ndarray, seed: int, wells: int, plates: int) -> np.ndarray:
    import torch

    import peer

    problem = named(name)
    torch.manual_seed(seed)
    np.random.seed(seed)
    X, y = X0, -problem.values(X0)
    for _ in range(plates):
        plate = peer.plate(X, y, wells)
        X, y = np.vstack([X, plate]), np.append(y, -problem.values(plate))
    return -y


def finished(path: Path) -> Iterator[dict[str, object]]:
    if path.exists():
        yield from (json.loads(line) for line in path.read_text().splitlines() if line.endswith("}"))


def complete(tasks: list[Task], path: Path | None, workers: int) -> list[dict[str, object]]:
    """The rows of all tasks, running those that are not in the file yet."""
    rows = {(r["optimiser"], r["problem"], r["wells"], r["seed"]): r for r in (finished(path) if path else ())}
    todo = [task for task in tasks if task not in rows]
    with ProcessPoolExecutor(workers) as pool:
        for number, (task, row) in enumerate(zip(todo, pool.map(run, todo), strict=True), start=1):
            print(f"\r{number} of {len(todo)} runs ({row['optimiser']}, {row['problem']})    ", end="", flush=True)
            rows[task] = row
            if path:
                path.parent.mkdir(exist_ok=True)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print("\r" + " " * 70 + "\r", end="")
    return [rows[task] for task in tasks]


def report(rows: list[dict[str, object]], reference: str) -> None:
    """Areas per plate, paired with the reference; CPU seconds per plate, and how many times less."""
    curves = {(r["optimiser"], r["problem"], r["wells"], r["seed"]): np.array(r["gap"]) for r in rows}
    cpu = {(r["optimiser"], r["problem"], r["wells"], r["seed"]): float(str(r["cpu"])) for r in rows}
    seeds = sorted({seed for *_, seed in curves})
    for wells in sorted({wells for _, _, wells, _ in curves}):
        for optimiser in dict.fromkeys(o for o, _, w, _ in curves if o != reference and w == wells):
            print(f"\n{optimiser} against {reference}, plates of {wells}, {len(seeds)} seeds")
            print(f"{'problem':12} {'area':>8} {'theirs':>8} {'difference':>11} {'s.e.':>7} {'CPU':>7} {'ratio':>7}")
            for name in dict.fromkeys(p for _, p, w, _ in curves if w == wells):
                mine = np.array([curves[optimiser, name, wells, seed][1:].mean() for seed in seeds])
                theirs = np.array([curves[reference, name, wells, seed][1:].mean() for seed in seeds])
                pair = paired(mine, theirs)
                ours = np.mean([cpu[optimiser, name, wells, seed] for seed in seeds])
                ratio = np.mean([cpu[reference, name, wells, seed] for seed in seeds]) / ours
                means = f"{mine.mean():8.4f} {theirs.mean():8.4f}"
                print(f"{name:12} {means} {pair.difference:+11.4f} {pair.error:7.4f} {ours:7.3f} {ratio:7.1f}")


def large() -> None:
    """One plate of 96 in six dimensions, CPU seconds."""
    problem = named("hartmann-6")
    X = np.random.default_rng(0).random((60, 6))
    for name, strategy in FILLINGS.items():
        study = Study(problem.space, ("alone",), 96, rule="identity")
        data = Dataset(X, problem.values(X), direction="minimise")
        site = Site(study, "alone", Ledger(study), direction="minimise", data=data, policy=Policy(strategy()))
        started = time.process_time()
        plate = site.ask(96)
        nearest = min(float(np.linalg.norm(a.x - b.x)) for i, a in enumerate(plate) for b in plate[:i])
        print(f"{name:12} {time.process_time() - started:6.2f} s, nearest two wells {nearest:.4f} apart")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tune", action="store_true", help="compare ways to fill a plate on the tuning seeds")
    parser.add_argument("--large", action="store_true", help="the CPU of a plate of 96")
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.large:
        large()
        return
    problems = PROBLEMS[:2] if options.quick else PROBLEMS
    if options.tune:
        plan = [
            (filling, name, wells, seed)
            for seed in TUNING
            for wells in (4, 8, 24, 96)
            for filling in FILLINGS
            for name in problems
        ]
        report(complete(plan, RESULTS / "plates-tuning.jsonl", options.workers), "believers")
        return
    seeds = range(2) if options.quick else REPORTED
    plan = [
        (optimiser, name, WELLS, seed)
        for seed in seeds
        for optimiser in ("batch LogEI", "botorch")
        for name in problems
    ]
    report(complete(plan, None if options.quick else RESULTS / "plates.jsonl", options.workers), "botorch")


if __name__ == "__main__":
    main()
