"""Many simulations at once: a process for each core, and their trials as they come in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TypeVar

from cboc.child_processes import share_out
from cboc.site.trial import Trial

Job = TypeVar("Job")
Result = TypeVar("Result")
Report = Callable[[Trial], None]


def run_all(
    task: Callable[[Job, Report], Result],
    jobs: Sequence[Job],
    on_trial: Callable[[Job, Trial], None] = lambda *_: None,
) -> list[Result]:
    """Run `task` on every job and return the results in the order of the jobs; the first error ends them all."""
    results: dict[int, Result] = {}
    with closing(share_out(task, jobs, os.cpu_count() or 1)) as messages:
        for message in messages:
            if message.error is not None:
                raise message.error
            if message.is_last:
                results[message.task] = message.result
            else:
                on_trial(jobs[message.task], message.report)
    return [results[number] for number in range(len(jobs))]
