"""Who may see and change which study, who did, drafts of terms, and when a site was last heard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Until now everybody who could log in saw every study, and nobody changed anything there: that stays so."""
    op.add_column("studies", sa.Column("draft", sa.Integer, nullable=False, server_default="0"))
    op.add_column("sites", sa.Column("heard_at", sa.Float))
    op.add_column("people", sa.Column("is_admin", sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "roles",
        sa.Column("person", sa.String(100), nullable=False),
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.PrimaryKeyConstraint("person", "study", name="pk_roles"),
        sa.ForeignKeyConstraint(["person"], ["people.person"], name="fk_roles_people"),
        sa.ForeignKeyConstraint(["study"], ["studies.study"], name="fk_roles_studies"),
    )
    op.create_table(
        "acts",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("person", sa.String(100), nullable=False),
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("site", sa.String(100), nullable=False),
        sa.Column("act", sa.String(10), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_acts"),
        sa.ForeignKeyConstraint(["study"], ["studies.study"], name="fk_acts_studies"),
    )
    op.execute(
        "INSERT INTO roles (person, study, role) SELECT people.person, studies.study, 'viewer' FROM people, studies"
    )


def downgrade() -> None:
    """Everybody who can log in sees every study again."""
    for table in ("acts", "roles"):
        op.drop_table(table)
    for table, column in (("people", "is_admin"), ("sites", "heard_at"), ("studies", "draft")):
        op.drop_column(table, column)
