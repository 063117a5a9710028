"""One sentence for each failure of the database: which database, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from cboc.errors import CbocError

DAMAGED = "is not one, or is damaged; choose another, or restore a backup."
REASONS = {  # by the beginning of the error code
    ("SQLITE_BUSY", "SQLITE_LOCKED", "55P03"): "is in use by another process; stop it, or try again.",
    ("SQLITE_READONLY", "25006", "42501"): "is read-only; change its permissions, or choose another.",
    ("SQLITE_FULL", "53100"): "is on a disk that is full; free some space, and try again.",
    ("SQLITE_NOTADB", "SQLITE_CORRUPT", "XX001"): DAMAGED,
    ("SQLITE_CANTOPEN",): "cannot be opened; does its folder exist, and may you write there?",
}


@contextmanager
def plainly(engine: Engine) -> Iterator[None]:
    """Turn a refusal by the database into one sentence; a mistake of ours is raised unchanged."""
    try:
        yield
    except UnicodeDecodeError:  # SQLite's own words about a damaged file hold bytes of it
        raise CbocError(f"the database {engine.url.render_as_string()} {DAMAGED}") from None
    except DBAPIError as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise CbocError(f"the database {engine.url.render_as_string()} {reason}") from None


def code_of(error: DBAPIError) -> str:
    """Return SQLite's name of an error, or PostgreSQL's SQLSTATE; empty if the database gave none."""
    return getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None) or ""


def _reason(error: DBAPIError) -> str | None:
    code = code_of(error)
    if str(error.orig).startswith("Could not decode"):  # a text in SQLite that is not UTF-8
        return DAMAGED
    for beginnings, reason in REASONS.items():
        if code.startswith(beginnings):
            return reason
    if isinstance(error, OperationalError | InterfaceError) and code != "SQLITE_ERROR":  # that is a mistake in SQL
        return f"cannot be reached, or has failed: {' '.join(str(error.orig).split())}"
    return None
