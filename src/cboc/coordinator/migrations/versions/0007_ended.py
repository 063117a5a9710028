"""Which sites have left for good, by their operator; a site that has left by itself may be invited again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Until now nobody who had left was invited again. Who was ended for good has no token; who said so itself has."""
    op.add_column("sites", sa.Column("is_ended", sa.Integer, nullable=False, server_default="0"))
    sites = sa.table("sites", sa.column("is_ended"), sa.column("has_left"), sa.column("token"))
    op.execute(sa.update(sites).where(sites.c.has_left.is_(True), sites.c.token.is_(None)).values(is_ended=1))


def downgrade() -> None:
    """All that have left have done so for good again."""
    op.drop_column("sites", "is_ended")
