"""A site's own file: its trials with their outcomes, its token, and a copy of every message that left.

Everything is on disk before it is sent, so a site that is killed at any moment sends the same again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any

from cboc.data.dataset import Dataset, Direction
from cboc.errors import CbocError, check_kind
from cboc.exchange.wire import SECRETS
from cboc.site.trial import OPEN, Trial
from cboc.storage.formats import settings_from_1, trial_from_1
from cboc.storage.lock import only_writer
from cboc.storage.shape import Shape

FORMAT = 2
PREFIX = "sqlite:///"
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE trials (number INTEGER PRIMARY KEY, row TEXT NOT NULL);
CREATE TABLE sent (id INTEGER PRIMARY KEY, at REAL NOT NULL, address TEXT NOT NULL, method TEXT NOT NULL,
                   path TEXT NOT NULL, body BLOB NOT NULL);
"""
NAMES = {"about", "trials", "sent"}
LONGEST_THOUGHT = 300.0  # seconds that another process may take to ask
ASKING = "another process is asking for an experiment with {}; try again when it has one."
REASONS = {
    "SQLITE_BUSY": "another program is writing to it; try again.",
    "SQLITE_READONLY": "it is read-only; change its permissions.",
    "SQLITE_FULL": "its disk is full; free some space, and try again.",
    "SQLITE_CANTOPEN": "it cannot be read, or its folder is read-only; change the permissions.",
    "SQLITE_NOTADB": "it is not a site file; name another.",
    "SQLITE_CORRUPT": "it is damaged; restore an earlier copy.",
}


@dataclass(frozen=True)
class Sent:
    """A message that left the site: when, where to, what for, and its bytes."""

    at: float
    address: str
    method: str
    path: str
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        """The fields of the message; empty if it has none."""
        try:
            content = json.loads(self.body)
        except ValueError:
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def shown(self) -> str:
        """The body word for word, except for its secrets."""
        public = {name: "***" if name in SECRETS else value for name, value in self.content.items()}
        return json.dumps(public) if public else self.body.decode(errors="replace")


