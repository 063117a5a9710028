"""Every message is one transaction: the study's row is locked, the ledger is asked, the answer is given after commit.

There is no mark for "in progress": a coordinator that is killed has either taken a message or it has not, and the site
sends it again. A deadline is looked at when somebody asks, so that nothing has to run in between.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import IntegrityError

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.messages import Design, Proposal
from cboc.network.ledger import Ledger
from cboc.service.sql import LONGEST, SqlStore, sites, studies, transaction
from cboc.study import RULES, Study


@dataclass(frozen=True)
class State:
    """Where a study stands."""

    round: int  # that is open
    missing: tuple[str, ...]  # whom it waits for
    closes_at: float | None  # when it may close without them


class Exchange:
    """The studies of one database. Several processes may have one each on the same database."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._known: dict[str, tuple[Study, Array]] = {}  # what never changes: the agreement, rewards of closed rounds

    def create(self, study: Study, deadline: float | None = None) -> None:
        """A new study, by its name; `deadline` is in seconds from the first proposal of a round."""
        _check(study, deadline)
        row = {"study": study.name, "agreement": study.canonical, "rounds_closed": 0, "deadline": deadline}
        members = [{"study": study.name, "site": site, "has_left": False} for site in study.sites]
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(studies), row)
                connection.execute(insert(sites), members)
        except IntegrityError:
            raise CbocError(f"there is a study '{study.name}' here already; choose another name.") from None

    def study(self, name: str) -> Study:
        with self._ledger(name, is_reading=True) as (ledger, _):
            return ledger.study

    def submit(self, study: str, proposal: Proposal) -> None:
        """Take a proposal in, once; the last that is expected closes the round."""
        with self._ledger(study) as (ledger, connection):
            is_first = not ledger.store.proposals(ledger.current)
            before = ledger.current
            ledger.submit(proposal)
            if is_first and ledger.current == before and proposal.round == before:
                self._start(connection, study)

    def design(self, study: str, site: str, round: int) -> Design | None:
        """The answer, or None while the round is open."""
        self._close_if_due(study)
        with self._ledger(study, is_reading=True) as (ledger, _):
            return ledger.design(site, round)

    def leave(self, study: str, site: str) -> None:
        with self._ledger(study) as (ledger, _):
            ledger.leave(site)

    def state(self, study: str) -> State:
        self._close_if_due(study)
        with self._ledger(study, is_reading=True) as (ledger, connection):
            return State(ledger.current, tuple(ledger.missing()), _closes_at(connection, study))

    def _start(self, connection: Connection, study: str) -> None:
        """The first proposal of a round sets its clock."""
        connection.execute(update(studies).where(studies.c.study == study).values(opened_at=self._clock()))

    def _close_if_due(self, study: str) -> None:
        with transaction(self._engine, is_reading=True) as connection:
            is_due = self._is_due(connection, study)
        if is_due:
            with self._ledger(study) as (ledger, connection):
                present = len(ledger.store.proposals(ledger.current))
                if self._is_due(connection, study) and present >= ledger.study.quorum:
                    ledger.close()

    def _is_due(self, connection: Connection, study: str) -> bool:
        closes_at = _closes_at(connection, study)
        return closes_at is not None and self._clock() >= closes_at

    @contextmanager
    def _ledger(self, study: str, *, is_reading: bool = False) -> Iterator[tuple[Ledger, Connection]]:
        with transaction(self._engine, is_reading=is_reading) as connection:
            store = SqlStore(connection, study, is_reading=is_reading)
            agreed, rewards = self._known.get(study) or (_agreed(connection, study), None)
            ledger = Ledger(agreed, store, rewards)
            yield ledger, connection
        self._known[study] = (agreed, ledger.rewards)  # after the commit: what was rolled back is not known


def _agreed(connection: Connection, study: str) -> Study:
    agreement = connection.execute(select(studies.c.agreement).where(studies.c.study == study)).scalar_one()
    return Study.from_agreement(json.loads(agreement))


def _closes_at(connection: Connection, study: str) -> float | None:
    wanted = select(studies.c.opened_at, studies.c.deadline).where(studies.c.study == study)
    row = connection.execute(wanted).one_or_none()
    return None if row is None or row.opened_at is None or row.deadline is None else row.opened_at + row.deadline


def _check(study: Study, deadline: float | None) -> None:
    for name in (study.name, *study.sites):
        if len(name) > LONGEST or not name.isprintable():
            raise CbocError(f"a name has up to {LONGEST} printable characters; {name[:LONGEST]!r} does not fit.")
    rule = study.agreement()["rule"]
    if isinstance(rule, str) and rule not in RULES:
        raise CbocError(f"a coordinator knows the rules {', '.join(RULES)} and fixed matrices; '{rule}' is none.")
    if deadline is not None and not deadline > 0.0:
        raise CbocError(f"a deadline is a number of seconds above 0; this is {deadline!r}.")
