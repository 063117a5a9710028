"""The coordinator's tables, and the rows of a ledger in them. No column is for an outcome, and none takes anything.

A design is 8 D bytes: its coordinates on the grid of 2⁻³², whole numbers of 64 bits, lowest byte first. So it comes
back to the last bit from any database, and nothing else fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    create_engine,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from cboc.consensus.matrix import DESIGN_ONE
from cboc.errors import CbocError
from cboc.messages import Proposal

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
PATIENCE = 30.0  # seconds that a message waits for another's transaction

metadata = MetaData(naming_convention=NAMES)

studies = Table(
    "studies",
    metadata,
    Column("study", String(LONGEST), primary_key=True),
    Column("agreement", Text, nullable=False),  # Study.agreement, canonical JSON
    Column("rounds_closed", Integer, nullable=False),  # the round of this number is open
    Column("deadline", Float),  # seconds from a round's first proposal until it may close without the rest
    Column("opened_at", Float),  # when that was, for the open round
)
sites = Table(
    "sites",
    metadata,
    Column("study", ForeignKey("studies.study"), primary_key=True),
    Column("site", String(LONGEST), primary_key=True),
    Column("has_left", Boolean, nullable=False),
    Column("token", String(DIGEST), unique=True),  # SHA-256 of what the site shows with every message; None: not joined
)
invites = Table(
    "invites",
    metadata,
    Column("code", String(DIGEST), primary_key=True),  # SHA-256 of what was handed to the site
    Column("study", String(LONGEST), nullable=False),
    Column("site", String(LONGEST), nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("token", String(DIGEST)),  # of the site that used it
    ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"]),
)
proposals = Table(
    "proposals",
    metadata,
    Column("study", String(LONGEST), primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("site", String(LONGEST), primary_key=True),
    Column("x", LargeBinary, nullable=False),
    Column("best", LargeBinary),
    Column("reward", Float),
    ForeignKeyConstraint(["study", "site"], ["sites.study", "sites.site"]),
)
people = Table(
    "people",
    metadata,
    Column("person", String(LONGEST), primary_key=True),
    Column("password", String(LONGEST_HASH), nullable=False),  # Argon2id, with its salt and costs
)
logins = Table(
    "logins",
    metadata,
    Column("cookie", String(DIGEST), primary_key=True),  # SHA-256 of what the browser shows
    Column("person", ForeignKey("people.person"), nullable=False),
    Column("expires_at", Float, nullable=False),
)


def open_database(url: str) -> Engine:
    """A database by its URL; SQLite is told to lose nothing, and to let one writer at a time through."""
    try:
        parsed = make_url(url)
        engine = create_engine(parsed, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError, ImportError):
        raise CbocError(
            f"a database is sqlite:///FILE.db or postgresql+psycopg://USER@HOST/NAME; '{url}' is neither."
        ) from None
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: object, _: object) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined]  # transactions are begun below, not by the driver
    cursor = connection.cursor()  # type: ignore[attr-defined]
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={1000 * PATIENCE:.0f}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin(connection: Connection) -> None:
    is_reading = READING.items() <= connection.get_execution_options().items()
    connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")


@contextmanager
def transaction(engine: Engine, *, is_reading: bool = False) -> Iterator[Connection]:
    """One that writes, or one that only reads and then keeps nobody waiting."""
    with engine.connect().execution_options(**(READING if is_reading else {})) as connection, connection.begin():
        yield connection


class Proposals(Mapping[str, Proposal]):
    """Those of one round, of which no more is read than is asked for: one of them, how many, or all."""

    def __init__(self, connection: Connection, study: str, round: int) -> None:
        self._connection, self._round = connection, round
        self._is_here = (proposals.c.study == study) & (proposals.c.round == round)
        self._some: dict[str, Proposal] = {}
        self._all: dict[str, Proposal] | None = None

    def add(self, proposal: Proposal) -> None:
        """One that has been inserted."""
        self._some[proposal.site] = proposal
        self._all = None

    def __getitem__(self, site: str) -> Proposal:
        known = self._some if self._all is None else self._all
        if site not in known and self._all is None:
            wanted = select(proposals).where(self._is_here, proposals.c.site == site)
            known.update((row.site, self._proposal(row)) for row in self._connection.execute(wanted))
        return known[site]

    def __len__(self) -> int:
        if self._all is not None:
            return len(self._all)
        return self._connection.execute(select(func.count()).where(self._is_here)).scalar_one()

    def __iter__(self) -> Iterator[str]:
        if self._all is None:
            rows = self._connection.execute(select(proposals).where(self._is_here))
            self._all = {row.site: self._proposal(row) for row in rows}
        return iter(self._all)

    def _proposal(self, row: Row[Any]) -> Proposal:
        return Proposal(row.site, self._round, from_bytes(row.x), row.reward, row.best and from_bytes(row.best))


class SqlStore:
    """The `Store` of one study in one transaction, which holds the lock on the study's row unless it only reads."""

    def __init__(self, connection: Connection, study: str, *, is_reading: bool = False) -> None:
        self._connection, self._study = connection, study
        wanted = select(studies.c.rounds_closed, studies.c.opened_at, studies.c.deadline).where(
            studies.c.study == study
        )
        row = connection.execute(wanted if is_reading else wanted.with_for_update()).one_or_none()
        if row is None:
            raise CbocError(f"there is no study '{study}' here.")
        self._closed: int = row.rounds_closed
        self.opened_at: float | None = row.opened_at  # with the first proposal of the open round
        self._deadline: float | None = row.deadline
        gone = select(sites.c.site).where(sites.c.study == study, sites.c.has_left)
        self._left = frozenset(connection.execute(gone).scalars())
        self._read: dict[int, Proposals] = {}

    @property
    def agreement(self) -> str:
        """As JSON: long, and asked for once."""
        wanted = select(studies.c.agreement).where(studies.c.study == self._study)
        return self._connection.execute(wanted).scalar_one()

    def add(self, proposal: Proposal) -> None:
        row = {
            "study": self._study,
            "round": proposal.round,
            "site": proposal.site,
            "x": to_bytes(proposal.x),
            "best": None if proposal.best is None else to_bytes(proposal.best),
            "reward": proposal.reward,
        }
        self._connection.execute(insert(proposals), row)
        self._proposals(proposal.round).add(proposal)

    def proposals(self, round: int) -> Mapping[str, Proposal]:
        return self._proposals(round)

    def _proposals(self, round: int) -> Proposals:
        if round not in self._read:
            self._read[round] = Proposals(self._connection, self._study, round)
        return self._read[round]

    @property
    def closes_at(self) -> float | None:
        """When the open round may close without the rest; None: not before all are in."""
        return None if self.opened_at is None or self._deadline is None else self.opened_at + self._deadline

    def open(self, at: float) -> None:
        """The first proposal of a round sets its clock."""
        self.opened_at = at
        self._connection.execute(update(studies).where(studies.c.study == self._study).values(opened_at=at))

    def freeze(self, round: int) -> None:
        self._closed, self.opened_at = round + 1, None
        closed = update(studies).where(studies.c.study == self._study)
        self._connection.execute(closed.values(rounds_closed=self._closed, opened_at=None))

    def frozen(self) -> int:
        return self._closed

    def leave(self, site: str) -> None:
        gone = update(sites).where(sites.c.study == self._study, sites.c.site == site)
        self._connection.execute(gone.values(has_left=True))
        self._left |= {site}

    def left(self) -> frozenset[str]:
        return self._left


def to_bytes(x: tuple[float, ...]) -> bytes:
    """A design of the unit cube as 8 D bytes."""
    return np.rint(np.array(x) * DESIGN_ONE).astype("<u8").tobytes()


def from_bytes(stored: bytes) -> tuple[float, ...]:
    return tuple((np.frombuffer(stored, "<u8") / DESIGN_ONE).tolist())
