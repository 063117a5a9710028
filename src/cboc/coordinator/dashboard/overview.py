"""A study as the coordinator's people see it: its sites, the agreement, W and the proposals of closed rounds.

Nothing is written here. A deadline that has passed closes its round when the next site asks, not when somebody looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
from sqlalchemy import Connection, Engine, select

from cboc.arrays import Array
from cboc.coordinator.database import invites, proposals, sites, studies, transaction
from cboc.coordinator.store import SqlStore
from cboc.coordinator.transactions import versions_of
from cboc.errors import CbocError
from cboc.exchange.amendment import changes
from cboc.exchange.answers import Past
from cboc.exchange.ledger import Ledger
from cboc.exchange.store import Entry
from cboc.exchange.study import Study

MOST_ARRIVALS = 2000  # on a timeline
MOST_STATES = 200  # whose designs are drawn, at the free pace


class Attendance(StrEnum):
    """Where a site stands in the open round."""

    IN = "in"
    AWAITED = "waited for"
    LATE = "late"
    ACTIVE = "active"  # at the free pace: it may propose whenever it likes
    SPENT = "budget used"
    LEFT = "left"


@dataclass(frozen=True)
class SiteOverview:
    """One site of a study, as the dashboard shows it."""

    name: str
    has_joined: bool
    attendance: Attendance
    proposed: int  # experiments in closed states
    budget: int
    heard_at: float | None = None  # when its last message came, in seconds since 1970
    invited_until: float | None = None  # when its open invitation ends, in seconds since 1970
    best: dict[str, str] | None = None  # its best design in closed states, in natural units, if it is shared


@dataclass(frozen=True)
class Amendment:
    """A change of a study while it ran."""

    version: int
    at: float  # in seconds since 1970
    changes: tuple[str, ...]


@dataclass(frozen=True)
class StudyOverview:
    """One study at the time `now`, as the dashboard shows it."""

    study: Study
    closed: int  # rounds, of which the one of this number is open; at the free pace, arrivals
    sites: tuple[SiteOverview, ...]
    closes_at: float | None  # when the open round may close without the rest
    now: float
    history: tuple[Amendment, ...] = ()  # the latest last

    @property
    def is_open(self) -> bool:
        """Whether every site gets every other's best design."""
        return is_open(self.study)

    @property
    def present(self) -> int:
        return sum(site.attendance is Attendance.IN for site in self.sites)

    @property
    def missing(self) -> tuple[str, ...]:
        """The sites that the open round waits for."""
        waited = (Attendance.AWAITED, Attendance.LATE)
        return tuple(site.name for site in self.sites if site.attendance in waited)

    @property
    def is_finished(self) -> bool:
        """Has every site left or used its budget?"""
        return all(site.attendance in (Attendance.LEFT, Attendance.SPENT) for site in self.sites)


@dataclass(frozen=True)
class Arrival:
    """One proposal of the record, as a timeline shows it."""

    state: int
    site: str
    turn: int
    designs: int
    at: float | None


@dataclass(frozen=True)
class Known:
    """The facts that are read once in every version: the agreements, and closed rounds with their designs."""

    study: Study
    earlier: tuple[Study, ...]
    times: tuple[float, ...]  # when each of the earlier versions ended
    past: Past | None
    designs: Array  # (rounds, K, D)
    draft: int


