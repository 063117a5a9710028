"""A site's own file of feeds: its keys, its own feed, and copies of the others'. It has no place for an outcome.

It lies beside the site's file and is all that a process which talks to others has to open. An entry is on disk before
it is given to anybody.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.feeds.bundle import study_of
from cboc.exchange.feeds.entry import DESIGNS, SAID, Act, FeedEntry
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.study import Study
from cboc.exchange.wire import Misfit
from cboc.private_files import make

FORMAT = 1
TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE entries (site TEXT, number INTEGER, hash TEXT, study TEXT NOT NULL, before TEXT NOT NULL, act TEXT, "
    "is_whole INTEGER NOT NULL, head TEXT NOT NULL, signature TEXT NOT NULL, said TEXT, designs TEXT, "
    "at REAL NOT NULL, PRIMARY KEY (site, number, hash))",
)
NAMES = {"about", "entries"}
MISSING = (
    "{} is missing: it has the keys of this site, and the others take nothing from new ones. Bring it back, or restore "
    "an earlier copy of it together with the site's file."
)
REMEMBER = "INSERT OR REPLACE INTO about VALUES (?, ?)"
COLUMNS = "site, number, hash, study, before, act, is_whole, head, signature, said, designs"
INSERT = f"""
INSERT OR REPLACE INTO entries (rowid, {COLUMNS}, at)
VALUES ((SELECT coalesce(max(rowid), 0) + 1 FROM entries), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""  # what is replaced gets a new place, also if it was the last: other processes read on from theirs


class Overtaken(CbocError):
    """Another process of this site has appended to its feed meanwhile."""


class FeedFile:
    """The file of feeds beside a site's file, readable by its owner alone."""

    def __init__(self, path: Path, *, is_made: bool = False) -> None:
        self.path = path
        self._waiting: list[FeedEntry] | None = None  # to be saved at once
        if is_made:
            self._make()
        if not path.is_file():
            raise CbocError(MISSING.format(path))
        with self._open() as connection:
            if _tables(connection) != NAMES:
                raise CbocError(f"{path} is not a file of feeds; name another.")
        self.about: dict[str, Any] = self.facts()
        if self.about.get("format") != FORMAT:
            raise CbocError(f"{path} was written by another version of cboc; use that one.")
        with self._undamaged():
            self.keys = Keys.from_text(self.about["keys"])

    def _make(self) -> None:
        try:
            make(self.path)
        except FileExistsError:
            pass
        except OSError as error:
            raise CbocError(f"{self.path} cannot be made: {error.strerror}; choose another folder.") from None
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if _tables(connection):
                return
            for table in TABLES:  # all or nothing: also an empty file that was left by a kill is filled
                connection.execute(table)
            connection.executemany(REMEMBER, _rows({"format": FORMAT, "keys": Keys.make().to_text()}))

    def remember(self, **facts: Any) -> None:
        """Save facts, in place of earlier ones."""
        self.fill((), **facts)

    def remember_first(self, name: str, fact: Any) -> Any:
        """Save a fact unless it is there; returns the one that is."""
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, json.dumps(fact)))
            (kept,) = connection.execute("SELECT value FROM about WHERE key = ?", (name,)).fetchone()
        self.about[name] = json.loads(kept)
        return self.about[name]

    def facts(self) -> dict[str, Any]:
        """What is in the file now, also if another process has just saved it."""
        with self._open() as connection:
            rows = connection.execute("SELECT key, value FROM about").fetchall()
        with self._undamaged():
            return {key: json.loads(value) for key, value in rows}

    def membership(self) -> tuple[str, list[Study]]:
        """The site whose file this is, and the versions of the study that it has begun with, the newest last.

        They are those that were kept when it joined, or the one that its own hello names.
        """
        facts = self.facts()
        site = str(facts.get("site"))
        with self._undamaged():
            versions = [Study.from_agreement(each) for each in facts.get("agreements", ())]
        if not versions and (study := study_of([entry for _, entry in self.written(site)[:1]])) is not None:
            versions = [study]
        if not versions:
            raise CbocError(f"{self.path} has joined no study yet; use cboc join.")
        return site, versions

    def append(self, entry: FeedEntry) -> None:
        """Save an entry of the own feed, unless another process of this site was faster."""
        with self._open() as connection:
            place = (entry.site, entry.number)
            if connection.execute("SELECT 1 FROM entries WHERE site = ? AND number = ?", place).fetchone():
                raise Overtaken(f"another process has written entry {entry.number} of '{entry.site}'; try again.")
            connection.execute(INSERT, _row(entry))

    def fill(self, entries: Iterable[FeedEntry], **facts: Any) -> None:
        """Save many entries, and facts, all or none."""
        with self._open() as connection:
            connection.executemany(INSERT, map(_row, entries))
            connection.executemany(REMEMBER, _rows(facts))
        self.about |= facts

    def keep(self, entry: FeedEntry) -> None:
        """Save an entry; one that was incomplete is replaced."""
        if self._waiting is None:
            self.fill([entry])
        else:
            self._waiting.append(entry)

    @contextmanager
    def at_once(self) -> Iterator[dict[str, Any]]:
        """Save all that is kept meanwhile in one transaction, at the end: a transaction costs more than an entry.

        Facts that are put into what this yields are saved with it, if anything is kept.
        """
        facts: dict[str, Any] = {}
        self._waiting = []
        try:
            yield facts
        finally:
            waiting, self._waiting = self._waiting, None
            if waiting:
                self.fill(waiting, **facts)

    def entries(self, after: int = 0) -> tuple[list[FeedEntry], int]:
        """The entries that were saved after a place in the file, and the place up to which these go."""
        with self._open() as connection:
            query = f"SELECT {COLUMNS}, rowid FROM entries WHERE rowid > ? ORDER BY number, rowid"
            rows = connection.execute(query, (after,)).fetchall()
        with self._undamaged():
            return [_entry(*columns) for *columns, _ in rows], max((row[-1] for row in rows), default=after)

    def heard(self) -> dict[str, float]:
        """When the last entry of every site arrived here, in seconds since 1970."""
        with self._open() as connection:
            return dict(connection.execute("SELECT site, max(at) FROM entries GROUP BY site").fetchall())

    def written(self, site: str) -> list[tuple[float, FeedEntry]]:
        """The entries of one feed in order, and when each was saved here."""
        with self._open() as connection:
            query = f"SELECT {COLUMNS}, at FROM entries WHERE site = ? ORDER BY number, rowid"
            rows = connection.execute(query, (site,)).fetchall()
        with self._undamaged():
            return [(at, _entry(*columns)) for *columns, at in rows]

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (CbocError, Misfit, ValueError, KeyError, TypeError, AttributeError):
            raise CbocError(
                f"{self.path} is damaged; restore an earlier copy, together with the site's file."
            ) from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        address = self.path.resolve().as_uri() + "?mode=rw"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=30.0, isolation_level="IMMEDIATE")) as connection:
                connection.execute("PRAGMA synchronous=FULL")
                with connection:  # commits, or rolls back
                    yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise CbocError(f"{self.path} cannot be used: {error}.") from None


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, json.dumps(value)) for key, value in facts.items()]


def _row(entry: FeedEntry) -> tuple[object, ...]:
    known = (entry.site, entry.number, entry.hash, entry.study, entry.before, entry.act, entry.is_whole)
    return (*known, entry.head, entry.signature, entry.parts.get(SAID), entry.parts.get(DESIGNS), time.time())


def _entry(*columns: Any) -> FeedEntry:
    site, number, hash, study, before, act, is_whole, head, signature, said, designs = columns
    parts = {name: text for name, text in ((SAID, said), (DESIGNS, designs)) if text is not None}
    known = {"site": site, "number": number, "hash": hash, "study": study, "before": before}
    known |= {"act": act if act is None else Act(act), "is_whole": bool(is_whole)}
    return FeedEntry.kept(head, signature, parts, known)
