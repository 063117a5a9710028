"""Lines of JSON with checksums: that of a line is of all that stands before it in the file.

    {"format": 3, "study": {...}, "checksum": "5f0c..."}     sha256 of all bytes up to `, "checksum"` in this line

So a line that is not as it was written is found, and so is one that is missing, doubled or elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

BEGINS = b', "checksum": "'
ENDING = re.compile(re.escape(BEGINS) + b'[0-9a-f]{64}"}\n')
LENGTH = len(BEGINS) + 64 + len(b'"}\n')  # of an ending


class Chain:
    """The checksums of the lines of one file, each of which is told to it once, in order."""

    def __init__(self) -> None:
        self._all = sha256()  # of all bytes so far

    def copy(self) -> Chain:
        """A chain that goes on from the same lines."""
        other = Chain()
        other._all = self._all.copy()
        return other

    def sealed(self, row: Mapping[str, Any]) -> bytes:
        """The next line: a row, which is not empty, with its checksum."""
        text = json.dumps(row).encode()[:-1]
        self._all.update(text)
        ending = self._ending
        self._all.update(ending)
        return text + ending

    def continues(self, line: bytes) -> bool:
        """Whether a line with a checksum is the next one, as it was written."""
        self._all.update(line[:-LENGTH])
        is_right = line[-LENGTH:] == self._ending
        self._all.update(line[-LENGTH:])
        return is_right

    def take(self, line: bytes) -> None:
        """Go on from a line without a checksum, which an earlier version has written."""
        self._all.update(line)

    @property
    def _ending(self) -> bytes:
        return BEGINS + self._all.hexdigest().encode() + b'"}\n'


def is_sealed(line: bytes) -> bool:
    """Whether a line ends in a checksum, be it right or wrong."""
    return ENDING.fullmatch(line[-LENGTH:]) is not None
