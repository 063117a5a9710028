"""Run by Alembic, over the connection that `schema.configuration` hands it, in a transaction that has begun already.

A new revision is drafted from the difference between a database and `sql.metadata`, and then read by a human:

    with schema.changing(open_database(URL)) as connection:
        command.revision(schema.configuration(connection), "what it brings", autogenerate=True, rev_id="0003")
"""

from __future__ import annotations

from alembic import context

from cboc.coordinator.database import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by making it anew
)
context.run_migrations()
