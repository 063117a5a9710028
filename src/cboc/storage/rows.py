"""The tables of a site's file. Every row has a checksum; what is not as it was written is not read.

about   facts by name, each with a checksum of its own
trials  every state that a trial has had; its checksum goes on from that of the row before
sent    copies of the messages that left, likewise
heads   how many rows each table has, and its last checksum: nothing is missing, and no row is an old one

Rows of `trials` and `sent` are added, and never changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, at REAL NOT NULL, by TEXT NOT NULL, "
    "row TEXT NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE sent (id INTEGER PRIMARY KEY, at REAL NOT NULL, address TEXT NOT NULL, method TEXT NOT NULL, "
    "path TEXT NOT NULL, body BLOB NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE heads (name TEXT PRIMARY KEY, count INTEGER NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID",
)
NAMES = {"about", "trials", "sent", "heads"}
FACTS, TRIALS, SENT = "about", "trials", "sent"
COLUMNS = {TRIALS: "number, at, by, row", SENT: "at, address, method, path, body"}
MARKS = {TRIALS: "?, ?, ?, ?", SENT: "?, ?, ?, ?, ?"}

Values = tuple[Any, ...]


class Damage(Exception):
    """A row is not as it was written, or is missing; says which."""


@dataclass(frozen=True)
class Head:
    """How far a table goes: how many rows it has, and the checksum of the last one."""

    count: int = 0
    checksum: str = ""


NOTHING = Head()


def checksum(*values: Any) -> str:
    """The checksum of values; of a row, they begin with that of the row before."""
    return sha256(json.dumps(values, default=bytes.hex).encode()).hexdigest()


def make(connection: sqlite3.Connection) -> None:
    """Make the tables, all of them empty."""
    for table in TABLES:
        connection.execute(table)
    for name in (FACTS, *COLUMNS):
        _set_head(connection, name, NOTHING if name in COLUMNS else _of_facts({}))


def head(connection: sqlite3.Connection, table: str) -> Head:
    """How far a table goes, as it was written beside it."""
    found = connection.execute("SELECT count, checksum FROM heads WHERE name = ?", (table,)).fetchone()
    if found is None:
        raise Damage(f"what it says of the end of '{table}' is missing")
    return Head(*found)


def read(connection: sqlite3.Connection, table: str, after: Head = NOTHING) -> tuple[list[Values], Head]:
    """The rows of a table after a place that was read before, in order, and how far the table goes now."""
    query = f"SELECT id, checksum, {COLUMNS[table]} FROM {table} WHERE id > ? ORDER BY id"
    rows, last = [], after
    for number, kept, *values in connection.execute(query, (after.count,)):
        if number != last.count + 1:
            raise Damage(f"row {last.count + 1} of '{table}' is missing")
        if kept != checksum(last.checksum, table, number, *values):
            raise Damage(f"row {number} of '{table}' is not as it was written, or one before it")
        rows.append(tuple(values))
        last = Head(number, kept)
    if last != (end := head(connection, table)):
        raise Damage(f"'{table}' ends after row {last.count}, and was written up to row {end.count}")
    return rows, last


def add(connection: sqlite3.Connection, table: str, *values: Any) -> Head:
    """Add a row to a table, within a transaction."""
    last = head(connection, table)
    found = connection.execute(f"SELECT id, checksum FROM {table} ORDER BY id DESC LIMIT 1").fetchone()
    if (NOTHING if found is None else Head(*found)) != last:
        raise Damage(f"'{table}' does not end where it was written to end")
    number = last.count + 1
    new = Head(number, checksum(last.checksum, table, number, *values))
    insert = f"INSERT INTO {table} (id, {COLUMNS[table]}, checksum) VALUES (?, {MARKS[table]}, ?)"
    connection.execute(insert, (number, *values, new.checksum))
    _set_head(connection, table, new)
    return new


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
    _set_head(connection, FACTS, _of_facts(known | wanted))


def _of_facts(known: Mapping[str, str]) -> Head:
    return Head(len(known), checksum(sorted(known.items())))


def _set_head(connection: sqlite3.Connection, table: str, now: Head) -> None:
    connection.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", (table, now.count, now.checksum))
