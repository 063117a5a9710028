"""Backup of a whole database in one file. Either kind of database can restore it, so a study can move between them.

Lines of JSON, compressed, and sealed with a key (seal.py); before version 0.2.0 there was no seal. Numbers have enough
digits to restore their last bit; bytes are written in hexadecimal.

    {"format": "cboc backup 1", "cboc": "0.1.0", "revision": "0002", "tables": [["studies", ["study", ...], 1], ...]}
    ["trial run", "{...}", 3, null, null]       rows, table by table, as many as the first line says
    {"sha256": "..."}                           of all lines before
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from importlib.metadata import version
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from alembic import command
from sqlalchemy import Connection, Engine, MetaData, Table, create_engine, func, insert, inspect, select
from sqlalchemy.exc import CompileError, DataError, IntegrityError, InterfaceError, ProgrammingError

from cboc.coordinator.database import open_database, transaction
from cboc.coordinator.database_errors import plainly
from cboc.coordinator.schema import VERSIONS, changing, configuration, revision_of, revisions
from cboc.coordinator.seal import Key, Sealing, is_sealed, unsealed
from cboc.errors import CbocError
from cboc.private_files import appearing

FORMAT = "cboc backup 1"
PACKED = b"\x1f\x8b"  # how a compressed file begins
STRANGE = (KeyError, TypeError, ValueError, AttributeError)  # what is raised by what no backup holds, and by databases:
REFUSED = (CompileError, DataError, IntegrityError, InterfaceError, ProgrammingError)
MANY = 1000  # rows that are moved at a time

Counts = dict[str, int]  # rows of every table


def backup(url: str, path: Path, key: Path, *, is_replaced: bool = False) -> Counts:
    """Write the database as it is at one moment to a file, sealed with a key, while others go on writing to it."""
    seal = Key.read(key)
    if path.exists() and not is_replaced:
        raise CbocError(f"{path} exists already; choose another name, or replace it with --force.")
    with _opened(url, is_there=True) as engine, plainly(engine), _moment(engine) as connection:
        revision = revision_of(connection)
        if revision is None:
            raise CbocError(f"the database {engine.url.render_as_string()} is empty; there is nothing to back up.")
        tables = _tables(connection, revision)
        counts = {table.name: _count(connection, table) for table in tables}
        layout = [(table.name, table.columns.keys(), counts[table.name]) for table in tables]
        header = {"format": FORMAT, "cboc": version("cboc"), "revision": revision, "tables": layout}
        with _appearing(path) as file:
            sealed = Sealing(file, seal)
            _write(sealed, header, _rows(connection, tables))
            sealed.finish()
    return counts


def restore(path: Path, url: str, key: Path | None) -> Counts:
    """Restore a backup into an empty database, all or nothing; a backup of an older cboc is brought up to date.

    Without a key it takes only a file that has no seal, such as those of before 0.2.0: anybody may have changed it.
    """
    header = _checked(path, key)
    with _opened(url) as engine, _as_written(path), changing(engine) as connection:
        if _is_used(connection):
            raise CbocError(
                f"the database {engine.url.render_as_string()} is in use already; restore into an empty one."
            )
        config = configuration(connection)
        command.downgrade(config, "base")
        command.upgrade(config, header["revision"])
        tables = {table.name: table for table in _tables(connection, header["revision"])}
        lines = _lines(path, key)
        next(lines)
        for name, columns, count in header["tables"]:
            if set(columns) != set(tables[name].columns.keys()):
                raise ValueError("a backup has all columns of a table")
            rows = (dict(zip(columns, _read(line), strict=True)) for line in islice(lines, count))
            while some := list(islice(rows, MANY)):
                connection.execute(insert(tables[name]), some)
        command.upgrade(config, "head")
    return {name: count for name, _, count in header["tables"]}


# ------------------------------------------------------------------------------------------------------- the database


@contextmanager
def _opened(url: str, *, is_there: bool = False) -> Iterator[Engine]:
    engine = open_database(url)
    if is_there and engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
        raise CbocError(f"there is no database {url}; name one with --database or the variable CBOC_DATABASE.")
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _moment(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees all tables as they were when it began."""
    is_postgresql = engine.dialect.name == "postgresql"
    with transaction(engine, is_reading=not is_postgresql) as connection:  # enough on SQLite
        if is_postgresql:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connection


