"""A site's own file: its trials with their outcomes, its token, and a copy of every message that left.

Everything is on disk before it is sent, so that a site which is killed at any moment sends the same again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cboc.data import Dataset, Direction
from cboc.errors import CbocError
from cboc.trial import Trial

FORMAT = 1
PREFIX = "sqlite:///"
ARRAYS = ("X", "y", "sem", "failures")  # of a dataset
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
        self._seen: dict[int, str] = {}  # trials as this process knows them
        if not self.path.name or self.path.is_dir():
            raise CbocError(f"a site's file is a path or {PREFIX}PATH; '{storage}' is none.")
        try:
            with self._open() as connection:
                connection.executescript(TABLES)
        except sqlite3.OperationalError as error:
            raise CbocError(f"{self.path} cannot be opened ({error}); is it in use, or its folder not there?") from None
        except sqlite3.Error as error:
            raise CbocError(f"{self.path} cannot be used as a site's file ({error}); choose another path.") from None
        if "format" not in self.about:
            self.remember(format=FORMAT)
        if self.about["format"] != FORMAT:
            raise CbocError(f"{self.path} was written by another version of cboc; use that one, or another file.")

    @property
    def about(self) -> dict[str, Any]:
        """What is known about the site and its study."""
        with self._open() as connection:
            rows = connection.execute("SELECT key, value FROM about")
            return {key: json.loads(value) for key, value in rows}

    def remember(self, **facts: Any) -> None:
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)

    def keep_data(self, data: Dataset) -> None:
        """Results from before the study."""
        self.remember(data={name: getattr(data, name).tolist() for name in ARRAYS})

    def data(self, dimension: int, direction: Direction) -> Dataset:
        kept = self.about.get("data", {})
        shapes = {"X": (-1, dimension), "failures": (-1, dimension), "y": (-1,), "sem": (-1,)}
        arrays = {name: np.reshape(np.array(kept.get(name, []), dtype=float), shapes[name]) for name in ARRAYS}
        return Dataset(**arrays, direction=direction)

    def trials(self) -> list[Trial]:
        with self._open() as connection:
            self._seen = dict(connection.execute("SELECT number, row FROM trials ORDER BY number").fetchall())
        return [Trial.from_row(json.loads(row)) for row in self._seen.values()]

    def keep(self, trial: Trial) -> None:
        """As it is now, in the place of what it was: unless another process has changed that meanwhile."""
        number, row = trial.number, json.dumps(trial.to_row())
        with self._transaction() as connection:
            stored = connection.execute("SELECT row FROM trials WHERE number = ?", (number,)).fetchone()
            if stored not in (None, (row,)) and stored != (self._seen.get(number),):
                raise CbocError(
                    f"another process has changed trial {number} in {self.path} meanwhile, and nothing was "
                    "overwritten; look at it, and do this again."
                )
            connection.execute("INSERT OR REPLACE INTO trials VALUES (?, ?)", (number, row))
        self._seen[number] = row

    def record(self, method: str, path: str, body: bytes) -> None:
        """A message that is about to leave."""
        with self._transaction() as connection:
            row = (self._clock(), method, path, body)
            connection.execute("INSERT INTO sent (at, method, path, body) VALUES (?, ?, ?, ?)", row)

    def sent(self) -> list[Sent]:
        """All that ever left, in order."""
        with self._open() as connection:
            rows = connection.execute("SELECT at, method, path, body FROM sent ORDER BY id").fetchall()
        return [Sent(at, method, path, bytes(body)) for at, method, path, body in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one purpose: nothing stays open, and nothing lies beside the file, while a person works."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")  # without it, closing forgets