class Overview:
    """Read-only views of the studies of one database."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._known: dict[str, Known] = {}

    def studies(self, sees: Callable[[str], bool]) -> list[StudyOverview]:
        """Return the studies that somebody sees; the others are not even read."""
        with transaction(self._engine, is_reading=True) as connection:
            names = connection.execute(select(studies.c.study).order_by(studies.c.study)).scalars().all()
            return [self._seen(connection, name) for name in names if sees(name)]

    def study(self, name: str) -> StudyOverview:
        with transaction(self._engine, is_reading=True) as connection:
            return self._seen(connection, name)

    def matrix(self, name: str, round: int) -> tuple[Study, Array]:  # (K, K)
        """Return the study, and W of a closed round."""
        with transaction(self._engine, is_reading=True) as connection:
            ledger = self._ledger(connection, name)
            if not 0 <= round < ledger.round:
                raise CbocError(f"round {round} of study '{name}' is not closed.")
            return ledger.study, ledger.matrix(round)

    def designs(self, name: str) -> tuple[Study, Array]:  # (rounds closed, K, D)
        """Return the study and the proposals of its closed rounds, in the unit cube; NaN where a site was absent."""
        with transaction(self._engine, is_reading=True) as connection:
            ledger = self._ledger(connection, name)
            designs = self._known[name].designs
            return ledger.study, designs[: ledger.round] if ledger.study.pace.waits else designs

    def arrivals(self, name: str) -> tuple[Study, list[Arrival]]:
        """Return the study and its latest proposals, in the order of their arrival."""
        columns = (proposals.c.state, proposals.c.site, proposals.c.turn, proposals.c.designs, proposals.c.arrived_at)
        latest = select(*columns).where(proposals.c.study == name).order_by(proposals.c.state.desc())
        with transaction(self._engine, is_reading=True) as connection:
            study = self._ledger(connection, name).study
            rows = connection.execute(latest.limit(MOST_ARRIVALS)).all()
        return study, [Arrival(*row) for row in reversed(rows)]

    def _seen(self, connection: Connection, name: str) -> StudyOverview:
        ledger, now = self._ledger(connection, name), self._clock()
        doors = _doors(connection, name)
        latest = ledger.store.latest_of_all(ledger.round - 1)
        arrived = {site: entry.at for site, entry in ledger.store.latest_of_all(ledger.round).items()}
        proposed = {site: latest[site].after if site in latest else 0 for site in ledger.study.sites}
        standing = _attendances(ledger, proposed, is_late=ledger.closes_at is not None and now >= ledger.closes_at)
        members = tuple(
            SiteOverview(
                site,
                doors[site].has_joined,
                standing[site],
                many,
                ledger.study.budget(site),
                max((at for at in (arrived.get(site), doors[site].heard_at) if at is not None), default=None),
                doors[site].invited_until,
                _best(ledger.study, latest.get(site)),
            )
            for site, many in proposed.items()
        )
        return StudyOverview(ledger.study, ledger.round, members, ledger.closes_at, now, self._history(name))

    def _history(self, name: str) -> tuple[Amendment, ...]:
        known = self._known[name]
        versions = pairwise((*known.earlier, known.study))
        pairs = zip(known.times, versions, strict=True)
        return tuple(Amendment(new.version, at, tuple(changes(old, new))) for at, (old, new) in pairs)

    def _ledger(self, connection: Connection, name: str) -> Ledger:
        """The ledger of a study; rounds that closed since the last look are read, the others are known."""
        store = SqlStore(connection, name, is_reading=True)
        known = self._known.get(name)
        if known is None or (known.draft, known.study.version) != (store.draft, store.version):
            known = _agreed(name, store)
        ledger = Ledger(known.study, store, self._clock, known.past, known.earlier)
        first = len(known.designs) if ledger.study.pace.waits else max(0, ledger.round - MOST_STATES)
        new = [_stacked(ledger, state) for state in range(first, ledger.round)]
        if new or known is not self._known.get(name):
            before = known.designs if ledger.study.pace.waits else known.designs[:0]
            self._known[name] = replace(known, past=ledger.past, designs=np.concatenate([before, *new]))
        return ledger


@dataclass(frozen=True)
class Door:
    """What the tables say of a site besides its proposals."""

    has_joined: bool
    heard_at: float | None
    invited_until: float | None


def _doors(connection: Connection, study: str) -> dict[str, Door]:
    of = select(sites.c.site, sites.c.token, sites.c.heard_at).where(sites.c.study == study)
    open_ones = select(invites.c.site, invites.c.expires_at).where(invites.c.study == study, invites.c.token.is_(None))
    until = {row.site: row.expires_at for row in connection.execute(open_ones)}
    return {row.site: Door(row.token is not None, row.heard_at, until.get(row.site)) for row in connection.execute(of)}


def is_open(study: Study) -> bool:
    """Whether every site gets every other's best design, so that people who see the study may see them, too."""
    return bool(study.shares_best) and bool((study.links | np.eye(len(study.sites), dtype=bool)).all())


def _best(study: Study, entry: Entry | None) -> dict[str, str] | None:
    if entry is None or not entry.proposal.bests or not is_open(study):
        return None
    design = study.space.from_unit(entry.proposal.bests[0])
    return {name: parameter.shown(design[name]) for name, parameter in study.space.parameters.items()}


def _agreed(name: str, store: SqlStore) -> Known:
    *earlier, study = versions_of(name, store)
    K, D = len(study.sites), study.space.dimension
    times = tuple(until for _, until in store.earlier)
    return Known(study, tuple(earlier), times, None, np.empty((0, K, D)), store.draft)


def _stacked(ledger: Ledger, round: int) -> Array:  # (1, K, D)
    X = np.full((1, len(ledger.study.sites), ledger.study.space.dimension), np.nan)
    for site, entry in ledger.store.entries(round).items():
        X[0, ledger.study.index(site)] = entry.proposal.X[0]
    return X


def _attendances(ledger: Ledger, proposed: dict[str, int], *, is_late: bool) -> dict[str, Attendance]:
    """Where every site stands, given the number of experiments that it has proposed."""
    present, missing, able = set(ledger.store.entries(ledger.round)), set(ledger.missing()), set(ledger.expected())

    def one(site: str, many: int) -> Attendance:
        if site in present:
            return Attendance.IN
        if site in missing:
            return Attendance.LATE if is_late else Attendance.AWAITED
        if site in able:
            return Attendance.ACTIVE
        return Attendance.SPENT if many >= ledger.study.budget(site) else Attendance.LEFT

    return {site: one(site, many) for site, many in proposed.items()}
