"""States instead of rounds, for studies without any; when a proposal arrived, and how many experiments came before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

EARLIER = """
UPDATE proposals SET earlier = (
    SELECT COALESCE(SUM(q.designs), 0) FROM proposals q
    WHERE q.study = proposals.study AND q.site = proposals.site AND q.turn < proposals.turn)
"""
DEPARTURES = """
UPDATE studies SET departures = (SELECT COUNT(*) FROM sites WHERE sites.study = studies.study AND sites.has_left)
"""


def upgrade() -> None:
    """A round is one kind of state; the number of sites that have left is read with every message."""
    op.drop_index("ix_proposals_round", "proposals")
    op.execute("ALTER TABLE proposals RENAME COLUMN round TO state")
    op.create_index("ix_proposals_state", "proposals", ["study", "state"])
    op.add_column("proposals", sa.Column("earlier", sa.Integer, nullable=False, server_default="0"))
    op.add_column("proposals", sa.Column("arrived_at", sa.Float))
    op.execute(EARLIER)
    op.execute("ALTER TABLE studies RENAME COLUMN rounds_closed TO closed")
    op.add_column("studies", sa.Column("departures", sa.Integer, nullable=False, server_default="0"))
    op.execute(DEPARTURES)


def downgrade() -> None:
    """Only studies in rounds can go back."""
    op.drop_column("studies", "departures")
    op.execute("ALTER TABLE studies RENAME COLUMN closed TO rounds_closed")
    op.drop_column("proposals", "arrived_at")
    op.drop_column("proposals", "earlier")
    op.drop_index("ix_proposals_state", "proposals")
    op.execute("ALTER TABLE proposals RENAME COLUMN state TO round")
    op.create_index("ix_proposals_round", "proposals", ["study", "round"])
