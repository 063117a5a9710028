"""The commands for looking after a coordinator's database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.notes import notes
from cboc.errors import CbocError, installing

DATABASE = "sqlite:///coordinator.db"

Database = Annotated[
    str,
    typer.Option(
        metavar="URL", envvar="CBOC_DATABASE", help="sqlite:///FILE.db or postgresql+psycopg://USER@HOST/NAME."
    ),
]


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    database: Database = DATABASE,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write all of a coordinator's database to one file.

    The coordinator may run meanwhile: the file holds everything as it was at one moment. It gets its name only when it
    is complete, and only its owner may read it: it holds designs, and the hashes of tokens and passwords.

    Example: `cboc backup monday.cboc --database sqlite:///coordinator.db`
    """
    needs_service()
    from cboc.coordinator.backup import backup

    counts = backup(database, file, is_replaced=force)
    notes.print(f"Wrote {file}: {_said(counts)}.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `cboc backup` wrote.")],
    database: Database = DATABASE,
) -> None:
    """Fill an empty database from a backup.

    Restores all of it or nothing; a file that was truncated or altered is refused. SQLite and PostgreSQL take each
    other's files, and a file of an older cboc is brought up to date. Sites and people keep their tokens and passwords.
    Stop the old coordinator before the last backup: what it receives after that is not in the file.

    Example: `cboc restore monday.cboc --database postgresql+psycopg://cboc@localhost/cboc`
    """
    needs_service()
    from cboc.coordinator.backup import restore

    counts = restore(file, database)
    notes.print(f"Restored {file}: {_said(counts)}.")


def needs_service() -> None:
    """Refuse to go on unless the extra `service` is installed."""
    try:
        import alembic  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError:
        raise CbocError(f"this needs an extra; {installing('service')}.") from None


def _said(counts: dict[str, int]) -> str:
    return ", ".join(f"{table} {count}" for table, count in counts.items())
