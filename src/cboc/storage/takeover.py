"""Takes over site files of formats 1 and 2, which had one row for a trial and no checksums."""

from __future__ import annotations

import json
import sqlite3

from cboc.checked_rows import set_facts
from cboc.storage.formats import settings_from_1, trial_from_1
from cboc.storage.rows import SENT, TRIALS, make

OLD_NAMES = {"about", "trials", "sent"}


def take_over(connection: sqlite3.Connection, to: int, at: float) -> None:
    """Write an old file in today's form, within a transaction; raises if it holds something that we never wrote."""
    about = {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM about")}
    old = about["format"]
    if old not in (1, 2):
        return  # of another version: whoever opens it says so
    trials = dict(connection.execute("SELECT number, row FROM trials ORDER BY number").fetchall())
    sent = connection.execute("SELECT at, address, method, path, body FROM sent ORDER BY id").fetchall()
    if old == 1:
        about = settings_from_1(about)
        trials = {number: json.dumps(trial_from_1(json.loads(row))) for number, row in trials.items()}
    for table in OLD_NAMES:
        connection.execute(f"DROP TABLE {table}")
    make(connection)
    set_facts(connection, {key: json.dumps(value) for key, value in (about | {"format": to}).items()})
    by = f"taken over from format {old}"
    TRIALS.add(connection, ((number, at, by, row) for number, row in trials.items()))
    SENT.add(connection, ((float(sent_at), *texts, bytes(body)) for sent_at, *texts, body in sent))
