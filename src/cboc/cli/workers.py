"""Many simulations at once: a process for each core, one BLAS thread in each, and their trials as they come in.

Small matrices on many threads were measured five times slower than on one, so the threads are limited before a worker
loads NumPy. Workers end with their parent, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for
from multiprocessing.queues import SimpleQueue
from typing import Any, TypeVar

from cboc.trial import Trial

Job = TypeVar("Job")
Result = TypeVar("Result")
Report = Callable[[Trial], None]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
POLL = 0.1  # seconds

_reports: SimpleQueue[tuple[int, Trial]] | None = None  # in a worker: the way back to its parent


def run_all(
    task: Callable[[Job, Report], Result],
    jobs: Sequence[Job],
    on_trial: Callable[[Job, Trial], None] = lambda *_: None,
) -> list[Result]:
    """`task` of every job, in the order of the jobs; the first error ends them all."""
    if not jobs:
        return []
    context = multiprocessing.get_context("spawn")
    reports: SimpleQueue[tuple[int, Trial]] = context.SimpleQueue()
    size = min(os.cpu_count() or 1, len(jobs))
    with ProcessPoolExecutor(size, mp_context=context, initializer=_start, initargs=(reports,)) as pool:
        with _one_thread(), _deaf_to_interrupts():
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
    """In a new worker: report to the parent, keep its standard output clean, and do not outlive it."""
    global _reports
    _reports = reports
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _work(task: Callable[[Any, Report], Result], number: int, job: Any) -> Result:
    def report(trial: Trial) -> None:
        if _reports is not None:
            _reports.put((number, trial))

    return task(job, report)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that start meanwhile use one BLAS thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that start meanwhile leave Ctrl-C to their parent, which then ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
