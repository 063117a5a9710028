"""One writer for a file at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from cboc.errors import CbocError

PATIENCE = 2.0  # seconds that a worker may outlive a killed parent
WRITING = "another process is writing {}; wait until it ends, or choose another place."


@contextmanager
def only_writer(path: Path, patience: float = PATIENCE, complaint: str = WRITING) -> Iterator[None]:
    """Lock a file against other writers inside the block; the lock ends with the process, in any case."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    deadline = monotonic() + patience
    with path.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if monotonic() > deadline:
                    raise CbocError(complaint.format(path)) from None
                sleep(0.05)
        yield
