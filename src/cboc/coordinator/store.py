"""The facts of a ledger in the coordinator's tables.

A design is 8 D bytes: its coordinates on the grid of 2⁻³², whole numbers of 64 bits, lowest byte first. So any
database returns it to the last bit, and nothing else fits.

The SQL statements are built once, at import: building one costs as much as running it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, CursorResult, Executable, Row, bindparam, func, insert, select, true, update

from cboc.consensus.matrix import DESIGN_ONE
from cboc.coordinator.database import earlier, proposals, sites, studies
from cboc.errors import CbocError
from cboc.exchange.messages import Point, Proposal
from cboc.exchange.store import Entry

IS_STUDY = studies.c.study == bindparam("of")
FACTS = (studies.c.closed, studies.c.opened_at, studies.c.departures, studies.c.version, studies.c.draft)
STANDING = select(*FACTS).where(IS_STUDY)
LOCKED = STANDING.with_for_update()
AGREEMENT = select(studies.c.agreement).where(IS_STUDY)
EARLIER = (
    select(earlier.c.agreement, earlier.c.until).where(earlier.c.study == bindparam("of")).order_by(earlier.c.version)
)
REPLACE = insert(earlier)
AMEND = update(studies).where(IS_STUDY).values(agreement=bindparam("text"), version=bindparam("number"))
ADMIT = insert(sites)
OPEN = update(studies).where(IS_STUDY).values(opened_at=bindparam("at"))
CLOSE = update(studies).where(IS_STUDY).values(closed=bindparam("number"), opened_at=None)
LEFT = select(sites.c.site).where(sites.c.study == bindparam("of"), sites.c.has_left)
IS_SITE = (sites.c.study == bindparam("of")) & (sites.c.site == bindparam("who"))
LEAVE = update(sites).where(IS_SITE).values(has_left=True)
COME_BACK = update(sites).where(IS_SITE).values(has_left=False)
ACCEPTED = select(sites.c.accepted).where(IS_SITE)
ACCEPT = update(sites).where(IS_SITE).values(accepted=bindparam("number"), has_left=False)
COUNT_DEPARTURE = update(studies).where(IS_STUDY).values(departures=studies.c.departures + 1)
IN_STATE = (proposals.c.study == bindparam("of")) & (proposals.c.state == bindparam("at"))
OF_SITE = (proposals.c.study == bindparam("of")) & (proposals.c.site == bindparam("who"))
ALL = select(proposals).where(IN_STATE)
COUNT = select(func.count()).select_from(proposals).where(IN_STATE)
LAST = select(proposals).where(OF_SITE).order_by(proposals.c.turn.desc()).limit(1).subquery()
LAST_AND_COUNT = select(LAST, COUNT.scalar_subquery().label("many")).select_from(studies.outerjoin(LAST, true()))
LAST_AND_COUNT = LAST_AND_COUNT.where(IS_STUDY)
ONE = select(proposals).where(OF_SITE & (proposals.c.turn == bindparam("turn")))
UNTIL = proposals.alias()
LAST_TURN = (  # of a site, up to a state: found from the end of its turns
    select(UNTIL.c.turn)
    .where(UNTIL.c.study == sites.c.study, UNTIL.c.site == sites.c.site, UNTIL.c.state <= bindparam("at"))
    .order_by(UNTIL.c.turn.desc())
    .limit(1)
    .scalar_subquery()
)
IS_LAST = (proposals.c.study == sites.c.study) & (proposals.c.site == sites.c.site) & (proposals.c.turn == LAST_TURN)
LATEST_OF_ALL = select(proposals).select_from(sites.join(proposals, IS_LAST)).where(sites.c.study == bindparam("of"))
EXPERIMENTS = (
    select(proposals.c.site, (proposals.c.earlier + proposals.c.designs).label("many"))
    .select_from(sites.join(proposals, IS_LAST))
    .where(sites.c.study == bindparam("of"))
)
NAMES = select(proposals.c.site).where(IN_STATE)
STATES = select(proposals.c.state).where(OF_SITE & (proposals.c.state <= bindparam("at"))).order_by(proposals.c.turn)
ADD = insert(proposals)


class Entries(Mapping[str, Entry]):
    """The entries of one state. It reads only what is asked for: their number, or all of them."""

    def __init__(self, connection: Connection, study: str, state: int) -> None:
        self._connection, self._place = connection, {"of": study, "at": state}
        self._many: int | None = None
        self._names: list[str] | None = None
        self._all: dict[str, Entry] | None = None

    def count(self, many: int) -> None:
        """Set the number of entries, known from another query."""
        self._many = many

    def add(self) -> None:
        """Note that one more entry has been inserted."""
        self._many, self._names, self._all = None if self._many is None else self._many + 1, None, None

    def __getitem__(self, site: str) -> Entry:
        return self._read()[site]

    def __len__(self) -> int:
        if self._many is None:
            self._many = self._connection.execute(COUNT, self._place).scalar_one()
        return self._many

    def __iter__(self) -> Iterator[str]:
        if self._names is None:
            self._names = list(self._connection.execute(NAMES, self._place).scalars())
        return iter(self._names)

    def __contains__(self, site: object) -> bool:
        return site in list(self)

    def _read(self) -> dict[str, Entry]:
        if self._all is None:
            self._all = {row.site: _entry(row) for row in self._connection.execute(ALL, self._place)}
            self._many = len(self._all)
        return self._all


class SqlStore:
    """The `Store` of one study in one transaction, which holds the lock on the study's row unless it only reads."""

    def __init__(self, connection: Connection, study: str, *, is_reading: bool = False) -> None:
        self._connection, self._study = connection, study
        row = self._execute(STANDING if is_reading else LOCKED).one_or_none()
        if row is None:
            raise CbocError(f"there is no study '{study}' here.")
        self.closed: int = row.closed
        self.opened_at: float | None = row.opened_at
        self.departures: int = row.departures
        self.version: int = row.version
        self.draft: int = row.draft
        self._read: dict[int, Entries] = {}

    def _execute(self, statement: Executable, **values: Any) -> CursorResult[Any]:
        return self._connection.execute(statement, {"of": self._study, **values})

    @property
    def agreement(self) -> str:
        """The agreement as JSON: long, and read once."""
        agreement: str = self._execute(AGREEMENT).scalar_one()
        return agreement

    @property
    def earlier(self) -> list[tuple[str, float]]:
        """The agreements before it, in order, each with the time at which the next one replaced it."""
        return [(row.agreement, row.until) for row in self._execute(EARLIER)]

    def amend(self, agreement: str, version: int, admitted: Sequence[str], at: float) -> None:
        """Replace the agreement by its next version, and keep the one before; new sites have not joined yet."""
        row = {"study": self._study, "version": self.version, "agreement": self.agreement, "until": at}
        self._connection.execute(REPLACE, row)
        self._execute(AMEND, text=agreement, number=version)
        rows = [{"study": self._study, "site": site, "has_left": False, "accepted": version} for site in admitted]
        if rows:
            self._connection.execute(ADMIT, rows)
        self.version = version

    def add(self, entry: Entry, opened_at: float | None = None) -> None:
        proposal = entry.proposal
        row = {
            "study": self._study,
            "site": proposal.site,
            "turn": proposal.turn,
            "state": entry.state,
            "designs": len(proposal.X),
            "X": to_bytes(proposal.X),
            "bests": to_bytes(proposal.bests),
            "reward": proposal.reward,
            "earlier": entry.before,
            "arrived_at": entry.at,
            "version": entry.version,
        }
        self._connection.execute(ADD, row)
        self._entries(entry.state).add()
        if opened_at is not None:
            self.reopen(opened_at)

    def entries(self, state: int) -> Mapping[str, Entry]:
        return self._entries(state)

    def _entries(self, state: int) -> Entries:
        if state not in self._read:
            self._read[state] = Entries(self._connection, self._study, state)
        return self._read[state]

    def latest_of_all(self, state: int) -> Mapping[str, Entry]:
        return {row.site: _entry(row) for row in self._execute(LATEST_OF_ALL, at=state)}

    def experiments(self, state: int) -> Mapping[str, int]:
        return {row.site: row.many for row in self._execute(EXPERIMENTS, at=state)}

    def latest(self, site: str) -> Entry | None:
        """Return the last entry of a site; the query also counts those of the open state."""
        row = self._execute(LAST_AND_COUNT, who=site, at=self.closed).one()
        self._entries(self.closed).count(row.many)
        return None if row.site is None else _entry(row)

    def find(self, site: str, turn: int) -> Entry | None:
        row = self._execute(ONE, who=site, turn=turn).one_or_none()
        return None if row is None else _entry(row)

    def states(self, site: str, last: int) -> Sequence[int]:
        return self._execute(STATES, who=site, at=last).scalars().all()

    def reopen(self, opened_at: float) -> None:
        self.opened_at = opened_at
        self._execute(OPEN, at=opened_at)

    def close(self) -> None:
        self.closed, self.opened_at = self.closed + 1, None
        self._execute(CLOSE, number=self.closed)

    def leave(self, site: str) -> None:
        self._execute(LEAVE, who=site)
        self._count_departure()

    def come_back(self, site: str) -> None:
        self._execute(COME_BACK, who=site)
        self._count_departure()

    def accept(self, site: str, version: int) -> None:
        self._execute(ACCEPT, who=site, number=version)
        self._count_departure()

    def accepted(self, site: str) -> int:
        version: int = self._execute(ACCEPTED, who=site).scalar_one()
        return version

    def _count_departure(self) -> None:
        self._execute(COUNT_DEPARTURE)
        self.departures += 1

    @property
    def left(self) -> frozenset[str]:
        """The sites that have left, read after the lock: otherwise they could be out of date."""
        return frozenset(self._execute(LEFT).scalars())


def _entry(row: Row[Any]) -> Entry:
    dimension = len(row.X) // 8 // row.designs
    X, bests = from_bytes(row.X, dimension), from_bytes(row.bests, dimension)
    proposal = Proposal(row.site, row.turn, X, bests, row.reward)
    return Entry(row.state, proposal, row.earlier, row.arrived_at, row.version)


def to_bytes(designs: tuple[Point, ...]) -> bytes:
    """Encode designs of the unit cube (n, D) as 8 n D bytes."""
    return np.rint(np.array(designs) * DESIGN_ONE).astype("<u8").tobytes()


def from_bytes(stored: bytes, dimension: int) -> tuple[Point, ...]:
    """Decode the designs that `to_bytes` wrote."""
    rows = np.frombuffer(stored, "<u8").reshape(-1, dimension) / DESIGN_ONE
    return tuple(map(tuple, rows.tolist()))