def _tables(connection: Connection, revision: str) -> list[Table]:
    """The tables as the database has them, perhaps those of an older cboc; a table comes after those it refers to."""
    found, own = MetaData(), _own(revision)
    found.reflect(connection, only=lambda name, _: name in own)
    return found.sorted_tables


def _own(revision: str) -> set[str]:
    """The names of cboc's tables at a revision, read from a new database at that revision."""
    engine = create_engine("sqlite://")  # in memory
    with engine.begin() as connection:
        command.upgrade(configuration(connection), revision)
        names = set(inspect(connection).get_table_names()) - {VERSIONS}
    engine.dispose()
    return names


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _is_used(connection: Connection) -> bool:
    revision = revision_of(connection)
    return revision is not None and any(_count(connection, table) for table in _tables(connection, revision))


def _rows(connection: Connection, tables: list[Table]) -> Iterator[list[Any]]:
    for table in tables:
        for row in connection.execute(select(table).execution_options(yield_per=MANY)):
            yield list(row)


# ----------------------------------------------------------------------------------------------------------- the file


@contextmanager
def _appearing(path: Path) -> Iterator[IO[bytes]]:
    with ExitStack() as opened:
        try:
            file = opened.enter_context(appearing(path))
        except OSError as error:
            raise CbocError(f"cannot write {path}: {error.strerror}; choose a folder that you may write to.") from None
        yield file


def _write(file: Sealing, header: dict[str, Any], rows: Iterator[list[Any]]) -> None:
    digest = sha256()
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        for line in map(_written, chain([header], rows)):
            digest.update(line)
            packed.write(line)
        packed.write(_written({"sha256": digest.hexdigest()}))


def _written(value: object) -> bytes:
    return json.dumps(value, default=lambda stored: {"hex": bytes(stored).hex()}).encode() + b"\n"


def _read(line: bytes) -> list[Any]:
    values: list[Any] = json.loads(line)
    return [bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for value in values]


def _checked(path: Path, key: Path | None) -> dict[str, Any]:
    """Check that a file is complete and that this cboc can read it, and return its first line."""
    first = None
    for line in _lines(path, key):  # to the end, where the checksum is
        first = first or line
    with _as_written(path):
        return _header(json.loads(first or b"{}"), path)


def _header(header: dict[str, Any], path: Path) -> dict[str, Any]:
    """The first line, if this cboc can read what follows it."""
    if header.get("format") != FORMAT:
        raise CbocError(
            f"{path} has the format '{header.get('format')}'; this cboc reads '{FORMAT}': install a newer one."
        )
    if header["revision"] not in revisions():
        raise CbocError(
            f"{path} was written by cboc {header['cboc']}, whose tables this one does not know; install that one."
        )
    strange = {name for name, _, _ in header["tables"]} - _own(header["revision"])
    if strange:
        raise CbocError(
            f"{path} holds tables that are not cboc's: {', '.join(sorted(strange))}; back up again with this version."
        )
    return header


@contextmanager
def _as_written(path: Path) -> Iterator[None]:
    """Raise one sentence for what no backup of ours holds: somebody has made a checksum for it."""
    try:
        yield
    except (*STRANGE, *REFUSED):
        raise CbocError(
            f"{path} holds something that no backup holds; nothing was restored: use another copy."
        ) from None


def _content(file: BufferedReader, key: Path | None, path: Path) -> IO[bytes]:
    """What is under the seal, or the file itself if it has none and that is wanted."""
    if is_sealed(path):
        if key is None:
            raise CbocError(f"{path} is sealed; give its key, and leave out --unsealed.")
        return unsealed(file, Key.read(key), path)
    if key is not None and file.peek(2)[:2] == PACKED:  # else it is something else altogether
        raise CbocError(
            f"{path} has no seal, so anybody may have changed it; a backup of before version 0.2.0 that was kept where "
            "nobody else writes is restored with --unsealed."
        )
    return file


def _lines(path: Path, key: Path | None) -> Iterator[bytes]:
    """All lines but the last, which holds the checksum of the others."""
    digest, line = sha256(), b""
    try:
        with path.open("rb") as stored, gzip.open(_content(stored, key, path)) as file:
            for following in file:
                if line:
                    digest.update(line)
                    yield line
                line = following
    except (EOFError, gzip.BadGzipFile, zlib.error):
        line = b""
    if line != _written({"sha256": digest.hexdigest()}):
        raise CbocError(f"{path} is not a backup, or was truncated or altered after it was written; use another copy.")
