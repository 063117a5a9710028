"""The commands for looking after a coordinator's database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.notes import notes
from cboc.errors import CbocError, installing
from cboc.private_files import is_open_to_others

DATABASE = "sqlite:///coordinator.db"
KEY = Path("backup.key")

Database = Annotated[
    str,
    typer.Option(
        metavar="URL", envvar="CBOC_DATABASE", help="sqlite:///FILE.db or postgresql+psycopg://USER@HOST/NAME."
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", metavar="KEY", envvar="CBOC_BACKUP_KEY", help="The key of the seal.", show_default=str(KEY)),
]


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    database: Database = DATABASE,
    key: KeyFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write all of a coordinator's database to one sealed file.

    The coordinator may run meanwhile: the file holds everything as it was at one moment. It gets its name only when it
    is complete. It holds designs, and the hashes of tokens and passwords, so it is sealed: without its key nobody can
    read it, or change it unnoticed. The first backup makes the key `backup.key`; a key that you name has to be there.
    Keep a copy of the key apart from the backups: without it they are lost, and who has both has everything.

    Example: `cboc backup monday.cboc --database sqlite:///coordinator.db`
    """
    needs_service()
    from cboc.coordinator.backup import backup
    from cboc.coordinator.seal import Key

    is_made = key is None and not KEY.exists()
    if is_made:
        Key.make(KEY)
    try:
        counts = backup(database, file, used := key or KEY, is_replaced=force)
    except BaseException:
        if is_made:  # it would be the key of nothing
            KEY.unlink()
        raise
    notes.print(f"Wrote {file}, sealed with {used}: {_said(counts)}.")
    if is_made:
        notes.print(
            f"{KEY} is new. Keep a copy of it apart from the backups: without it none of them can be restored, and "
            "whoever has both can read them, and forge others.",
            style="red",
        )
    elif is_open_to_others(used):
        notes.print(f"Others can read {used}; chmod 600 {used} ends that.", style="red")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `cboc backup` wrote.")],
    database: Database = DATABASE,
    key: KeyFile = None,
    unsealed: Annotated[
        bool,
        typer.Option("--unsealed", help="Take a backup of before version 0.2.0, which anybody could have changed."),
    ] = False,
) -> None:
    """Fill an empty database from a backup.

    Restores all of it or nothing. A file that was cut off, changed, or sealed with another key is refused. SQLite and
    PostgreSQL take each other's files, and a file of an older cboc is brought up to date. Sites and people keep their
    tokens and passwords. Stop the old coordinator before the last backup: what it receives after that is not in the
    file.

    Example: `cboc restore monday.cboc --database postgresql+psycopg://cboc@localhost/cboc`
    """
    needs_service()
    from cboc.coordinator.backup import restore

    counts = restore(file, database, None if unsealed else key or KEY)
    notes.print(f"Restored {file}: {_said(counts)}.")
    if unsealed:
        notes.print(f"{file} had no seal: whether somebody has changed it is not known.", style="red")


def needs_service() -> None:
    """Refuse to go on unless the extra `service` is installed."""
    try:
        import alembic  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError:
        raise CbocError(f"this needs an extra; {installing('service')}.") from None


def _said(counts: dict[str, int]) -> str:
    return ", ".join(f"{table} {count}" for table, count in counts.items())
