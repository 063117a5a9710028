"""Processes of this machine, one for each core, with one thread and a steady arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from cboc.child_processes import ONE_THREAD, Say, WorkerLost, share_out
from cboc.evidence.engines.arithmetic import steady
from cboc.evidence.engines.attempts import PATIENCE, Call, Outcome, Outcomes, outcome_of


def attempt(workers: int, _address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """Run every call in a process; a lost process is replaced and its call left out."""
    lost = 0  # workers lost since the last result
    with closing(share_out(_outcome, list(calls.items()), workers, ONE_THREAD | steady())) as messages:
        for message in messages:
            if isinstance(message.error, WorkerLost):
                lost += 1
                yield message.error
                if lost == PATIENCE * workers:
                    return
            else:
                lost = 0
                yield message.result


def _outcome(item: tuple[int, Call], _: Say) -> Outcome:
    return outcome_of(*item)
