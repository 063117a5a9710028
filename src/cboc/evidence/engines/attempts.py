"""The jobs of a run, attempted until each has its result; an attempt may lose workers, and with them jobs."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TypeVar

from cboc.arrays import one_thread
from cboc.child_processes import sendable
from cboc.errors import CbocError

Job = TypeVar("Job")
Result = TypeVar("Result")

Call = bytes  # a pickled (work, job)
Outcome = bytes  # a pickled (number, result, error)
Outcomes = Generator[Outcome | Exception, None, None]  # an exception: a worker was lost
Attempt = Callable[[int, str | None, Mapping[int, Call]], Outcomes]  # (workers, address, calls); each engine is one

PATIENCE = 3  # most attempts in a row that finish no job


def until_done(
    name: str, attempt: Callable[[Mapping[int, Call]], Outcomes], work: Callable[[Job], Result], jobs: Sequence[Job]
) -> Iterator[tuple[Job, Result]]:
    """Yield each job with its result, as they complete; unfinished jobs are attempted again."""
    left = {number: pickle.dumps((work, job)) for number, job in enumerate(jobs)}
    in_vain = 0
    while left:
        before, failure = len(left), None
        with closing(attempt(left.copy())) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, Exception):
                    failure = outcome
                    continue
                number, result, error = pickle.loads(outcome)
                if error is not None:
                    raise error
                del left[number]
                yield jobs[number], result
        in_vain = 0 if len(left) < before else in_vain + 1
        if in_vain == PATIENCE:
            raise CbocError(
                f"the {name} engine lost its workers {PATIENCE} times in a row without a result "
                f"({sentence(failure)}); {len(left)} of {len(jobs)} jobs are left, and finished ones are kept."
            ) from failure
        left = dict(reversed(left.items()))  # a job that kills its workers then blocks fewer other jobs


def outcome_of(number: int, call: Call) -> Outcome:
    """Run a job in a worker: its result or its exception, in a form that can be sent back."""
    try:
        work, job = pickle.loads(call)
        with one_thread():
            return pickle.dumps((number, work(job), None))
    except Exception as error:
        return pickle.dumps((number, None, sendable(error)))


def sentence(failure: Exception | None) -> str:
    """A failure as text short enough for the brackets of a message."""
    lines = str(failure).strip().splitlines() or [""]
    return f"{type(failure).__name__}: {lines[0].rstrip('.')}"
