"""The coordinator's tables, and how a database is opened. No column holds an outcome, and none holds free text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from cboc.errors import CbocError
from cboc.private_files import make

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
LONGEST = 100  # characters of a name
LONGEST_HASH = 200  # characters of a password's hash
DIGEST = 64  # characters of a SHA-256, as hexadecimal digits
READING = {"is_reading": True}  # execution options of a transaction that writes nothing
PATIENCE = 30.0  # seconds that a message waits for another's transaction, or for the database
CONNECTING = 5  # seconds until a server that says nothing counts as one that is not there
GONE = {  # of libpq: a server that was there and does not confirm what it was sent, or that it is there, counts as gone
    "connect_timeout": CONNECTING,
    "tcp_user_timeout": 1000 * round(PATIENCE),
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
}
PAUSE = 0.2  # seconds between two tries

metadata = MetaData(naming_convention=NAMES)

studies = Table(
    "studies",
    metadata,
    Column("study", String(LONGEST), primary_key=True),
    Column("agreement", Text, nullable=False),  # Study.agreement, canonical JSON: the newest version
    Column("version", Integer, nullable=False, server_default="0"),  # of the agreement
    Column("closed", Integer, nullable=False),  # states; the one of this number is open
    Column("departures", Integer, nullable=False, server_default="0"),  # how often a site has left or come back
    Column("opened_at", Float),  # when the first proposal of the open round arrived, if it has a deadline
    Column("draft", Integer, nullable=False, server_default="0"),  # how often its terms changed before anybody joined
)
earlier = Table(
    "earlier",
    metadata,
    Column("study", ForeignKey("studies.study"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("agreement", Text, nullable=False),  # as it was before the study was amended
    Column("until", Float, nullable=False),  # when that happened
)
sites = Table(
    "sites",
    metadata,
    Column("study", ForeignKey("studies.study"), primary_key=True),
    Column("site", String(LONGEST), primary_key=True),
    Column("has_left", Boolean, nullable=False),
    Column("is_ended", Integer, nullable=False, server_default="0"),  # 1: it has left for good, and is not invited
    Column("token", String(DIGEST), unique=True),  # SHA-256 of the secret in every message; None: not joined
    Column("accepted", Integer, nullable=False, server_default="0"),  # the version of the agreement
    Column("heard_at", Float),  # when a message of it came, to the minute
)
invites = Table(
    "invites",
    metadata,
    Column("code", String(DIGEST), primary_key=True),  # SHA-256 of the code that was handed to the site
    Column("study", String(LONGEST), nullable=False),
    Column("site", String(LONGEST), nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("token", String(DIGEST)),  # token of the site that used it
    ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"]),
)
proposals = Table(
    "proposals",
    metadata,
    Column("study", String(LONGEST), primary_key=True),
    Column("site", String(LONGEST), primary_key=True),
    Column("turn", Integer, primary_key=True),  # the site's own count
    Column("state", Integer, nullable=False),  # the group's round that the turn is in; at the free pace, its arrival
    Column("designs", Integer, nullable=False),  # q, rows of X
    Column("X", LargeBinary, nullable=False),
    Column("bests", LargeBinary, nullable=False),
    Column("reward", Float),
    Column("earlier", Integer, nullable=False, server_default="0"),  # experiments that the site had proposed before
    Column("arrived_at", Float),
    Column("version", Integer, nullable=False, server_default="0"),  # of the agreement under which it was made
    ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"]),
    Index("ix_proposals_state", "study", "state"),
)
people = Table(
    "people",
    metadata,
    Column("person", String(LONGEST), primary_key=True),
    Column("password", String(LONGEST_HASH), nullable=False),  # Argon2id, with its salt and costs
    Column("is_admin", Integer, nullable=False, server_default="0"),  # 1: may see and change every study
)
roles = Table(
    "roles",
    metadata,
    Column("person", ForeignKey("people.person"), primary_key=True),
    Column("study", ForeignKey("studies.study"), primary_key=True),
    Column("role", String(10), nullable=False),  # rights.Role
)
acts = Table(
    "acts",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("person", String(LONGEST), nullable=False),  # who may be gone by now
    Column("study", ForeignKey("studies.study"), nullable=False),
    Column("site", String(LONGEST), nullable=False),  # which may be gone, too, if nobody had joined
    Column("act", String(10), nullable=False),  # rights.Act
)
logins = Table(
    "logins",
    metadata,
    Column("cookie", String(DIGEST), primary_key=True),  # SHA-256 of the browser's cookie
    Column("person", ForeignKey("people.person"), nullable=False),
    Column("expires_at", Float, nullable=False),
)


def open_database(url: str) -> Engine:
    """Open a database by its URL; SQLite is told to lose nothing, and to admit one writer at a time."""
    kind = "this"  # the rest of the URL is not repeated: it may contain a password
    try:
        parsed = make_url(url)
        kind = f"'{parsed.drivername}'"
        is_server = parsed.get_driver_name() == "psycopg"
        limits = {name: value for name, value in GONE.items() if name not in parsed.query} if is_server else {}
        engine = create_engine(parsed, pool_pre_ping=True, connect_args=limits)
    except (ArgumentError, NoSuchModuleError, ImportError, ValueError):
        raise CbocError(
            f"a database is sqlite:///FILE.db or postgresql+psycopg://USER@HOST/NAME; {kind} is neither."
        ) from None
    if parsed.get_backend_name() == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise CbocError("an SQLite database is a file, sqlite:///FILE.db with three slashes; this names none.")
        event.listen(engine, "do_connect", _keep_private)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    elif is_server:
        event.listen(engine, "connect", _wait_no_longer)
    return engine


def wait_for(engine: Engine, patience: float, say: Callable[[str], None]) -> None:
    """Wait for a PostgreSQL server that is starting; `say` is called once if it has to be waited for."""
    if engine.driver != "psycopg":
        return
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import Conninfo, PGconn, Ping

    _, given = engine.dialect.create_connect_args(engine.url)
    options = {option.keyword.decode() for option in Conninfo.get_defaults()}  # of the address, not of the driver
    known = {name: value for name, value in given.items() if name in options}
    address = make_conninfo(**{"connect_timeout": CONNECTING} | known).encode()
    where, until, is_said = engine.url.render_as_string(), time.monotonic() + patience, False
    while PGconn.ping(address) in (Ping.REJECT, Ping.NO_RESPONSE):
        if time.monotonic() >= until:
            raise CbocError(
                f"the database {where} did not answer within {patience:g} s; start it, check its address, "
                "or wait longer with --wait."
            )
        if not is_said:
            say(f"The database {where} does not answer yet; waiting for it, up to {patience:g} s.")
        is_said = True
        time.sleep(PAUSE)


def _keep_private(_: object, __: object, arguments: list[Any], options: dict[str, Any]) -> None:
    """Let only the owner read a new file and the two that SQLite puts beside it; by default everybody could."""
    if not options.get("uri"):
        with suppress(OSError):  # it exists already, or cannot be made: then SQLite says so
            make(arguments[0])


def _prepare(connection: object, _: object) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined]  # transactions are begun below, not by the driver
    cursor = connection.cursor()  # type: ignore[attr-defined]
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={1000 * PATIENCE:.0f}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _wait_no_longer(connection: object, _: object) -> None:
    """Let a transaction wait for another's locks as long as on SQLite."""
    connection.execute(f"SET lock_timeout = '{1000 * PATIENCE:.0f}ms'")  # type: ignore[attr-defined]
    connection.commit()  # type: ignore[attr-defined]


def _begin(connection: Connection) -> None:
    is_reading = READING.items() <= connection.get_execution_options().items()
    connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")


@contextmanager
def transaction(engine: Engine, *, is_reading: bool = False) -> Iterator[Connection]:
    """Begin a transaction that writes, or one that only reads and keeps nobody waiting.

    On PostgreSQL only writing needs one. There every statement sees what is committed when it begins, in a transaction
    or not, and to begin and end one takes as long as two statements.
    """
    options: dict[str, Any] = {}
    if is_reading:
        options = READING if engine.dialect.name == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection
