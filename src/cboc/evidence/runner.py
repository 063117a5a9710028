"""Runs jobs on any engine, and saves every row as soon as it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cboc.evidence.engines import Engine
from cboc.evidence.job import Job
from cboc.evidence.results import EDITION, J, R, Results
from cboc.evidence.scenario import Scenario

Work = Callable[[J], tuple[dict[str, Any], float]]  # a job -> its row as JSON, and the CPU seconds it took


def jobs_of(
    scenarios: Iterable[Scenario], methods: Iterable[str], surrogates: Iterable[str], seeds: Iterable[int]
) -> list[Job]:
    """All jobs, seed by seed, to give an unfinished run every method on the same seeds; big ones first."""
    scenarios, methods, surrogates = list(scenarios), list(methods), list(surrogates)
    every = [
        Job(scenario, surrogate, method, seed)
        for seed in seeds
        for scenario in scenarios
        for surrogate in surrogates
        for method in methods
    ]
    return sorted(dict.fromkeys(every), key=lambda job: (job.seed, -job.size))


def run(
    work: Work[J],
    jobs: Sequence[J],
    results: Results[J, R],
    engine: Engine,
    on_row: Callable[[J], None] = lambda _: None,
) -> list[R]:
    """Run the jobs that have no row yet, and return the rows of all."""
    if results.missing(jobs) or (results.edition == EDITION and not results.is_in_order):
        with results.writing():
            for job, (row, cpu) in engine(work, results.missing(jobs)):
                results.add(job, row, cpu)
                on_row(job)
    return [results.rows[job] for job in jobs]
