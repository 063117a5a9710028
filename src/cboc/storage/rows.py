"""The tables of a site's file beside its facts: every state that a trial has had, and the messages that left."""

from __future__ import annotations

import sqlite3

from cboc import checked_rows
from cboc.checked_rows import Rows

TRIALS = Rows("trials", ("number INTEGER NOT NULL", "at REAL NOT NULL", "by TEXT NOT NULL", "row TEXT NOT NULL"))
SENT = Rows(
    "sent",
    ("at REAL NOT NULL", "address TEXT NOT NULL", "method TEXT NOT NULL", "path TEXT NOT NULL", "body BLOB NOT NULL"),
)
NAMES = checked_rows.NAMES | {TRIALS.table, SENT.table}


def make(connection: sqlite3.Connection) -> None:
    """Make the tables, all of them empty."""
    checked_rows.make(connection)
    TRIALS.make(connection)
    SENT.make(connection)
