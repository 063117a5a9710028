"""Files with outcomes or secrets: what is made here is for its owner alone, by the mode 0600.

Every writer of such files uses one of these. A file that is there already keeps its mode, since somebody may have
chosen it: who writes results into a folder of a group goes on doing so. Where permissions are not those of POSIX, as on
Windows, a new file has those of its folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

MODE = 0o600
OTHERS = 0o077  # what the owner's group and everybody else may do


def for_owner(path: str, flags: int) -> int:
    """Open a file for `open(path, "w", opener=for_owner)`: if it is made by this, only its owner may read it."""
    return os.open(path, flags, MODE)


def is_open_to_others(path: Path) -> bool:
    """Whether somebody other than its owner may read or change a file; never where permissions are not POSIX's."""
    return os.name == "posix" and bool(path.stat().st_mode & OTHERS)


def make(path: str | Path) -> None:
    """Make an empty file; raises FileExistsError if there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, in place of what was in it."""
    with open(path, "wb", opener=for_owner) as file:
        file.write(content)


def write_text(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write a text to a file, in place of what was in it."""
    with open(path, "w", encoding=encoding, opener=for_owner) as file:
        file.write(text)


@contextmanager
def appearing(path: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name only when all of it is on the disk; it takes the place, not the mode, of another."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
