"""Bring the tables of a database up to date. A coordinator does this first, even if several start at the same moment.

upgrade(engine)     # an empty database, or one of an older cboc; a newer one, or somebody else's, is refused
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import OperationalError

from cboc.coordinator.database import PATIENCE, transaction
from cboc.coordinator.database_errors import code_of, plainly
from cboc.coordinator.transactions import Transactions
from cboc.errors import CbocError

VERSIONS = "alembic_version"  # the table in which Alembic notes the revision
PAUSE = 0.05  # seconds between two tries
LOCK = int.from_bytes(b"cboc")  # the number of PostgreSQL's advisory lock


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the tables up to date, all or nothing; a process that tries at the same time waits, and finds it done.

    A database in which a study cannot be read is refused: better now than by every message.
    """
    with changing(engine) as connection:
        if revision_of(connection) != latest():
            command.upgrade(configuration(connection), revision)
        else:  # SQLite begins a transaction even on a read-only file, and refuses only a write
            with connection.begin_nested() as trial:
                connection.exec_driver_sql(f"UPDATE {VERSIONS} SET version_num = version_num")
                trial.rollback()
    if revision == "head":
        with plainly(engine):
            Transactions(engine).check()


def downgrade(engine: Engine, revision: str) -> None:
    """Take the tables back to an older revision, without the later additions."""
    with changing(engine) as connection:
        revision_of(connection)
        command.downgrade(configuration(connection), revision)


@contextmanager
def changing(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction in which nobody else changes tables."""
    with plainly(engine):
        _arrive(engine)
        with transaction(engine) as connection:  # on SQLite, no other transaction writes
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
            yield connection


def _arrive(engine: Engine) -> None:
    """Wait for a new SQLite file. Its first user changes its mode, and SQLite itself cannot wait for that."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            engine.connect().close()
        except OperationalError as refusal:
            if code_of(refusal) != "SQLITE_BUSY" or time.monotonic() > until:
                raise
            time.sleep(PAUSE)
        else:
            return


def configuration(connection: Connection | None = None) -> Config:
    """Return the configuration that Alembic needs, without a file."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "cboc.coordinator:migrations")
    return config


def revisions() -> list[str]:
    """Return all revisions that this version of cboc knows, from the first to the latest."""
    return [script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()][::-1]


def latest() -> str:
    return revisions()[-1]


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables, None if there are no tables; refuse one that this cboc cannot work with."""
    tables = set(inspect(connection).get_table_names()) - {VERSIONS}
    found = MigrationContext.configure(connection).get_current_heads()
    if not tables and not found:
        return None
    where = connection.engine.url.render_as_string()
    if not found or "studies" not in tables:
        raise CbocError(f"the database {where} holds tables that are not cboc's; give the coordinator its own.")
    known = revisions()
    if found[0] not in known:
        raise CbocError(
            f"the database {where} is at revision {found[0]}, but this cboc knows only up to {known[-1]}; "
            "install a newer one."
        )
    return found[0]
