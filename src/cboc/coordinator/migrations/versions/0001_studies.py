"""Studies, their sites, the invitations and the proposals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "studies",
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("agreement", sa.Text, nullable=False),
        sa.Column("rounds_closed", sa.Integer, nullable=False),
        sa.Column("deadline", sa.Float),
        sa.Column("opened_at", sa.Float),
        sa.PrimaryKeyConstraint("study", name="pk_studies"),
    )
    op.create_table(
        "sites",
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("site", sa.String(100), nullable=False),
        sa.Column("has_left", sa.Boolean, nullable=False),
        sa.Column("token", sa.String(64)),
        sa.PrimaryKeyConstraint("study", "site", name="pk_sites"),
        sa.ForeignKeyConstraint(["study"], ["studies.study"], name="fk_sites_studies"),
        sa.UniqueConstraint("token", name="uq_sites_token"),
    )
    op.create_table(
        "invites",
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("site", sa.String(100), nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.Column("token", sa.String(64)),
        sa.PrimaryKeyConstraint("code", name="pk_invites"),
        sa.ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"], name="fk_invites_sites"),
    )
    op.create_table(
        "proposals",
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("site", sa.String(100), nullable=False),
        sa.Column("x", sa.LargeBinary, nullable=False),
        sa.Column("best", sa.LargeBinary),
        sa.Column("reward", sa.Float),
        sa.PrimaryKeyConstraint("study", "round", "site", name="pk_proposals"),
        sa.ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"], name="fk_proposals_sites"),
    )


def downgrade() -> None:
    for table in ("proposals", "invites", "sites", "studies"):
        op.drop_table(table)
