"""One site alone against BoTorch's own loop (SingleTaskGP, LogEI), from the same initial points.

    python benchmarks/solo.py                 the reported seeds 0-19: final Gap and area under the Gap curve, paired
    python benchmarks/solo.py --tune          the tuning seeds 1000-1007: the variants from which the default was chosen
    python benchmarks/solo.py --lengthscales  seeds 20-39: our prior of lengthscales against BoTorch's
    python benchmarks/solo.py --quick         two seeds of the 2-D problems, results not kept

Results are appended to benchmarks/results/ as they come, and what is there is not run again: delete the file to start
anew.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from cboc import Dataset, Ledger, Policy, Site, Study
from cboc.problems.synthetic import problem as named
from cboc.runs.metrics import paired
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.opinion import Strategy
from cboc.surrogate.fitting import Model
from cboc.surrogate.kernels import squared_exponential
from cboc.surrogate.priors import LogNormal, dimension_scaled
from cboc.surrogate.transforms import standardised

PROBLEMS = ("levy-2", "branin", "shekel-10", "levy-4", "ackley-5", "hartmann-6")
REPORTED = range(20)
FRESH = range(20, 40)
TUNING = range(1000, 1008)
THEIR_PRIOR = "BoTorch's lengthscale prior"
RESULTS = Path(__file__).parent / "results"

EARLIER = Model(lengthscale=dimension_scaled)  # the prior of lengthscales with which the rest was chosen


def model(**changed: object) -> Callable[[], Strategy]:
    return lambda: Bayesian(model=replace(EARLIER, **changed))


VARIANTS: dict[str, Callable[[], Strategy]] = {
    "cboc": Bayesian,
    THEIR_PRIOR: model(),
    "squared exponential": model(kernel=squared_exponential),
    "no compression": model(transform=standardised),
    "learned signal": model(outputscale=LogNormal(0.0, 1.0)),
    "BoTorch's noise prior": model(noise=LogNormal(-4.0, 1.0), noise_floor=1e-4),
    "BoTorch's model": model(
        kernel=squared_exponential, transform=standardised, noise=LogNormal(-4.0, 1.0), noise_floor=1e-4
    ),
}


def run(task: tuple[str, str, int]) -> dict[str, object]:
    """One optimiser on one problem from one seed: 5D random designs, then 20D experiments."""
    optimiser, name, seed = task
    started = time.process_time()
    D = named(name).space.dimension
    X0 = np.random.default_rng(seed).random((5 * D, D))
    y = botorch(name, X0, seed) if optimiser == "botorch" else ours(name, X0, seed, VARIANTS[optimiser]())
    best = np.minimum.accumulate(y)[len(X0) - 1 :]
    gap = (best[0] - best) / (best[0] - named(name).optimum)
    row = {"optimiser": optimiser, "problem": name, "seed": seed, "cpu": round(time.process_time() - started, 2)}
    return row | {"gap": [round(float(g), 6) for g in gap]}


def ours(name: str, X0: np.ndarray, seed: int, strategy: Strategy) -> np.ndarray:
    problem = named(name)
    horizon = 20 * problem.space.dimension
    study = Study(problem.space, ("alone",), horizon, rule="identity")
    data = Dataset(X0, problem.values(X0), direction="minimise")
    site = Site(study, "alone", Ledger(study), direction="minimise", data=data, policy=Policy(strategy, seed=seed))
    for _ in range(horizon):
        trial = site.ask()
        site.tell(trial, problem(trial.design(problem.space)))
    return site.dataset.y


def botorch(name: str, X0: np.ndarray, seed: int) -> np.ndarray:
    import torch

    import peer

    problem = named(name)
    torch.manual_seed(seed)
    np.random.seed(seed)
    X, y = X0, -problem.values(X0)
    for _ in range(20 * problem.space.dimension):
        x = peer.step(X, y)
        X, y = np.vstack([X, x]), np.append(y, -problem.values(x[None]))
    return -y


def finished(path: Path) -> Iterator[dict[str, object]]:
    if path.exists():
        yield from (json.loads(line) for line in path.read_text().splitlines() if line.endswith("}"))


def complete(tasks: list[tuple[str, str, int]], path: Path | None, workers: int) -> list[dict[str, object]]:
    """The rows of all tasks, running those that are not in the file yet."""
    rows = {(r["optimiser"], r["problem"], r["seed"]): r for r in (finished(path) if path else ())}
    todo = [task for task in tasks if task not in rows]
    with ProcessPoolExecutor(workers) as pool:
        for number, row in enumerate(pool.map(run, todo), start=1):
            print(f"\r{number} of {len(todo)} runs ({row['optimiser']}, {row['problem']})    ", end="", flush=True)
            rows[row["optimiser"], row["problem"], row["seed"]] = row
            if path:
                path.parent.mkdir(exist_ok=True)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print("\r" + " " * 70 + "\r", end="")
    return [rows[task] for task in tasks]


def report(rows: list[dict[str, object]], problems: tuple[str, ...], seeds: range, base: str = "botorch") -> None:
    """Paired differences to one optimiser, mean and standard error over the seeds."""
    name_of_base = "BoTorch" if base == "botorch" else base
    curves = {(r["optimiser"], r["problem"], r["seed"]): np.array(r["gap"]) for r in rows}
    measures: dict[str, Callable[[np.ndarray], float]] = {"final Gap": lambda g: g[-1], "area": lambda g: g.mean()}
    for optimiser in dict.fromkeys(r["optimiser"] for r in rows if r["optimiser"] != base):
        print(f"\n{optimiser} against {name_of_base}, {len(seeds)} seeds")
        print(f"{'problem':12} {'measure':10} {'ours':>8} {'theirs':>8} {'difference':>11} {'s.e.':>7}")
        below = above = 0
        for name in problems:
            for measure, value in measures.items():
                mine = np.array([value(curves[optimiser, name, seed]) for seed in seeds])
                theirs = np.array([value(curves[base, name, seed]) for seed in seeds])
                pair = paired(mine, theirs)
                low, high = pair.interval
                above, below = above + (low > 0.0), below + (high < 0.0)
                means = f"{mine.mean():8.4f} {theirs.mean():8.4f}"
                print(f"{name:12} {measure:10} {means} {pair.difference:+11.4f} {pair.error:7.4f}")
        print(f"95 % intervals of the difference: {above} of {2 * len(problems)} above zero, {below} below")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tune", action="store_true", help="compare the variants on the tuning seeds")
    parser.add_argument("--lengthscales", action="store_true", help="our prior of lengthscales against BoTorch's")
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    base = THEIR_PRIOR if options.lengthscales else "botorch"
    optimisers = [base, *(VARIANTS if options.tune else ["cboc"])]
    seeds = TUNING if options.tune else FRESH if options.lengthscales else range(2) if options.quick else REPORTED
    problems = PROBLEMS[:2] if options.quick else PROBLEMS
    path = None if options.quick else RESULTS / ("solo-tuning.jsonl" if options.tune else "solo.jsonl")
    tasks = [(optimiser, name, seed) for seed in seeds for optimiser in optimisers for name in problems]
    report(complete(tasks, path, options.workers), problems, seeds, base)


if __name__ == "__main__":
    main()
