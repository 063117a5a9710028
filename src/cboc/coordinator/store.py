"""The facts of a ledger in the coordinator's tables.

A design is 8 D bytes: its coordinates on the grid of 2⁻³², whole numbers of 64 bits, lowest byte first. So any
database returns it to the last bit, and nothing else fits.

The SQL statements are built once, at import: building one costs as much as running it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sqlalchemy import Connection, CursorResult, Executable, Row, bindparam, func, insert, select, true, update

from cboc.consensus.matrix import DESIGN_ONE
from cboc.coordinator.database import proposals, sites, studies
from cboc.errors import CbocError
from cboc.exchange.messages import Point, Proposal
from cboc.exchange.store import Closure, Entry

IS_STUDY = studies.c.study == bindparam("of")
STANDING = select(studies.c.rounds_closed, studies.c.opened_at).where(IS_STUDY)
LOCKED = STANDING.with_for_update()
AGREEMENT = select(studies.c.agreement).where(IS_STUDY)
OPEN = update(studies).where(IS_STUDY).values(opened_at=bindparam("at"))
CLOSE = update(studies).where(IS_STUDY).values(rounds_closed=bindparam("closed"), opened_at=None)
LEFT = select(sites.c.site).where(sites.c.study == bindparam("of"), sites.c.has_left)
LEAVE = update(sites).where(sites.c.study == bindparam("of"), sites.c.site == bindparam("who")).values(has_left=True)
IN_ROUND = (proposals.c.study == bindparam("of")) & (proposals.c.round == bindparam("at"))
OF_SITE = (proposals.c.study == bindparam("of")) & (proposals.c.site == bindparam("who"))
ALL = select(proposals).where(IN_ROUND)
COUNT = select(func.count()).select_from(proposals).where(IN_ROUND)
LAST = select(proposals).where(OF_SITE).order_by(proposals.c.turn.desc()).limit(1).subquery()
LAST_AND_COUNT = select(LAST, COUNT.scalar_subquery().label("many")).select_from(studies.outerjoin(LAST, true()))
LAST_AND_COUNT = LAST_AND_COUNT.where(IS_STUDY)
ONE = select(proposals).where(OF_SITE & (proposals.c.turn == bindparam("turn")))
ADD = insert(proposals)


class Proposals(Mapping[str, Proposal]):
    """The proposals of one round. It reads only what is asked for: their number, or all of them."""

    def __init__(self, connection: Connection, study: str, round: int) -> None:
        self._connection, self._place = connection, {"of": study, "at": round}
        self._many: int | None = None
        self._all: dict[str, Proposal] | None = None

    def count(self, many: int) -> None:
        """Set the number of proposals, known from another query."""
        self._many = many

    def add(self) -> None:
        """Note that one more proposal has been inserted."""
        self._many, self._all = None if self._many is None else self._many + 1, None

    def __getitem__(self, site: str) -> Proposal:
        return self._read()[site]

    def __len__(self) -> int:
        if self._many is None:
            self._many = self._connection.execute(COUNT, self._place).scalar_one()
        return self._many

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def _read(self) -> dict[str, Proposal]:
        if self._all is None:
            self._all = {row.site: _proposal(row) for row in self._connection.execute(ALL, self._place)}
            self._many = len(self._all)
        return self._all


class SqlStore:
    """The `Store` of one study in one transaction, which holds the lock on the study's row unless it only reads."""

    def __init__(self, connection: Connection, study: str, *, is_reading: bool = False) -> None:
        self._connection, self._study = connection, study
        row = self._execute(STANDING if is_reading else LOCKED).one_or_none()
        if row is None:
            raise CbocError(f"there is no study '{study}' here.")
        self.closed: int = row.rounds_closed
        self.opened_at: float | None = row.opened_at
        self.left = frozenset(self._execute(LEFT).scalars())  # after the lock: otherwise it could be out of date
        self._read: dict[int, Proposals] = {}

    def _execute(self, statement: Executable, **values: Any) -> CursorResult[Any]:
        return self._connection.execute(statement, {"of": self._study, **values})

    @property
    def agreement(self) -> str:
        """The agreement as JSON: long, and read once."""
        agreement: str = self._execute(AGREEMENT).scalar_one()
        return agreement

    def add(self, entry: Entry, opened_at: float | None = None) -> None:
        proposal = entry.proposal
        row = {
            "study": self._study,
            "site": proposal.site,
            "turn": proposal.turn,
            "round": entry.round,
            "designs": len(proposal.X),
            "X": to_bytes(proposal.X),
            "bests": to_bytes(proposal.bests),
            "reward": proposal.reward,
        }
        self._connection.execute(ADD, row)
        self._proposals(entry.round).add()
        if opened_at is not None:
            self.opened_at = opened_at
            self._execute(OPEN, at=opened_at)

    def proposals(self, round: int) -> Mapping[str, Proposal]:
        return self._proposals(round)

    def _proposals(self, round: int) -> Proposals:
        if round not in self._read:
            self._read[round] = Proposals(self._connection, self._study, round)
        return self._read[round]

    def latest(self, site: str) -> Entry | None:
        """Return the last proposal of a site; the query also counts those of the open round."""
        row = self._execute(LAST_AND_COUNT, who=site, at=self.closed).one()
        self._proposals(self.closed).count(row.many)
        return None if row.site is None else _entry(row)

    def find(self, site: str, turn: int) -> Entry | None:
        row = self._execute(ONE, who=site, turn=turn).one_or_none()
        return None if row is None else _entry(row)

    def close(self, closure: Closure) -> None:
        self.closed, self.opened_at = closure.round + 1, None
        self._execute(CLOSE, closed=self.closed)

    def leave(self, site: str) -> None:
        self._execute(LEAVE, who=site)
        self.left |= {site}


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.round, _proposal(row))


def _proposal(row: Row[Any]) -> Proposal:
    dimension = len(row.X) // 8 // row.designs
    return Proposal(row.site, row.turn, from_bytes(row.X, dimension), from_bytes(row.bests, dimension), row.reward)


def to_bytes(designs: tuple[Point, ...]) -> bytes:
    """Encode designs of the unit cube (n, D) as 8 n D bytes."""
    return np.rint(np.array(designs) * DESIGN_ONE).astype("<u8").tobytes()


def from_bytes(stored: bytes, dimension: int) -> tuple[Point, ...]:
    """Decode the designs that `to_bytes` wrote."""
    rows = np.frombuffer(stored, "<u8").reshape(-1, dimension) / DESIGN_ONE
    return tuple(map(tuple, rows.tolist()))
