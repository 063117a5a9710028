"""A site's own file: its trials with their outcomes, its token, and a copy of every message that left.

Everything is on disk before it is sent, so a site that is killed at any moment sends the same again. Every state that a
trial has had is kept, with the time and who wrote it; the last one counts.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from secrets import randbits, token_hex
from typing import Any

from cboc.checked_rows import NOTHING, Damage, Head, facts, set_facts
from cboc.data.dataset import Dataset
from cboc.data.goal import Goal
from cboc.data.results import Results
from cboc.errors import CbocError, check_kind
from cboc.exchange.wire import SECRETS
from cboc.private_files import make
from cboc.site.trial import OPEN, Trial
from cboc.storage import rows
from cboc.storage.author import Door, author
from cboc.storage.lock import only_writer
from cboc.storage.rows import SENT, TRIALS
from cboc.storage.shape import Shape
from cboc.storage.takeover import OLD_NAMES, take_over

FORMAT = 3
PREFIX = "sqlite:///"
SEED_BITS = 63  # of a site's seed: so many that nobody tries them all
LONGEST_THOUGHT = 300.0  # seconds that another process may take to ask
ASKING = "another process is asking for an experiment with {}; try again when it has one."
OTHER_VERSION = "{} was written by another version of cboc; use that one, or another file."
REASONS = {
    "SQLITE_BUSY": "another program is writing to it; try again.",
    "SQLITE_READONLY": "it is read-only; change its permissions.",
    "SQLITE_FULL": "its disk is full; free some space, and try again.",
    "SQLITE_CANTOPEN": "it cannot be read, or its folder is read-only; change the permissions.",
    "SQLITE_NOTADB": "it is not a site file; name another.",
    "SQLITE_CORRUPT": "it is damaged; restore an earlier copy.",
}


@dataclass(frozen=True)
class Change:
    """A state that a trial was brought to: when, by whom, and what the trial was from then on."""

    at: float  # seconds since 1970
    by: str
    trial: Trial


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

    The content is read once, on opening; a change is made in the file first. `door` says how changes come to it.
    """

    def __init__(
        self,
        storage: str | Path,
        clock: Callable[[], float] = time.time,
        *,
        is_made: bool = False,
        door: Door = Door.PYTHON,
    ) -> None:
        check_kind("a site's storage", storage, str | PathLike, f"a path or {PREFIX}PATH")
        self.path = Path(str(storage).removeprefix(PREFIX))
        self._clock, self._door = clock, door
        self._rows: dict[int, str] = {}  # the last state of every trial
        self._head = NOTHING  # the states up to here are in these
        if not self.path.name or self.path.is_dir():
            raise CbocError(f"a site file is a path or {PREFIX}PATH; '{storage}' is neither.")
        if is_made and not self.path.exists():
            self._make()
        if not self.path.is_file():
            raise CbocError(f"there is no site file {self.path}; join a study to make one, or name another.")
        with self._moment() as connection:
            tables = _tables(connection)
            if tables == rows.NAMES:
                self._read(connection)
        if tables == OLD_NAMES:
            self._take_over()
        elif tables != rows.NAMES:
            raise CbocError(f"{self.path} is not a site file; name another.")
        if self.about.get("format") != FORMAT:
            raise CbocError(OTHER_VERSION.format(self.path))

    def _make(self) -> None:
        if not self.path.parent.is_dir():
            raise CbocError(f"{self.path} cannot be made: its folder does not exist.")
        begun = self.path.with_name(f".{self.path.name}.{token_hex(4)}")
        try:
            make(begun)
        except OSError as error:
            raise CbocError(f"{self.path} cannot be made: {error.strerror}; choose another folder.") from None
        with self._transaction(begun) as connection:
            rows.make(connection)
            first = {"format": FORMAT, "seed": randbits(SEED_BITS)}
            set_facts(connection, {key: json.dumps(value) for key, value in first.items()})
        _appear(begun, self.path)

    def _read(self, connection: sqlite3.Connection) -> None:
        """Read the facts, and what trials have become since they were read here."""
        with self._undamaged():
            self.about: dict[str, Any] = {key: json.loads(value) for key, value in facts(connection).items()}
            self._rows, self._head = self._now(connection)

    def _now(self, connection: sqlite3.Connection) -> tuple[dict[int, str], Head]:
        """The last state of every trial in the file now, and how far its states go: what is known here is not read."""
        try:
            states, head = TRIALS.read(connection, self._head)
            known = self._rows
        except Damage:  # it may be another copy of the file by now
            states, head = TRIALS.read(connection)
            known = {}
        return known | {number: row for number, _, _, row in states}, head

    def _take_over(self) -> None:
        """Write a file of an earlier version in today's form, completely or not at all."""
        with self._transaction() as connection:
            with self._undamaged():
                if _tables(connection) == OLD_NAMES:  # else another process was faster
                    take_over(connection, FORMAT, self._clock())
            if _tables(connection) == OLD_NAMES:
                raise CbocError(OTHER_VERSION.format(self.path))
            self._read(connection)
            self.trials()  # raises if damaged: such a file stays as it is

    def remember(self, **facts: Any) -> None:
        """Save facts about the site and its study, replacing earlier ones."""
        news = {key: json.dumps(value) for key, value in facts.items()}
        with self._transaction() as connection:
            set_facts(connection, news)
        self.about |= facts

    def remember_first(self, **facts: Any) -> None:
        """Save facts that are not known yet: of two processes that begin at once, one makes the token."""
        news = {key: json.dumps(value) for key, value in facts.items()}
        with self._transaction() as connection:
            set_facts(connection, news, is_first=True)
            self._read(connection)

    def advance(self, name: str, number: int) -> int | None:
        """Save a number that only grows; what it was before, -1 at first, or None if it has not grown by that.

        Of several processes that do so, one is told that it has grown.
        """
        with self._transaction() as connection, self._undamaged():
            before: int = json.loads(facts(connection).get(name, "-1"))
            if before < number:
                set_facts(connection, {name: json.dumps(number)})
        return before if before < number else None

    def data(self, dimension: int, goal: Goal) -> Dataset | Results:
        """Results from before the study: a dataset if one outcome is measured."""
        kept = self.about.get("data", {})
        with self._undamaged():
            if len(goal.measured) == 1:
                return Dataset.from_dict(kept, dimension, goal.direction)
            return Results.from_dict(kept, dimension, goal)

    @property
    def is_begun(self) -> bool:
        """Whether the site has asked for a trial."""
        return bool(self._rows)

    def trials(self) -> list[Trial]:
        """All trials, in order."""
        with self._undamaged():
            trials = [Trial.from_row(json.loads(row)) for _, row in sorted(self._rows.items())]
            if [trial.number for trial in trials] != list(range(len(trials))):
                raise ValueError("a trial is missing")
            self._check_shape(trials)
        return trials

    def history(self, number: int | None = None) -> list[Change]:
        """Every state that a trial has had, or that all have had, the first one first."""
        with self._moment() as connection, self._undamaged():
            states, _ = TRIALS.read(connection)
            wanted = [state for state in states if number in (None, state[0])]
            changes = [Change(float(at), by, Trial.from_row(json.loads(row))) for _, at, by, row in wanted]
            self._check_shape([change.trial for change in changes])
        return changes

    def _check_shape(self, trials: list[Trial]) -> None:
        """Raise a ValueError or a KeyError if a trial is not one of this site in its study."""
        if "agreement" not in self.about:
            return
        about, site = self.about, self.about["site"]
        own = {site: about["own"]} if "own" in about else None
        shape = Shape.of(about["agreement"], about.get("agreements", ()), {site: about.get("limits", ())}, own)
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
        """Save a new state of a trial, unless another process has changed the trial meanwhile.

        Another process that has asked for the same trial may be further with it: then what it has done is returned.
        """
        number, row = trial.number, json.dumps(trial.to_row())
        self._check_readable(number, row)
        with self._transaction() as connection:
            now, head = self._now(connection)
            stored = now.get(number)
            if stored not in (None, row, self._rows.get(number)):
                further = self._further(trial, str(stored))
                if further is None:
                    raise CbocError(
                        f"another process has changed trial {number} in {self.path}, so nothing was "
                        "overwritten; look at it, and try again."
                    )
                self._rows[number] = str(stored)
                return further
            is_alone = head == self._head
            if stored != row:
                head = TRIALS.add(connection, [(number, float(self._clock()), author(self._door), row)])
        self._rows[number] = row
        if is_alone:  # else what others have written is read when this site claims its file
            self._head = head
        return trial

    @contextmanager
    def claim(self, patience: float = LONGEST_THOUGHT, complaint: str = ASKING) -> Iterator[list[Trial] | None]:
        """Let no other process ask for this site inside the block; the trials if the file has others than before."""
        with only_writer(self.path, patience, complaint):
            before = self._rows
            with self._moment() as connection:
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
            SENT.add(connection, [(float(self._clock()), address, method, path, body)])

    def sent(self) -> list[Sent]:
        """All messages that ever left, in order."""
        with self._moment() as connection, self._undamaged():
            messages, _ = SENT.read(connection)
            return [Sent(float(at), address, method, path, bytes(body)) for at, address, method, path, body in messages]

    def sent_checksums(self) -> list[str]:
        """The checksum of every message that ever left, each of which goes on from the one before."""
        with self._moment() as connection:
            SENT.read(connection)
            return [kept for (kept,) in connection.execute("SELECT checksum FROM sent ORDER BY id")]

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
        except Damage as damage:
            raise CbocError(f"{self.path} is damaged: {damage}; restore an earlier copy.") from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise CbocError(f"{self.path} cannot be used: {_reason(error)}") from None

    @contextmanager
    def _moment(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the file as it is at one moment, whatever others write."""
        with self._open() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def _transaction(self, path: Path | None = None) -> Iterator[sqlite3.Connection]:
        with self._open(path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")  # without it, closing would discard the changes


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


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
