"""Runs jobs through joblib, which drives both clusters, each with its own backend."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cboc.evidence.engines.attempts import Call, Outcome, Outcomes, outcome_of

AT_LEAST_TWO = 2  # workers, or joblib leaves the cluster alone and runs the jobs in this process


def through_joblib(backend: Any, calls: Mapping[int, Call]) -> Outcomes:
    """Yield the outcomes as they complete; a failure of the cluster comes last."""
    import joblib

    try:
        parallel = joblib.Parallel(
            n_jobs=-1, backend=backend, batch_size=1, pre_dispatch="all", return_as="generator_unordered"
        )
        with _quietly_closed(parallel(joblib.delayed(outcome_of)(*item) for item in calls.items())) as outcomes:
            for outcome in outcomes:  # noqa: UP028 (`yield from` would close it, not so quietly)
                yield outcome
    except Exception as failure:  # a failure of the cluster; an exception in a job is an outcome
        yield failure


@contextmanager
def _quietly_closed(outcomes: Generator[Outcome, None, None]) -> Iterator[Generator[Outcome, None, None]]:
    """Close the outcomes without joblib's warning of unfinished jobs, which the caller knows about."""
    try:
        yield outcomes
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()
