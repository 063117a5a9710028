"""Every message is one transaction: the study's row is locked, the ledger is asked, the answer is given after commit.

There is no mark for "in progress": a coordinator that is killed has either taken a message or it has not, and the site
sends it again. A deadline is checked when somebody asks, so nothing has to run in between.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import IntegrityError

from cboc.consensus.rules import RULES
from cboc.coordinator.database import LONGEST, sites, studies, transaction
from cboc.coordinator.store import SqlStore
from cboc.errors import CbocError
from cboc.exchange.answers import Past
from cboc.exchange.ledger import Ledger
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.network import Standing
from cboc.exchange.study import Study

if TYPE_CHECKING:
    from cboc.exchange.feeds.handover import Handover

Answer = TypeVar("Answer")


class Transactions:
    """The studies of one database. Several processes may have one each on the same database."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._known: dict[str, tuple[Study, Past]] = {}  # never changes: the agreement, closed rounds

    def create(self, study: Study) -> None:
        """Add a new study under its name."""
        _check(study)
        row = {"study": study.name, "agreement": study.canonical, "closed": 0, "departures": 0}
        members = [{"study": study.name, "site": site, "has_left": False} for site in study.sites]
        try:
            with transaction(self._engine) as connection:
                connection.execute(insert(studies), row)
                connection.execute(insert(sites), members)
        except IntegrityError:
            raise CbocError(f"there is already a study '{study.name}' here; choose another name.") from None

    def names(self) -> list[str]:
        """Return the names of all studies."""
        with transaction(self._engine, is_reading=True) as connection:
            return list(connection.execute(select(studies.c.study).order_by(studies.c.study)).scalars())

    def check(self) -> None:
        """Raise one sentence if the agreement of a study cannot be read: no message about it could be answered."""
        with transaction(self._engine, is_reading=True) as connection:
            for name, agreement in connection.execute(select(studies.c.study, studies.c.agreement)):
                _agreed(name, agreement)

    def study(self, name: str) -> Study:
        """Return a study by its name."""
        return self._asked(name, lambda ledger: ledger.study)

    def submit(self, study: str, proposal: Proposal) -> None:
        """Store a proposal, once; the last expected proposal closes the round."""
        with self._ledger(study) as ledger:
            ledger.submit(proposal)

    def mix(self, study: str, site: str, turn: int) -> Mix:
        """Return the answer to a proposal."""
        return self._asked(study, lambda ledger: ledger.mix(site, turn))

    def news(self, study: str, site: str) -> News:
        """Return what the others of a site have found."""
        return self._asked(study, lambda ledger: ledger.news(site))

    def standing(self, study: str) -> Standing:
        """Return where a study stands."""
        return self._asked(study, lambda ledger: ledger.standing())

    def progress(self, study: str, site: str) -> tuple[int, int]:
        """Return the first turn that a site has not taken yet, and how many experiments it has proposed."""
        return self._asked(study, lambda ledger: ledger.progress(site))

    def go_on_from(self, study: str, past: Handover) -> None:
        """Begin a study with what its sites did without a coordinator: all of it, or nothing."""
        with self._ledger(study) as ledger:
            ledger.go_on_from(past.closed, past.open, past.left)

    def leave(self, study: str, site: str) -> None:
        """Let a site leave: it proposes no more."""
        with self._ledger(study) as ledger:
            ledger.leave(site)

    def _asked(self, study: str, question: Callable[[Ledger], Answer]) -> Answer:
        """Answer by reading only, unless a deadline has passed and the round has to be closed first."""
        with self._ledger(study, is_reading=True) as ledger:
            if not ledger.is_due:
                return question(ledger)
        with self._ledger(study) as ledger:  # a separate transaction: a refused question does not roll it back
            ledger.close_if_due()
        with self._ledger(study, is_reading=True) as ledger:
            return question(ledger)

    @contextmanager
    def _ledger(self, study: str, *, is_reading: bool = False) -> Iterator[Ledger]:
        """The ledger of one transaction, in which time stands still: a round that is not due stays so."""
        now = self._clock()
        with transaction(self._engine, is_reading=is_reading) as connection:
            store = SqlStore(connection, study, is_reading=is_reading)
            known = self._known.get(study)
            agreed, past = known or (_agreed(study, store.agreement), None)
            ledger = Ledger(agreed, store, lambda: now, past)
            yield ledger
        self._known[study] = (agreed, ledger.past)  # after the commit: nothing rolled back is remembered


def _agreed(name: str, stored: str) -> Study:
    try:
        return Study.from_agreement(json.loads(stored))
    except (CbocError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CbocError(
            f"the database is damaged: the agreement of study '{name}' cannot be read; restore a backup."
        ) from None


def _check(study: Study) -> None:
    for name in (study.name, *study.sites):
        if len(name) > LONGEST or not name.isprintable() or not name or name != name.strip():
            raise CbocError(
                f"a name has up to {LONGEST} printable characters, and no blank at either end; "
                f"{name[:LONGEST]!r} does not fit."
            )
    if study.quorum > 1 and study.deadline is None:
        raise CbocError(
            f"a quorum says how many sites are enough when the deadline has passed, and study '{study.name}' has no "
            "deadline; give one, or leave the quorum out."
        )
    if study.rule.terms is None:
        raise CbocError(
            f"a coordinator knows the rules {', '.join(RULES)} and fixed matrices; it cannot run your own function."
        )
