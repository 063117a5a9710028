"""Proposals by a site's own turns, with room for several designs in each; the deadline is part of the agreement."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

NEW_TERMS = {"pace": "rounds", "objectives": ["y"]}


def upgrade() -> None:
    """Until now a proposal's turn was its round, and it held one design and at most one best design."""
    rows = _all("proposals")
    op.drop_table("proposals")
    made = op.create_table(
        "proposals",
        sa.Column("study", sa.String(100), nullable=False),
        sa.Column("site", sa.String(100), nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("designs", sa.Integer, nullable=False),
        sa.Column("X", sa.LargeBinary, nullable=False),
        sa.Column("bests", sa.LargeBinary, nullable=False),
        sa.Column("reward", sa.Float),
        sa.PrimaryKeyConstraint("study", "site", "turn", name="pk_proposals"),
        sa.ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"], name="fk_proposals_sites"),
    )
    for row in rows:
        row |= {"turn": row["round"], "designs": 1, "X": row.pop("x"), "bests": row.pop("best") or b""}
    op.bulk_insert(made, rows)
    op.create_index("ix_proposals_round", "proposals", ["study", "round"])
    for row in _all("studies"):
        terms = {**json.loads(row["agreement"]), "deadline": row["deadline"], **NEW_TERMS}
        _set(row["study"], agreement=json.dumps(terms, ensure_ascii=True))
    op.drop_column("studies", "deadline")  # in place: a copy under the same name would break the sites' references


def downgrade() -> None:
    """What the tables of before cannot hold is left out: designs after the first, best designs after the first."""
    op.add_column("studies", sa.Column("deadline", sa.Float))
    for row in _all("studies"):
        terms = json.loads(row["agreement"])
        deadline = terms.pop("deadline", None)
        kept = {name: value for name, value in terms.items() if name not in NEW_TERMS}
        _set(row["study"], agreement=json.dumps(kept, ensure_ascii=True), deadline=deadline)
    rows = _all("proposals")
    op.drop_index("ix_proposals_round", "proposals")
    op.drop_table("proposals")
    made = op.create_table(
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
    for row in rows:
        size = len(row["X"]) // row.pop("designs")
        row |= {"x": row.pop("X")[:size], "best": row.pop("bests")[:size] or None}
        del row["turn"]
    op.bulk_insert(made, rows)


def _all(name: str) -> list[dict[str, Any]]:
    """The rows of a table as it is now."""
    connection = op.get_bind()
    table = sa.Table(name, sa.MetaData(), autoload_with=connection)
    return [dict(row) for row in connection.execute(sa.select(table)).mappings()]


def _set(study: str, **values: object) -> None:
    """Change some columns of a study."""
    connection = op.get_bind()
    studies = sa.Table("studies", sa.MetaData(), autoload_with=connection)
    connection.execute(sa.update(studies).where(studies.c.study == study).values(**values))
