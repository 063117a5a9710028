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
from typing import TypeVar

from sqlalchemy import Engine, insert, select, update
from sqlalchemy.exc import IntegrityError

from cboc.coordinator.database import LONGEST, sites, studies, transaction
from cboc.coordinator.store import SqlStore
from cboc.errors import CbocError
from cboc.exchange.ledger import Ledger, Past
from cboc.exchange.messages import Design, Proposal
from cboc.exchange.study import LONGEST_DEADLINE, RULES, Study

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class State:
    """Where a study stands."""

    round: int  # that is open
    missing: tuple[str, ...]  # whom it waits for
    closes_at: float | None  # when it may close without them


class Transactions:
    """The studies of one database. Several processes may have one each on the same database."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._known: dict[str, tuple[Study, Past]] = {}  # what never changes: the agreement, closed rounds

    def create(self, study: Study, deadline: float | None = None) -> None:
        """A new study, by its name; `deadline` is in seconds from the first proposal of a round."""
        _check(study, deadline)
        row = {"study": study.name, "agreement": study.canonical, "rounds_closed": 0, "deadline": deadline}
        members = [{"study": study.name, "site": site, "has_left": False} for site in study.sites]
        try:
            with transaction(self._engine) as connection:
                connection.execute(insert(studies), row)
                connection.execute(insert(sites), members)
        except IntegrityError:
            raise CbocError(f"there is a study '{study.name}' here already; choose another name.") from None

    def names(self) -> list[str]:
        """Of all studies."""
        with transaction(self._engine, is_reading=True) as connection:
            return list(connection.execute(select(studies.c.study).order_by(studies.c.study)).scalars())

    def allow(self, study: str, deadline: float | None) -> bool:
        """From now on a round waits so long; whether that is new."""
        _check_deadline(deadline)
        wanted = studies.c.study == study
        with transaction(self._engine) as connection:
            before = connection.execute(select(studies.c.deadline).where(wanted)).scalar_one()
            connection.execute(update(studies).where(wanted).values(deadline=deadline))
        return before != deadline

    def study(self, name: str) -> Study:
        return self._asked(name, lambda ledger, _: ledger.study)

    def submit(self, study: str, proposal: Proposal) -> None:
        """Take a proposal in, once; the last that is expected closes the round."""
        with self._ledger(study) as (ledger, store):
            before = ledger.current
            ledger.submit(proposal)
            if store.opened_at is None and ledger.current == before and proposal.round == before:
                store.open(self._clock())

    def design(self, study: str, site: str, round: int) -> Design | None:
        """The answer, or None while the round is open."""
        return self._asked(study, lambda ledger, _: ledger.design(site, round))

    def leave(self, study: str, site: str) -> None:
        with self._ledger(study) as (ledger, _):
            ledger.leave(site)

    def state(self, study: str) -> State:
        return self._asked(study, lambda ledger, store: State(ledger.current, tuple(ledger.missing()), store.closes_at))

    def _asked(self, study: str, question: Callable[[Ledger, SqlStore], Answer]) -> Answer:
        """An answer that only reads, unless a deadline has passed and the round has to be closed first."""
        with self._ledger(study, is_reading=True) as (ledger, store):
            if not self._is_due(ledger, store):
                return question(ledger, store)
        with self._ledger(study) as (ledger, store):  # one by itself: a refusal of the question does not take it back
            if self._is_due(ledger, store):
                ledger.close()
        with self._ledger(study, is_reading=True) as (ledger, store):
            return question(ledger, store)

    def _is_due(self, ledger: Ledger, store: SqlStore) -> bool:
        is_late = store.closes_at is not None and self._clock() >= store.closes_at
        return is_late and len(store.proposals(ledger.current)) >= ledger.study.quorum

    @contextmanager
    def _ledger(self, study: str, *, is_reading: bool = False) -> Iterator[tuple[Ledger, SqlStore]]:
        with transaction(self._engine, is_reading=is_reading) as connection:
            store = SqlStore(connection, study, is_reading=is_reading)
            known = self._known.get(study)
            agreed, past = known or (Study.from_agreement(json.loads(store.agreement)), None)
            ledger = Ledger(agreed, store, past)
            yield ledger, store
        self._known[study] = (agreed, ledger.past)  # after the commit: what was rolled back is not known


def _check(study: Study, deadline: float | None) -> None:
    for name in (study.name, *study.sites):
        if len(name) > LONGEST or not name.isprintable() or not name or name != name.strip():
            raise CbocError(
                f"a name has up to {LONGEST} printable characters, and no blank at either end; "
                f"{name[:LONGEST]!r} does not fit."
            )
    rule = study.agreement()["rule"]
    if isinstance(rule, str) and rule not in RULES:
        raise CbocError(f"a coordinator knows the rules {', '.join(RULES)} and fixed matrices; '{rule}' is none.")
    _check_deadline(deadline)


def _check_deadline(deadline: float | None) -> None:
    if deadline is not None and not 0.0 < deadline <= LONGEST_DEADLINE:
        raise CbocError(f"a deadline is above 0 and at most {LONGEST_DEADLINE:.0f} seconds; this is {deadline:g}.")
