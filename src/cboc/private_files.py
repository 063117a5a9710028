"""Files with outcomes or secrets: what is made here is for its owner alone, by the mode 0600.

Every writer of such files uses one of these. A file that is there already keeps its mode, since somebody may have
chosen it: who writes results into a folder of a group goes on doing so. Where permissions are not those of POSIX, as on
Windows, a new file has those of its folder.
"""

from __future__ import annotations

import os
from pathlib import Path

MODE = 0o600


def for_owner(path: str, flags: int) -> int:
    """Open a file for `open(path, "w", opener=for_owner)`: if it is made by this, only its owner may read it."""
    return os.open(path, flags, MODE)


def make(path: Path) -> None:
    """Make an empty file; raises FileExistsError if there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))


def write_text(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write a text to a file, in place of what was in it."""
    with open(path, "w", encoding=encoding, opener=for_owner) as file:
        file.write(text)
