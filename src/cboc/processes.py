"""Child processes: their environment, whether they receive Ctrl-C, and their end with the parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import Any

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
