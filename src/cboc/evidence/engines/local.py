"""Processes of this machine, one for each core, with one thread and a steady arithmetic."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from cboc.evidence.engines.arithmetic import steady
from cboc.evidence.engines.attempts import PATIENCE, Call, Outcome, Outcomes, outcome_of
from cboc.processes import ONE_THREAD, deaf_to_interrupts, environment, serve_parent


class WorkerLost(Exception):
    """A process of this machine ended before its job did."""


def attempt(workers: int, _address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """Give every worker a job, and the next one when it is done; a lost worker is replaced and its job left out."""
    queue = iter(calls.items())
    team: dict[Connection, BaseProcess] = {}
    lost = 0  # workers lost since the last result
    try:
        for item in islice(queue, workers):
            _hand(item, _employ(team))
        while team:
            for connection in wait(list(team)):
                assert isinstance(connection, Connection)
                outcome = _hear(connection, team)
                lost = lost + 1 if isinstance(outcome, WorkerLost) else 0
                if lost < PATIENCE * workers and (following := next(queue, None)):
                    _hand(following, connection if connection in team else _employ(team))
                elif connection in team:
                    _dismiss(connection, team)
                yield outcome
    finally:
        for connection in list(team):
            _dismiss(connection, team)


def _hand(item: tuple[int, Call], connection: Connection) -> None:
    with suppress(OSError):  # the worker was just lost, which the next pass will notice
        connection.send(item)


def _hear(connection: Connection, team: dict[Connection, BaseProcess]) -> Outcome | Exception:
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return WorkerLost(_dismiss(connection, team))


def _employ(team: dict[Connection, BaseProcess]) -> Connection:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with environment(ONE_THREAD | steady()), deaf_to_interrupts():
        process.start()
    theirs.close()
    team[ours] = process
    return ours


def _dismiss(connection: Connection, team: dict[Connection, BaseProcess]) -> str:
    """End a worker at once, if it has not ended by itself, and report how it ended."""
    process = team.pop(connection)
    connection.close()
    process.kill()
    process.join()
    code = process.exitcode or 0
    return f"a process was ended by {signal.Signals(-code).name}" if code < 0 else f"a process left with code {code}"


def _serve(connection: Connection) -> None:
    """Run one job after the other, in a new worker."""
    serve_parent()
    with suppress(EOFError, OSError):
        while True:
            connection.send_bytes(outcome_of(*connection.recv()))
