"""Tables of SQLite in which every row has a checksum; what is not as it was written is not read.

about   facts by name, each with a checksum of its own
heads   how many rows each table has, and its last checksum: nothing is missing, and no row is an old one

The rows of all other tables (`Rows`) are added, and never changed; the checksum of one goes on from that of the row
before.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE heads (name TEXT PRIMARY KEY, count INTEGER NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID",
)
FACTS = "about"
NAMES = {FACTS, "heads"}

Values = tuple[Any, ...]


class Damage(Exception):
    """A row is not as it was written, or is missing; says which."""


@dataclass(frozen=True)
class Head:
    """How far a table goes: how many rows it has, and the checksum of the last one."""

    count: int = 0
    checksum: str = ""


NOTHING = Head()


@dataclass(frozen=True)
class Rows:
    """A table of rows that are added and never changed."""

    table: str
    columns: tuple[str, ...]  # as SQLite declares them, beside the number of a row and its checksum

    @property
    def _names(self) -> str:
        return ", ".join(column.partition(" ")[0] for column in self.columns)

    def make(self, connection: sqlite3.Connection) -> None:
        """Make the table, empty."""
        columns = ", ".join(("id INTEGER PRIMARY KEY", *self.columns, "checksum TEXT NOT NULL"))
        connection.execute(f"CREATE TABLE {self.table} ({columns})")
        set_head(connection, self.table, NOTHING)

    def read(self, connection: sqlite3.Connection, after: Head = NOTHING) -> tuple[list[Values], Head]:
        """The rows after a place that was read before, in order, and how far the table goes now."""
        query = f"SELECT id, checksum, {self._names} FROM {self.table} WHERE id > ? ORDER BY id"
        rows, last = [], after
        for number, kept, *values in connection.execute(query, (after.count,)):
            if number != last.count + 1:
                raise Damage(f"row {last.count + 1} of '{self.table}' is missing")
            if kept != checksum(last.checksum, self.table, number, *values):
                raise Damage(f"row {number} of '{self.table}' is not as it was written, or one before it")
            rows.append(tuple(values))
            last = Head(number, kept)
        if last != (end := head(connection, self.table)):
            raise Damage(f"'{self.table}' ends after row {last.count}, and was written up to row {end.count}")
        return rows, last

    def add(self, connection: sqlite3.Connection, rows: Iterable[Values]) -> Head:
        """Add rows, within a transaction, and return how far the table goes then."""
        last = head(connection, self.table)
        found = connection.execute(f"SELECT id, checksum FROM {self.table} ORDER BY id DESC LIMIT 1").fetchone()
        if (NOTHING if found is None else Head(*found)) != last:
            raise Damage(f"'{self.table}' does not end where it was written to end")
        new = []
        for values in rows:
            last = Head(last.count + 1, checksum(last.checksum, self.table, last.count + 1, *values))
            new.append((last.count, *values, last.checksum))
        marks = ", ".join("?" * (len(self.columns) + 2))
        connection.executemany(f"INSERT INTO {self.table} (id, {self._names}, checksum) VALUES ({marks})", new)
        set_head(connection, self.table, last)
        return last


def checksum(*values: Any) -> str:
    """The checksum of values; of a row, they begin with that of the row before."""
    return sha256(json.dumps(values, default=bytes.hex).encode()).hexdigest()


def make(connection: sqlite3.Connection) -> None:
    """Make the tables of facts and of heads, which every file has."""
    for table in TABLES:
        connection.execute(table)
    set_head(connection, FACTS, _of_facts({}))


def head(connection: sqlite3.Connection, table: str) -> Head:
    """How far a table goes, as it was written beside it."""
    found = connection.execute("SELECT count, checksum FROM heads WHERE name = ?", (table,)).fetchone()
    if found is None:
        raise Damage(f"what it says of the end of '{table}' is missing")
    return Head(*found)


def set_head(connection: sqlite3.Connection, table: str, now: Head) -> None:
    """Write how far a table goes."""
    connection.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", (table, now.count, now.checksum))


def facts(connection: sqlite3.Connection) -> dict[str, str]:
    """All facts, as they were written."""
    found = connection.execute("SELECT key, value, checksum FROM about").fetchall()
    for key, value, kept in found:
        if kept != checksum(key, value):
            raise Damage(f"what it says of '{key}' is not as it was written")
    known = {key: value for key, value, _ in found}
    if _of_facts(known) != head(connection, FACTS):
        raise Damage("a fact in 'about' is missing, or is an old one")
    return known


def set_facts(connection: sqlite3.Connection, news: Mapping[str, str], *, is_first: bool = False) -> None:
    """Save facts in place of earlier ones, within a transaction; or, the first time, only those that are not there."""
    known = facts(connection)
    wanted = {key: value for key, value in news.items() if not is_first or key not in known}
    rows = [(key, value, checksum(key, value)) for key, value in wanted.items()]
    connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?, ?)", rows)
    set_head(connection, FACTS, _of_facts(known | wanted))


def _of_facts(known: Mapping[str, str]) -> Head:
    return Head(len(known), checksum(sorted(known.items())))
