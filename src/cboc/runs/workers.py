"""Many simulations at once: a process for each core, one BLAS thread in each, and their trials as they come in.

Small matrices on many threads were measured five times slower than on one, so the threads are limited before a worker
loads NumPy. Workers end when their parent ends, however it ends.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from multiprocessing.queues import SimpleQueue
from typing import Any, TypeVar

from cboc.processes import ONE_THREAD, deaf_to_interrupts, environment, serve_parent
from cboc.site.trial import Trial

Job = TypeVar("Job")
Result = TypeVar("Result")
Report = Callable[[Trial], None]

POLL = 0.1  # seconds

_reports: SimpleQueue[tuple[int, Trial]] | None = None  # in a worker: the way back to its parent


def run_all(
    task: Callable[[Job, Report], Result],
    jobs: Sequence[Job],
    on_trial: Callable[[Job, Trial], None] = lambda *_: None,
) -> list[Result]:
    """Run `task` on every job and return the results in the order of the jobs; the first error ends them all."""
    if not jobs:
        return []
    context = multiprocessing.get_context("spawn")
    reports: SimpleQueue[tuple[int, Trial]] = context.SimpleQueue()
    size = min(os.cpu_count() or 1, len(jobs))
    with ProcessPoolExecutor(size, mp_context=context, initializer=_start, initargs=(reports,)) as pool:
        with environment(ONE_THREAD), deaf_to_interrupts():
            futures = [pool.submit(_work, task, number, job) for number, job in enumerate(jobs)]
        try:
            is_done = False
            while not is_done:
                done, others = wait(futures, timeout=POLL, return_when=FIRST_EXCEPTION)
                is_done = not others or any(future.exception() for future in done)
                while not reports.empty():
                    number, trial = reports.get()
                    on_trial(jobs[number], trial)
            return [future.result() for future in futures if future.done()]
        finally:
            if not all(future.done() for future in futures):
                _stop(pool)


def _stop(pool: ProcessPoolExecutor) -> None:
    for worker in multiprocessing.active_children():
        worker.terminate()
    pool.shutdown(wait=True, cancel_futures=True)


def _start(reports: SimpleQueue[tuple[int, Trial]]) -> None:
    """In a new worker: report to the parent."""
    global _reports
    _reports = reports
    serve_parent()


def _work(task: Callable[[Any, Report], Result], number: int, job: Any) -> Result:
    def report(trial: Trial) -> None:
        if _reports is not None:
            _reports.put((number, trial))

    return task(job, report)
