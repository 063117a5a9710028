"""One writer for a file at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from cboc.errors import CbocError

PATIENCE = 2.0  # seconds that a worker may outlive a killed parent


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Lock a file against other writers inside the block; the lock ends with the process, in any case."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    deadline = monotonic() + PATIENCE
    with path.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if monotonic() > deadline:
                    raise CbocError(
                        f"another process is writing {path}; wait until it ends, or choose another --out."
                    ) from None
                sleep(0.05)
        yield
