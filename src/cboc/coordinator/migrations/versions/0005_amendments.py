"""Versions of an agreement: the earlier ones, who has accepted which, and under which a proposal was made."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NEW_TERMS = ("version", "stewards")
COLUMNS = (("studies", "version"), ("sites", "accepted"), ("proposals", "version"))


def upgrade() -> None:
    """Until now no study could be amended: everything belongs to version 0."""
    op.create_table(
        "earlier",
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("agreement", sa.Text, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("study", "version", name="pk_earlier"),
        sa.ForeignKeyConstraint(["study"], ["studies.study"], name="fk_earlier_studies"),
    )
    for table, column in COLUMNS:
        op.add_column(table, sa.Column(column, sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    """A study that was amended goes on with its newest agreement; that it had others is forgotten."""
    for table, column in reversed(COLUMNS):
        op.drop_column(table, column)
    op.drop_table("earlier")
    connection = op.get_bind()
    studies = sa.Table("studies", sa.MetaData(), autoload_with=connection)
    for study, agreement in connection.execute(sa.select(studies.c.study, studies.c.agreement)).all():
        kept = {name: value for name, value in json.loads(agreement).items() if name not in NEW_TERMS}
        values = {"agreement": json.dumps(kept, ensure_ascii=True)}
        connection.execute(sa.update(studies).where(studies.c.study == study).values(values))
