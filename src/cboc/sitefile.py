"""A site's own file: its trials with their outcomes, its token, and a copy of every message that left.

Everything is on disk before it is sent, so that a site which is killed at any moment sends the same again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cboc.errors import CbocError
from cboc.trial import Trial

FORMAT = 1
PREFIX = "sqlite:///"
TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (number INTEGER PRIMARY KEY, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sent (id INTEGER PRIMARY KEY, at REAL NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL,
                                 body BLOB NOT NULL);
"""


@dataclass(frozen=True)
class Sent:
    """A message that left the site: when, what for, and its bytes."""

    at: float
    method: str
    path: str
    body: bytes


class SiteFile:
    """One site's file, by its path or as sqlite:///PATH."""

    def __init__(self, storage: str | Path, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(str(storage).removeprefix(PREFIX))
        self._clock = clock
        if not self.path.name or self.path.is_dir():
            raise CbocError(f"a site's file is a path or {PREFIX}PATH; '{storage}' is none.")
        try:
            self._connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            for setting in ("journal_mode=WAL", "synchronous=FULL"):
                self._connection.execute(f"PRAGMA {setting}")
            self._connection.executescript(TABLES)
        except sqlite3.Error as error:
            raise CbocError(f"{self.path} cannot be used as a site's file ({error}); choose another path.") from None
        if "format" not in self.about:
            self.remember(format=FORMAT)
        if self.about["format"] != FORMAT:
            raise CbocError(f"{self.path} was written by another version of cboc; use that one, or another file.")

    def close(self) -> None:
        self._connection.close()

    @property
    def about(self) -> dict[str, Any]:
        """What is known about the site and its study."""
        rows = self._connection.execute("SELECT key, value FROM about")
        return {key: json.loads(value) for key, value in rows}

    def remember(self, **facts: Any) -> None:
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        with self._transaction():
            self._connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)

    def trials(self) -> list[Trial]:
        rows = self._connection.execute("SELECT row FROM trials ORDER BY number")
        return [Trial.from_row(json.loads(row)) for (row,) in rows]

    def keep(self, trial: Trial) -> None:
        """As it is now, in the place of what it was."""
        row = (trial.number, json.dumps(trial.to_row()))
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO trials VALUES (?, ?)", row)

    def record(self, method: str, path: str, body: bytes) -> None:
        """A message that is about to leave."""
        with self._transaction():
            row = (self._clock(), method, path, body)
            self._connection.execute("INSERT INTO sent (at, method, path, body) VALUES (?, ?, ?, ?)", row)

    def sent(self) -> list[Sent]:
        """All that ever left, in order."""
        rows = self._connection.execute("SELECT at, method, path, body FROM sent ORDER BY id")
        return [Sent(at, method, path, bytes(body)) for at, method, path, body in rows]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
