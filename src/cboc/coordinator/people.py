"""People who may look at the dashboard. Only the Argon2id of a password is kept, and the SHA-256 of a cookie.

people.add("ada", "a long password")        # on the coordinator's command line, never over the web
cookie = people.log_in("ada", "a long password", address)
people.who(cookie)                          # "ada", for twelve hours or until she logs out
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from sqlalchemy import Engine, delete, insert, select, update

from cboc.coordinator.addresses import block
from cboc.coordinator.database import LONGEST, logins, people, roles, transaction
from cboc.coordinator.rate_limit import RateLimit, TooMany
from cboc.coordinator.tokens import NotAllowed, fingerprint, new_secret
from cboc.errors import CbocError

SHORTEST = 10  # characters of a password
LIFETIME = 12 * 3600.0  # seconds of a login
TRIES, TRIES_AT_ALL = 5, 30  # a minute: from one address; for one person, from any address
AT_ONCE = 4  # passwords that are checked at the same time: each takes 64 MiB and a third of a second


class People:
    """The people of one database. Each process limits the tries to log in.

    The limit is strict by address and loose by person: trying one name all day blocks only the address it comes from.
    It goes by `ticks`, which nobody sets, and logins by the time of day.
    """

    def __init__(
        self, engine: Engine, clock: Callable[[], float] = time.time, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine, self._clock = engine, clock
        self._by_address, self._by_person = RateLimit(ticks, TRIES), RateLimit(ticks, TRIES_AT_ALL)
        self._hasher = PasswordHasher()
        self._places = BoundedSemaphore(AT_ONCE)

    def add(self, person: str, password: str) -> None:
        """Add a person, who may see nothing yet, or set a new password, which ends the logins with the old one."""
        if not _is_name(person):
            raise CbocError(f"a name has up to {LONGEST} printable characters; {person[:LONGEST]!r} does not fit.")
        if len(password) < SHORTEST:
            raise CbocError(f"a password has at least {SHORTEST} characters; got {len(password)}.")
        row = {"person": person, "password": self._hasher.hash(password)}
        with transaction(self._engine) as connection:
            connection.execute(delete(logins).where(logins.c.person == person))
            renewed = update(people).where(people.c.person == person).values(row)
            if connection.execute(renewed).rowcount == 0:
                connection.execute(insert(people), row)

    def remove(self, person: str) -> None:
        with transaction(self._engine) as connection:
            connection.execute(delete(logins).where(logins.c.person == person))
            connection.execute(delete(roles).where(roles.c.person == person))
            if connection.execute(delete(people).where(people.c.person == person)).rowcount == 0:
                raise CbocError(f"there is no person '{person}' here.")

    def names(self) -> list[str]:
        with transaction(self._engine, is_reading=True) as connection:
            return list(connection.execute(select(people.c.person).order_by(people.c.person)).scalars())

    def log_in(self, person: str, password: str, address: str = "") -> str:
        """Return a cookie that is valid for a while. `address` is where the try comes from."""
        by_address, by_person = fingerprint(block(address)), fingerprint(person)  # short, however long the input
        self._by_address.count(by_address)  # first: a try refused here does not count for the person
        self._by_person.count(by_person)
        known = self._kept(person) if _is_name(person) else None
        if not self._is_right(known, password):
            raise NotAllowed("this name and this password do not match.")
        self._by_address.excuse(by_address)
        self._by_person.excuse(by_person)
        cookie, now = new_secret(), self._clock()
        row = {"cookie": fingerprint(cookie), "person": person, "expires_at": now + LIFETIME}
        with transaction(self._engine) as connection:
            still = select(people.c.password).where(people.c.person == person).with_for_update()
            if connection.execute(still).scalar_one_or_none() != known:
                raise NotAllowed("this password was changed just now.")
            connection.execute(delete(logins).where(logins.c.expires_at <= now))
            connection.execute(insert(logins), row)
        return cookie

    def _kept(self, person: str) -> str | None:
        with transaction(self._engine, is_reading=True) as connection:
            return connection.execute(select(people.c.password).where(people.c.person == person)).scalar_one_or_none()

    def _is_right(self, known: str | None, password: str) -> bool:
        """Check a password. Known or not, it takes one Argon2: the time does not tell who is known here."""
        if not self._places.acquire(blocking=False):
            raise TooMany(1.0)
        try:
            if known is None:
                self._hasher.hash(password)
                return False
            return self._hasher.verify(known, password)
        except VerifyMismatchError:
            return False
        finally:
            self._places.release()

    def who(self, cookie: str) -> str | None:
        """Return the person whose cookie this is, if it is still valid."""
        is_good = (logins.c.cookie == fingerprint(cookie)) & (logins.c.expires_at > self._clock())
        with transaction(self._engine, is_reading=True) as connection:
            return connection.execute(select(logins.c.person).where(is_good)).scalar_one_or_none()

    def log_out(self, cookie: str) -> None:
        with transaction(self._engine) as connection:
            connection.execute(delete(logins).where(logins.c.cookie == fingerprint(cookie)))


def _is_name(person: str) -> bool:
    return bool(person.strip()) and len(person) <= LONGEST and person.isprintable()
