"""Every message is one transaction: the study's row is locked, the ledger is asked, the answer is given after commit.

There is no mark for "in progress": a coordinator that is killed has either taken a message or it has not, and the site
sends it again. A deadline is checked when somebody asks, so nothing has to run in between.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import IntegrityError

from cboc.consensus.rules import RULES
from cboc.coordinator.database import LONGEST, sites, studies, transaction
from cboc.coordinator.store import SqlStore
from cboc.errors import CbocError
from cboc.exchange.amendment import successor
from cboc.exchange.answers import Past
from cboc.exchange.ledger import Ledger
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.network import Standing
from cboc.exchange.study import Study

if TYPE_CHECKING:
    from cboc.exchange.feeds.handover import Handover

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Known:
    """What is known of a study while nobody amends it: its versions, the newest last, and closed rounds."""

    versions: tuple[Study, ...]
    draft: int  # how often the terms had been replaced: this changes while nobody has joined
    past: Past | None = None

    @property
    def study(self) -> Study:
        """The newest version."""
        return self.versions[-1]


class Transactions:
    """The studies of one database. Several processes may have one each on the same database."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._known: dict[str, Known] = {}  # changes only with the version of the study

    def create(self, study: Study) -> None:
        """Add a new study under its name."""
        check_terms(study)
        row = {"study": study.name, "agreement": study.canonical, "closed": 0, "departures": 0}
        row |= {"version": study.version}
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
        """Return what the others of a site have found, and how many turns of its own have come in."""
        return self._asked(study, lambda ledger: replace(ledger.news(site), turn=ledger.progress(site)[0]))

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

    def amend(self, given: Study) -> Study:
        """Go on with the next version of a study, as given but for its number; every site has to accept it."""
        with self._ledger(given.name) as ledger:
            new = successor(ledger.study, given)
            check_terms(new)
            store: SqlStore = ledger.store  # type: ignore[assignment]  # the ledgers here have no other
            store.amend(new.canonical, new.version, new.sites[len(ledger.study.sites) :], self._clock())
        return new

    def accept(self, study: str, site: str, digest: str) -> None:
        """Note that a site accepts the newest version of a study; one that had finished comes back by that."""
        with self._ledger(study) as ledger:
            known = {each.digest: each for each in ledger.versions.values()}
            if digest not in known:
                raise CbocError(f"this is not an agreement of study '{study}'.")
            ledger.accept(site, known[digest])

    def versions(self, study: str) -> list[Study]:
        """Return all versions of a study, the newest last."""
        return self._asked(study, lambda ledger: [ledger.versions[number] for number in sorted(ledger.versions)])

    def leave(self, study: str, site: str) -> None:
        """Let a site leave: it proposes no more."""
        with self._ledger(study) as ledger:
            ledger.leave(site)

    def _asked(self, study: str, question: Callable[[Ledger], Answer]) -> Answer:
        """Answer by reading only, unless a deadline has passed, or the clock was set, and the round has to change."""
        with self._ledger(study, is_reading=True) as ledger:
            if not (ledger.is_due or ledger.is_ahead):
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
            if known is None or (known.draft, known.study.version) != (store.draft, store.version):
                known = Known(versions_of(study, store), store.draft)
            ledger = Ledger(known.study, store, lambda: now, known.past, known.versions[:-1])
            yield ledger
        self._known[study] = replace(known, past=ledger.past)  # after the commit: nothing rolled back is remembered


def versions_of(name: str, store: SqlStore) -> tuple[Study, ...]:
    """All versions of a study in the database, the newest last."""
    newest = store.agreement  # first: if the study is amended just now, it is there twice, and is read again
    return tuple(_agreed(name, text) for text in (*(text for text, _ in store.earlier), newest))


def _agreed(name: str, stored: str) -> Study:
    try:
        return Study.from_agreement(json.loads(stored))
    except (CbocError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CbocError(
            f"the database is damaged: the agreement of study '{name}' cannot be read; restore a backup."
        ) from None


def check_terms(study: Study) -> None:
    """Raise one sentence if a coordinator cannot run a study."""
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
