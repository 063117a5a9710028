"""The rows of a ledger in the coordinator's tables.

A design is 8 D bytes: its coordinates on the grid of 2⁻³², whole numbers of 64 bits, lowest byte first. So it comes
back to the last bit from any database, and nothing else fits.

The statements are made once, because a message is mostly that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sqlalchemy import Connection, CursorResult, Executable, Row, bindparam, func, insert, select, update

from cboc.consensus.matrix import DESIGN_ONE
from cboc.coordinator.database import proposals, sites, studies
from cboc.errors import CbocError
from cboc.exchange.messages import Proposal

IS_STUDY = studies.c.study == bindparam("of")
STANDING = select(studies.c.rounds_closed, studies.c.opened_at, studies.c.deadline).where(IS_STUDY)
LOCKED = STANDING.with_for_update()
AGREEMENT = select(studies.c.agreement).where(IS_STUDY)
OPEN = update(studies).where(IS_STUDY).values(opened_at=bindparam("at"))
FREEZE = update(studies).where(IS_STUDY).values(rounds_closed=bindparam("closed"), opened_at=None)
LEFT = select(sites.c.site).where(sites.c.study == bindparam("of"), sites.c.has_left)
LEAVE = update(sites).where(sites.c.study == bindparam("of"), sites.c.site == bindparam("who")).values(has_left=True)
IN_ROUND = (proposals.c.study == bindparam("of")) & (proposals.c.round == bindparam("at"))
ALL = select(proposals).where(IN_ROUND)
COUNT = select(func.count()).select_from(proposals).where(IN_ROUND)
ITS_OWN = studies.outerjoin(proposals, IN_ROUND & (proposals.c.site == bindparam("who")))
ONE_AND_COUNT = select(proposals, COUNT.scalar_subquery().label("many")).select_from(ITS_OWN).where(IS_STUDY)
ADD = insert(proposals)


class Proposals(Mapping[str, Proposal]):
    """Those of one round, of which no more is read than is asked for: one of them, how many, or all."""

    def __init__(self, connection: Connection, study: str, round: int) -> None:
        self._connection, self._place = connection, {"of": study, "at": round}
        self._some: dict[str, Proposal] = {}  # those that were asked for
        self._many: int | None = None  # how many there are
        self._all: dict[str, Proposal] | None = None

    def add(self, proposal: Proposal) -> None:
        """One that has been inserted."""
        self._some[proposal.site] = proposal
        self._many, self._all = None if self._many is None else self._many + 1, None

    def __getitem__(self, site: str) -> Proposal:
        known = self._some if self._all is None else self._all
        if site not in known and self._all is None:
            row = self._connection.execute(ONE_AND_COUNT, self._place | {"who": site}).one()
            self._many = row.many
            if row.site is not None:
                known[site] = _proposal(row)
        return known[site]

    def __len__(self) -> int:
        if self._many is None:
            self._many = self._connection.execute(COUNT, self._place).scalar_one()
        return self._many

    def __iter__(self) -> Iterator[str]:
        if self._all is None:
            self._all = {row.site: _proposal(row) for row in self._connection.execute(ALL, self._place)}
            self._many = len(self._all)
        return iter(self._all)


class SqlStore:
    """The `Store` of one study in one transaction, which holds the lock on the study's row unless it only reads."""

    def __init__(self, connection: Connection, study: str, *, is_reading: bool = False) -> None:
        self._connection, self._study = connection, study
        row = self._execute(STANDING if is_reading else LOCKED).one_or_none()
        if row is None:
            raise CbocError(f"there is no study '{study}' here.")
        self._closed: int = row.rounds_closed
        self.opened_at: float | None = row.opened_at  # with the first proposal of the open round
        self.deadline: float | None = row.deadline  # seconds after that
        self._left = frozenset(self._execute(LEFT).scalars())  # after the lock: together they would see what was before
        self._read: dict[int, Proposals] = {}

    def _execute(self, statement: Executable, **values: Any) -> CursorResult[Any]:
        return self._connection.execute(statement, {"of": self._study, **values})

    @property
    def agreement(self) -> str:
        """As JSON: long, and asked for once."""
        agreement: str = self._execute(AGREEMENT).scalar_one()
        return agreement

    def add(self, proposal: Proposal) -> None:
        row = {
            "study": self._study,
            "round": proposal.round,
            "site": proposal.site,
            "x": to_bytes(proposal.x),
            "best": None if proposal.best is None else to_bytes(proposal.best),
            "reward": proposal.reward,
        }
        self._connection.execute(ADD, row)
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
        return None if self.opened_at is None or self.deadline is None else self.opened_at + self.deadline

    def open(self, at: float) -> None:
        """The first proposal of a round sets its clock."""
        self.opened_at = at
        self._execute(OPEN, at=at)

    def freeze(self, round: int) -> None:
        self._closed, self.opened_at = round + 1, None
        self._execute(FREEZE, closed=self._closed)

    def frozen(self) -> int:
        return self._closed

    def leave(self, site: str) -> None:
        self._execute(LEAVE, who=site)
        self._left |= {site}

    def left(self) -> frozenset[str]:
        return self._left


def _proposal(row: Row[Any]) -> Proposal:
    return Proposal(row.site, row.round, from_bytes(row.x), row.reward, row.best and from_bytes(row.best))


def to_bytes(x: tuple[float, ...]) -> bytes:
    """A design of the unit cube as 8 D bytes."""
    return np.rint(np.array(x) * DESIGN_ONE).astype("<u8").tobytes()


def from_bytes(stored: bytes) -> tuple[float, ...]:
    return tuple((np.frombuffer(stored, "<u8") / DESIGN_ONE).tolist())