class SiteFile:
    """One site's file, by its path or as sqlite:///PATH. Only joining creates it, readable by its owner alone.

    The content is read once, on opening; a change is made in the file first.
    """

    def __init__(self, storage: str | Path, clock: Callable[[], float] = time.time, *, is_made: bool = False) -> None:
        check_kind("a site's storage", storage, str | PathLike, f"a path or {PREFIX}PATH")
        self.path = Path(str(storage).removeprefix(PREFIX))
        self._clock = clock
        if not self.path.name or self.path.is_dir():
            raise CbocError(f"a site file is a path or {PREFIX}PATH; '{storage}' is neither.")
        if is_made and not self.path.exists():
            self._make()
        if not self.path.is_file():
            raise CbocError(f"there is no site file {self.path}; join a study to make one, or name another.")
        with self._open() as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            if {name for (name,) in tables} != NAMES:
                raise CbocError(f"{self.path} is not a site file; name another.")
            self._read(connection)
        if self.about.get("format") == 1:
            self._translate()
        if self.about.get("format") != FORMAT:
            raise CbocError(f"{self.path} was written by another version of cboc; use that one, or another file.")

    def _make(self) -> None:
        if not self.path.parent.is_dir():
            raise CbocError(f"{self.path} cannot be made: its folder does not exist.")
        begun = self.path.with_name(f".{self.path.name}.{token_hex(4)}")
        try:
            os.close(os.open(begun, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise CbocError(f"{self.path} cannot be made: {error.strerror}; choose another folder.") from None
        with self._open(begun) as connection:
            connection.executescript(TABLES)
            connection.execute("INSERT INTO about VALUES ('format', ?)", (json.dumps(FORMAT),))
        _appear(begun, self.path)

    def _read(self, connection: sqlite3.Connection) -> None:
        about = connection.execute("SELECT key, value FROM about").fetchall()
        self._rows: dict[int, str] = dict(connection.execute("SELECT number, row FROM trials ORDER BY number"))
        with self._undamaged():
            self.about: dict[str, Any] = {key: json.loads(value) for key, value in about}

    def _translate(self) -> None:
        """Convert a file of version 0.1.0 to today's form, completely or not at all."""
        with self._transaction() as connection:
            self._read(connection)
            if self.about.get("format") != 1:  # another process was faster
                return
            with self._undamaged():
                about = settings_from_1(self.about) | {"format": FORMAT}
                rows = {number: json.dumps(trial_from_1(json.loads(row))) for number, row in self._rows.items()}
            self.about, self._rows = about, rows
            self.trials()  # raises if damaged: such a file stays as it is
            connection.execute("DELETE FROM about")
            facts = [(key, json.dumps(value)) for key, value in about.items()]
            connection.executemany("INSERT INTO about VALUES (?, ?)", facts)
            connection.executemany("UPDATE trials SET row = ? WHERE number = ?", [(r, n) for n, r in rows.items()])

    def remember(self, **facts: Any) -> None:
        """Save facts about the site and its study, replacing earlier ones."""
        self._write_about("INSERT OR REPLACE INTO about VALUES (?, ?)", facts)
        self.about |= facts

    def remember_first(self, **facts: Any) -> None:
        """Save facts that are not known yet: of two processes that begin at once, one makes the token."""
        self._write_about("INSERT OR IGNORE INTO about VALUES (?, ?)", facts)
        with self._open() as connection:
            self._read(connection)

    def _write_about(self, statement: str, facts: Mapping[str, Any]) -> None:
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        with self._transaction() as connection:
            connection.executemany(statement, rows)

    def data(self, dimension: int, direction: Direction | str) -> Dataset:
        """Results from before the study."""
        with self._undamaged():
            return Dataset.from_dict(self.about.get("data", {}), dimension, direction)

    @property
    def is_begun(self) -> bool:
        """Whether the site has asked for a trial."""
        return bool(self._rows)

    def trials(self) -> list[Trial]:
        """All trials, in order."""
        with self._undamaged():
            trials = [Trial.from_row(json.loads(row)) for row in self._rows.values()]
            if [trial.number for trial in trials] != list(range(len(trials))):
                raise ValueError("a trial is missing")
            if "agreement" in self.about:
                self._check_shape(trials)
        return trials

    def _check_shape(self, trials: list[Trial]) -> None:
        """Raise a ValueError or a KeyError if a trial is not one of this site in its study."""
        shape, site = Shape.of(self.about["agreement"], self.about.get("agreements", ())), self.about["site"]
        for trial in trials:
            shape.check(trial)
            if trial.site != site:
                raise ValueError("a trial is of another site")

    def _check_readable(self, number: int, row: str) -> None:
        """Raise one sentence if a row would be taken for damage when it is read: it is not written then."""
        try:
            self._check_shape([Trial.from_row(json.loads(row))] if "agreement" in self.about else [])
        except (ValueError, TypeError, KeyError) as error:
            raise CbocError(f"trial {number} was not saved, and stays as it was: {error}, and here not.") from None

    def keep(self, trial: Trial) -> Trial:
        """Save a trial in place of what it was, unless another process has changed that meanwhile.

        Another process that has asked for the same trial may be further with it: then what it has done is returned.
        """
        number, row = trial.number, json.dumps(trial.to_row())
        self._check_readable(number, row)
        with self._transaction() as connection:
            stored = connection.execute("SELECT row FROM trials WHERE number = ?", (number,)).fetchone()
            if stored not in (None, (row,)) and stored != (self._rows.get(number),):
                further = self._further(trial, stored[0])
                if further is None:
                    raise CbocError(
                        f"another process has changed trial {number} in {self.path}, so nothing was "
                        "overwritten; look at it, and try again."
                    )
                self._rows[number] = stored[0]
                return further
            connection.execute("INSERT OR REPLACE INTO trials VALUES (?, ?)", (number, row))
        self._rows[number] = row
        return trial

    @contextmanager
    def claim(self, patience: float = LONGEST_THOUGHT, complaint: str = ASKING) -> Iterator[list[Trial] | None]:
        """Let no other process ask for this site inside the block; the trials if the file has others than before."""
        with only_writer(self.path, patience, complaint):
            before = self._rows
            with self._open() as connection:
                self._read(connection)
            yield None if self._rows == before else self.trials()

    def _further(self, trial: Trial, row: str) -> Trial | None:
        """The trial of a row, if it is the same proposal, still open, and further along than this one."""
        with self._undamaged():
            there = Trial.from_row(json.loads(row))
        if trial.status not in OPEN or there.status not in OPEN or there.proposed != trial.proposed:
            return None
        return there if OPEN.index(there.status) > OPEN.index(trial.status) else None

    def record(self, address: str, method: str, path: str, body: bytes) -> None:
        """Record a message that is about to leave."""
        with self._transaction() as connection:
            row = (self._clock(), address, method, path, body)
            connection.execute("INSERT INTO sent (at, address, method, path, body) VALUES (?, ?, ?, ?, ?)", row)

    def sent(self) -> list[Sent]:
        """All messages that ever left, in order."""
        with self._open() as connection:
            rows = connection.execute("SELECT at, address, method, path, body FROM sent ORDER BY id").fetchall()
        with self._undamaged():
            return [Sent(float(at), address, method, path, bytes(body)) for at, address, method, path, body in rows]

    def sent_count(self) -> int:
        """The number of messages that ever left, without reading them."""
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM sent").fetchone()[0])

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (CbocError, ValueError, TypeError, KeyError, AttributeError):
            raise CbocError(f"{self.path} is damaged; restore an earlier copy.") from None

    @contextmanager
    def _open(self, path: Path | None = None) -> Iterator[sqlite3.Connection]:
        """A short-lived connection: nothing stays open, and no file lies beside this one, while a person works."""
        address = (path or self.path).resolve().as_uri() + "?mode=rw"
        try:
            with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous=FULL")
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise CbocError(f"{self.path} cannot be used: {_reason(error)}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")  # without it, closing would discard the changes


def _appear(begun: Path, path: Path) -> None:
    """Give a complete file its name, atomically; if another process was faster, its file stays."""
    try:
        os.link(begun, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        if not path.exists():
            os.replace(begun, path)
            return
    begun.unlink()


def _reason(error: sqlite3.Error | UnicodeDecodeError) -> str:
    is_garbled = isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode")
    name = "SQLITE_CORRUPT" if is_garbled else getattr(error, "sqlite_errorname", "")
    return next((reason for start, reason in REASONS.items() if name.startswith(start)), f"{error}.")
