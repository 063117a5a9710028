"""The demonstration: several sites with related problems, together against alone on the same seeds.

The common problem is Levy's function. Its optimum lies near the centre of the box, which an average of designs finds by
itself; so in every seed it is moved to a random place, and each site then sees its own version of it (Sec. 5.1).

Four dimensions are a choice: in two, a site alone is nearly done after 20 rounds, and six sites of displaced Levy-2
with the same defaults showed no clear difference when it was tried (area under the curve +0.01 ± 0.02 over 6 seeds).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.exchange.study import Study
from cboc.problems.problem import Problem
from cboc.problems.synthetic import levy
from cboc.runs.metrics import after, area, gap_curves, lead, paired, rounds_to
from cboc.runs.simulation import simulate
from cboc.runs.workers import Report, run_all
from cboc.site.policy import Policy

Row = Mapping[str, Any]

DIMENSION = 4
SITES = 6
ROUNDS = 20
GOAL = 0.8  # the Gap that counts as a good design
REACH = 0.7  # the common optimum lies in the inner 70 % of the box, to keep the sites' optima inside too
SETTING = f"{SITES} sites, displaced Levy-{DIMENSION}"


def displaced_sites(rng: np.random.Generator) -> list[Problem]:
    """f_k(x) = a1 f(x + d + a3) + a2: d is common to the sites, a1 ~ U(0.5, 1), a2 and a3 ~ N(0, 1) are their own."""
    common = levy(DIMENSION)
    optimum = REACH * rng.uniform(-10.0, 10.0, DIMENSION)
    d = 1.0 - optimum  # f's own optimum is at 1

    def site(a1: float, a2: float, a3: float) -> Problem:
        is_inside = bool((np.abs(optimum - a3) <= 10.0).all())
        return Problem(
            f"displaced {common.name}",
            common.space,
            lambda X: a1 * common.function(X + d + a3) + a2,
            known_optimum=a2 if is_inside else None,
        )

    return [site(rng.uniform(0.5, 1.0), rng.standard_normal(), rng.standard_normal()) for _ in range(SITES)]


@dataclass(frozen=True)
class Race:
    """One seed of the demonstration: a job for a worker."""

    seed: int
    rule: str


def race(job: Race, report: Report) -> Array:  # (K, T + 1)
    """The Gap of every site after every round."""
    problems = displaced_sites(np.random.default_rng(job.seed))
    names = [f"site {k + 1}" for k in range(SITES)]
    study = Study(problems[0].space, tuple(names), ROUNDS, rule=job.rule)
    experiments = dict(zip(names, problems, strict=True))
    history = simulate(study, experiments, direction="minimise", policy=Policy(seed=job.seed), on_trial=report)
    curves = gap_curves([history], {name: problem.optimum for name, problem in experiments.items()})
    return curves.reshape(SITES, -1)


def experiments(seeds: int) -> int:
    """The number of experiments in the demonstration."""
    return 2 * seeds * SITES * (Policy().begins_with(DIMENSION) + ROUNDS)


def race_all(seeds: int, on_trial: Callable[[], None] = lambda: None) -> tuple[Array, Array]:  # each (seeds, K, T + 1)
    """The Gap curves of all seeds, together (with the library's defaults) and alone."""
    jobs = [Race(seed, rule) for seed in range(seeds) for rule in ("uniform", "identity")]
    curves = run_all(race, jobs, lambda *_: on_trial())
    return np.array(curves[::2]), np.array(curves[1::2])


MEASURES: dict[str, Callable[[Array], Array]] = {  # (seeds, K, T + 1) -> one number per seed
    "mean Gap after 25 % of the rounds": lambda curves: after(curves, 0.25).mean(axis=1),
    "mean Gap after 50 %": lambda curves: after(curves, 0.5).mean(axis=1),
    "mean Gap at the end": lambda curves: after(curves, 1.0).mean(axis=1),
    "area under the curve": lambda curves: area(curves).mean(axis=1),
    "Gap of the worst site at the end": lambda curves: after(curves, 1.0).min(axis=1),
    f"rounds to a Gap of {GOAL:g} ({ROUNDS} if never)": lambda curves: np.nan_to_num(
        rounds_to(curves, GOAL), nan=ROUNDS
    ).mean(axis=1),
}


def measures(together: Array, alone: Array) -> list[Row]:
    """A table of means over seeds, and the paired difference with its standard error."""
    rows: list[Row] = []
    for name, measure in MEASURES.items():
        ours, theirs = measure(together), measure(alone)
        pair = paired(ours, theirs)
        difference = f"{pair.difference:+.2f} ± {pair.error:.2f}" if len(ours) > 1 else f"{pair.difference:+.2f}"
        rows.append(
            {"": name, "together": f"{ours.mean():.2f}", "alone": f"{theirs.mean():.2f}", "difference": difference}
        )
    return rows


def finding(together: Array, alone: Array) -> str:
    """One sentence on the result: a gain, a loss or neither."""
    pair = paired(area(together).mean(axis=1), area(alone).mean(axis=1))
    if len(together) < 2:
        return f"One seed, which says little: area under the curve {pair.difference:+.2f} together"
    measured = f"area under the curve {pair.difference:+.2f} ± {pair.error:.2f}"
    if abs(pair.difference) < 2 * pair.error:
        return f"No clear difference between together and alone: {measured}"
    if pair.difference < 0:
        return f"Together did worse than alone: {measured}"
    ours, theirs = lead(together.mean(axis=(0, 1)), alone.mean(axis=(0, 1)))
    if ours < theirs:
        return f"Together, {ours:.0f} rounds were enough on average for what took {theirs:.0f} alone"
    return f"Together did better on the way, not at the end: {measured}"
