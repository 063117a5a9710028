"""Files that somebody changed by hand: with the checksums of before, or with new ones all through."""

import json
import sqlite3
from contextlib import closing

from cboc import checked_rows
from cboc.storage.chain import Chain
from cboc.storage.rows import SENT, TRIALS


def execute(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def reseal(path, tables=(TRIALS, SENT), statement="", *values):
    """Give every row of a site's file a checksum that fits: what only somebody does who knows how."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)
        known = dict(connection.execute("SELECT key, value FROM about"))
        connection.execute("DELETE FROM about")
        checked_rows.set_head(connection, checked_rows.FACTS, checked_rows._of_facts({}))
        checked_rows.set_facts(connection, known)
        for each in tables:
            found = connection.execute(f"SELECT {each._names} FROM {each.table} ORDER BY id").fetchall()
            connection.execute(f"DELETE FROM {each.table}")
            checked_rows.set_head(connection, each.table, checked_rows.NOTHING)
            each.add(connection, found)


def reseal_lines(path):
    """Give every line of a journal a checksum that fits."""
    found, chain = [json.loads(line) for line in path.read_text().splitlines()], Chain()
    path.write_bytes(b"".join(chain.sealed({name: row[name] for name in row if name != "checksum"}) for row in found))
    return path
