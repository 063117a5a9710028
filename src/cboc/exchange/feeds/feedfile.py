"""A site's own file of feeds: its keys, its own feed, and copies of the others'. It has no place for an outcome.

It lies beside the site's file and is all that a process which talks to others has to open. An entry is on disk before
it is given to anybody. Every row has a checksum (checked_rows.py): what is read is what was kept.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from cboc import checked_rows
from cboc.checked_rows import NOTHING, Damage, Rows, set_facts
from cboc.errors import CbocError
from cboc.exchange.feeds.bundle import study_of
from cboc.exchange.feeds.earlier import OLD_FORMAT, OLD_NAMES, old_feeds
from cboc.exchange.feeds.entry import DESIGNS, SAID, Act, FeedEntry
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.study import Study
from cboc.exchange.wire import Misfit
from cboc.private_files import make

FORMAT = 2
ENTRIES = Rows(
    "entries",
    (
        *("site TEXT NOT NULL", "number INTEGER NOT NULL", "hash TEXT NOT NULL", "study TEXT NOT NULL"),
        *("before TEXT NOT NULL", "act TEXT", "is_whole INTEGER NOT NULL", "head TEXT NOT NULL"),
        *("signature TEXT NOT NULL", "said TEXT", "designs TEXT", "at REAL NOT NULL"),
    ),
)
NAMES = checked_rows.NAMES | {ENTRIES.table}
MISSING = (
    "{} is missing: it has the keys of this site, and the others take nothing from new ones. Bring it back, or restore "
    "an earlier copy of it together with the site's file."
)
OTHER_VERSION = "{} was written by another version of cboc; use that one."
DAMAGED = "{} is damaged{}; restore an earlier copy, together with the site's file."


class Overtaken(CbocError):
    """Another process of this site has appended to its feed meanwhile."""


class FeedFile:
    """The file of feeds beside a site's file, readable by its owner alone."""

    def __init__(self, path: Path, *, is_made: bool = False) -> None:
        self.path = path
        self._waiting: list[FeedEntry] | None = None  # to be saved at once
        self._lock = Lock()  # for what has been read so far, up to this end:
        self._end = NOTHING
        self._rows: list[tuple[float, FeedEntry]] = []  # when it was saved, and what, by its place from 1
        self._places: dict[tuple[str, int], dict[str, int]] = {}  # where it was saved last, by site and number, by hash
        if is_made:
            self._make()
        if not path.is_file():
            raise CbocError(MISSING.format(path))
        with self._moment() as connection:
            tables = _tables(connection)
        if tables == OLD_NAMES:
            self._take_over()
        elif tables != NAMES:
            raise CbocError(f"{path} is not a file of feeds; name another.")
        self.about: dict[str, Any] = self.facts()
        if self.about.get("format") != FORMAT:
            raise CbocError(OTHER_VERSION.format(path))
        with self._undamaged():
            self.keys = Keys.from_text(self.about["keys"])

    def _make(self) -> None:
        try:
            make(self.path)
        except FileExistsError:
            pass
        except OSError as error:
            raise CbocError(f"{self.path} cannot be made: {error.strerror}; choose another folder.") from None
        with self._transaction() as connection:
            if not _tables(connection):  # also an empty file that was left by a kill is filled
                _fill(connection, {"format": FORMAT, "keys": Keys.make().to_text()}, ())

    def _take_over(self) -> None:
        """Write a file of the format before in today's form, completely or not at all."""
        with self._transaction() as connection:
            if _tables(connection) != OLD_NAMES:  # another process was faster
                return
            with self._undamaged():
                about, entries = old_feeds(connection)
            if about["format"] != OLD_FORMAT:
                raise CbocError(OTHER_VERSION.format(self.path))
            for table in OLD_NAMES:
                connection.execute(f"DROP TABLE {table}")
            _fill(connection, about | {"format": FORMAT}, entries)

    def remember(self, **facts: Any) -> None:
        """Save facts, in place of earlier ones."""
        self.fill((), **facts)

    def remember_first(self, name: str, fact: Any) -> Any:
        """Save a fact unless it is there; returns the one that is."""
        with self._transaction() as connection, self._undamaged():
            set_facts(connection, {name: json.dumps(fact)}, is_first=True)
            kept = checked_rows.facts(connection)[name]
        self.about[name] = json.loads(kept)
        return self.about[name]

    def facts(self) -> dict[str, Any]:
        """What is in the file now, also if another process has just saved it."""
        with self._moment() as connection, self._undamaged():
            return {key: json.loads(value) for key, value in checked_rows.facts(connection).items()}

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
        with self._lock, self._transaction() as connection:
            self._read_on(connection)
            if (entry.site, entry.number) in self._places:
                raise Overtaken(f"another process has written entry {entry.number} of '{entry.site}'; try again.")
            ENTRIES.add(connection, [_row(entry)])

    def fill(self, entries: Iterable[FeedEntry], **facts: Any) -> None:
        """Save many entries, of which nothing new is not saved again, and facts, all or none."""
        with self._lock, self._transaction() as connection:
            self._read_on(connection)
            ENTRIES.add(connection, [_row(entry) for entry in entries if not self._has(entry)])
            set_facts(connection, {key: json.dumps(value) for key, value in facts.items()})
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
        found, end = self._since(after)
        return [entry for _, entry in found], end

    def heard(self) -> dict[str, float]:
        """When the last entry of every site arrived here, in seconds since 1970."""
        latest: dict[str, float] = {}
        for at, entry in self._since()[0]:
            latest[entry.site] = max(at, latest.get(entry.site, at))
        return latest

    def written(self, site: str) -> list[tuple[float, FeedEntry]]:
        """The entries of one feed in order, and when each was saved here."""
        found, _ = self._since()
        return [(at, entry) for at, entry in found if entry.site == site]

    def _since(self, after: int = 0) -> tuple[list[tuple[float, FeedEntry]], int]:
        """The entries after a place, by their number, and how far the places go.

        One that was saved again, with a part that was missing before, is where it was saved last.
        """
        with self._lock, self._moment() as connection:
            self._read_on(connection)
            new = enumerate(self._rows[after:], start=after + 1)
            found = [(at, entry) for place, (at, entry) in new if self._place(entry) == place]
            return sorted(found, key=lambda kept: kept[1].number), len(self._rows)

    def _read_on(self, connection: sqlite3.Connection) -> None:
        """Read what was saved since it was read here."""
        try:
            rows, end = ENTRIES.read(connection, self._end)
        except Damage:  # it may be another copy of the file by now
            self._rows, self._places, self._end = [], {}, NOTHING
            rows, end = ENTRIES.read(connection)
        with self._undamaged():
            for *columns, at in rows:
                entry = _entry(*columns)
                self._rows.append((at, entry))
                self._places.setdefault((entry.site, entry.number), {})[entry.hash] = len(self._rows)
        self._end = end

    def _place(self, entry: FeedEntry) -> int:
        """Where an entry was saved last; 0 if it was not."""
        return self._places.get((entry.site, entry.number), {}).get(entry.hash, 0)

    def _has(self, entry: FeedEntry) -> bool:
        """Whether nothing of an entry is new."""
        place = self._place(entry)
        return place > 0 and entry.parts.keys() <= self._rows[place - 1][1].parts.keys()

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (CbocError, Misfit, ValueError, KeyError, TypeError, AttributeError):
            raise CbocError(DAMAGED.format(self.path, "")) from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        address = self.path.resolve().as_uri() + "?mode=rw"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous=FULL")
                yield connection
        except Damage as damage:
            raise CbocError(DAMAGED.format(self.path, f": {damage}")) from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise CbocError(f"{self.path} cannot be used: {error}.") from None

    @contextmanager
    def _moment(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the file as it is at one moment, whatever others write."""
        with self._open() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")  # without it, closing would discard the changes


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _fill(connection: sqlite3.Connection, about: Mapping[str, Any], entries: Iterable[tuple[Any, ...]]) -> None:
    """Make the tables, with facts and entries to begin with."""
    checked_rows.make(connection)
    ENTRIES.make(connection)
    set_facts(connection, {key: json.dumps(value) for key, value in about.items()})
    ENTRIES.add(connection, entries)


def _row(entry: FeedEntry) -> tuple[Any, ...]:
    act = None if entry.act is None else str(entry.act)
    known = (entry.site, entry.number, entry.hash, entry.study, entry.before, act, int(entry.is_whole))
    return (*known, entry.head, entry.signature, entry.parts.get(SAID), entry.parts.get(DESIGNS), time.time())


def _entry(*columns: Any) -> FeedEntry:
    site, number, hash, study, before, act, is_whole, head, signature, said, designs = columns
    parts = {name: text for name, text in ((SAID, said), (DESIGNS, designs)) if text is not None}
    known = {"site": site, "number": number, "hash": hash, "study": study, "before": before}
    known |= {"act": act if act is None else Act(act), "is_whole": bool(is_whole)}
    return FeedEntry.kept(head, signature, parts, known)
