"""Files that somebody changed by hand: with the checksums of before, or with new ones all through."""

import json
import sqlite3
from contextlib import closing

from cboc.storage import rows
from cboc.storage.chain import Chain


def execute(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def reseal(path):
    """Give every row of a site's file a checksum that fits: what only somebody does who knows how."""
    with closing(sqlite3.connect(path)) as connection, connection:
        facts = dict(connection.execute("SELECT key, value FROM about"))
        for key, value in facts.items():
            connection.execute("UPDATE about SET checksum = ? WHERE key = ?", (rows.checksum(key, value), key))
        rows._set_head(connection, rows.FACTS, rows._of_facts(facts))
        for table, columns in rows.COLUMNS.items():
            found = connection.execute(f"SELECT {columns} FROM {table} ORDER BY id").fetchall()
            connection.execute(f"DELETE FROM {table}")
            rows._set_head(connection, table, rows.NOTHING)
            for values in found:
                rows.add(connection, table, *values)


def reseal_lines(path):
    """Give every line of a journal a checksum that fits."""
    found, chain = [json.loads(line) for line in path.read_text().splitlines()], Chain()
    path.write_bytes(b"".join(chain.sealed({name: row[name] for name in row if name != "checksum"}) for row in found))
    return path
