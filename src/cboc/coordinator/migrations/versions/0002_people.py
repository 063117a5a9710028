"""People who look at the coordinator, and their logins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("person", sa.String(100), nullable=False),
        sa.Column("password", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("person", name="pk_people"),
    )
    op.create_table(
        "logins",
        sa.Column("cookie", sa.String(64), nullable=False),
        sa.Column("person", sa.String(100), nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("cookie", name="pk_logins"),
        sa.ForeignKeyConstraint(["person"], ["people.person"], name="fk_logins_people"),
    )


def downgrade() -> None:
    for table in ("logins", "people"):
        op.drop_table(table)
