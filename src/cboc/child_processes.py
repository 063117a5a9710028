"""Child processes: workers that share out a list of tasks, and programs with all of their children.

Children leave Ctrl-C to the parent, and end when it ends, however it ends. Small matrices on many threads were measured
five times slower than on one, so a worker's threads are limited before it loads NumPy.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from cboc.errors import CbocError

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

# Reads the number of a process group, waits until its writer has ended, even by a kill, and then kills the group.
WATCH = "import os, sys; group = sys.stdin.readline(); sys.stdin.read(); group and os.killpg(int(group), 9)"


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the processes that start inside the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Threads and processes started inside the block leave Ctrl-C to this one, which receives it right after."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve_parent() -> None:
    """Make a new worker leave Ctrl-C and standard output to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class WorkerLost(Exception):
    """A worker ended before its task did."""


class Message(NamedTuple):
    """What a worker said about a task: a report, or at the end its result or an error."""

    task: int
    report: Any = None
    is_last: bool = False
    result: Any = None
    error: Exception | None = None


Say = Callable[[Any], None]


def share_out(
    work: Callable[[Any, Say], Any], tasks: Sequence[Any], workers: int, variables: Mapping[str, str] = ONE_THREAD
) -> Generator[Message, None, None]:
    """Let workers run `work(task, say)` on every task, and yield what they say; the last message has the result.

    A lost worker is replaced, and its task has ended with `WorkerLost`. Workers are killed when the generator closes.
    """
    waiting = iter(enumerate(tasks))
    team: dict[Connection, tuple[BaseProcess, int]] = {}
    try:
        for number, task in islice(waiting, workers):
            _hand((work, task), _employ(number, team, variables))
        while team:
            for connection in wait(list(team)):
                assert isinstance(connection, Connection)
                message = _hear(connection, team)
                if message.is_last and (following := next(waiting, None)) is not None:
                    number, task = following
                    if connection in team:
                        team[connection] = (team[connection][0], number)
                    else:
                        connection = _employ(number, team, variables)
                    _hand((work, task), connection)
                elif message.is_last and connection in team:
                    _dismiss(connection, team)
                yield message
    finally:
        for connection in list(team):
            _dismiss(connection, team)


def _hand(order: tuple[Callable[[Any, Say], Any], Any], connection: Connection) -> None:
    with suppress(OSError):  # the worker was just lost, which the next pass will notice
        connection.send_bytes(pickle.dumps(order))


def _hear(connection: Connection, team: dict[Connection, tuple[BaseProcess, int]]) -> Message:
    number = team[connection][1]
    try:
        return Message(number, *connection.recv())
    except (EOFError, OSError):
        return Message(number, is_last=True, error=WorkerLost(_dismiss(connection, team)))


def _employ(number: int, team: dict[Connection, tuple[BaseProcess, int]], variables: Mapping[str, str]) -> Connection:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with environment(variables), deaf_to_interrupts():
        process.start()
    theirs.close()
    team[ours] = (process, number)
    return ours


def _dismiss(connection: Connection, team: dict[Connection, tuple[BaseProcess, int]]) -> str:
    """End a worker at once, if it has not ended by itself, and report how it ended."""
    process, _ = team.pop(connection)
    connection.close()
    process.kill()
    process.join()
    code = process.exitcode or 0
    return f"a process was ended by {signal.Signals(-code).name}" if code < 0 else f"a process exited with code {code}"


def _serve(connection: Connection) -> None:
    """Run one task after the other, in a new worker."""
    serve_parent()
    with suppress(EOFError, OSError):
        while True:
            order = connection.recv_bytes()
            try:
                work, task = pickle.loads(order)
                last = (None, True, work(task, lambda report: connection.send((report,))), None)
                content = pickle.dumps(last)
            except Exception as error:
                content = pickle.dumps((None, True, None, sendable(error)))
            connection.send_bytes(content)


def sendable(error: Exception) -> Exception:
    """An error, with its traceback as a note, in a form that survives the way to another process."""
    if not isinstance(error, CbocError):
        error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(traceback.format_exception_only(error)[0].strip())
    return error


@contextmanager
def group(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process; it and all its children are killed after the block, or when this process ends in any way."""
    with _watcher() as watch, subprocess.Popen(command, start_new_session=True, **options) as process:
        try:
            watch(process.pid)
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if not hasattr(os, "killpg"):  # Windows: the process alone
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):  # the group has already ended
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _watcher() -> Iterator[Callable[[int], None]]:
    """A process that outlives this one just long enough to kill a group."""
    if not hasattr(os, "killpg"):
        yield lambda _: None
        return
    command, silent = [sys.executable, "-I", "-S", "-c", WATCH], subprocess.DEVNULL
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=silent, stderr=silent, start_new_session=True) as process:

        def watch(group: int) -> None:
            os.write(process.stdin.fileno(), b"%d\n" % group)  # type: ignore[union-attr]

        try:
            yield watch
        finally:
            process.kill()
