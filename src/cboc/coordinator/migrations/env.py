"""Alembic runs this file over the connection from `schema.configuration`, in a transaction that has already begun.

A new revision is drafted from the difference between a database and `database.metadata`, and then read by a human:

    with schema.changing(open_database(URL)) as connection:
        command.revision(schema.configuration(connection), "what it brings", autogenerate=True, rev_id="0005")
"""

from __future__ import annotations

from alembic import context

from cboc.coordinator.database import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by making a new one
)
context.run_migrations()
