"""Invitations and tokens: which secret speaks for which site.

Secrets are 256 random bits, and only their SHA-256 is kept: whoever reads the database cannot speak for a site.

code = door.invite(study, site)     # handed to the site in some other way; valid once, for a while
door.join(code, token)              # the site chose the token and keeps it; the same pair again is fine
door.who(token)                     # (study, site), with every message
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, bindparam, delete, insert, select, update

from cboc.coordinator.database import invites, sites, transaction
from cboc.coordinator.store import SqlStore
from cboc.errors import CbocError

WEEK = 7 * 24 * 3600.0
SHORTEST = 32  # characters of a token
WHO = select(sites.c.study, sites.c.site).where(sites.c.token == bindparam("shown"))


class NotAllowed(CbocError):
    """The secret opens nothing here."""


class Presence(StrEnum):
    """Whether somebody speaks for a site."""

    JOINED = "joined"  # a token does
    ABSENT = "absent"  # it has not joined, or was revoked
    LEFT = "left"  # by itself: a new invitation brings it back
    ENDED = "ended"  # for good


def new_secret() -> str:
    """Return a new random secret."""
    while (secret := token_urlsafe(32)).startswith("-"):  # a command line would take it for an option
        pass
    return secret


def fingerprint(secret: str) -> str:
    """Return the SHA-256 of a secret, as hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()


class Tokens:
    """The secrets of one database."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def invite(self, study: str, site: str, lifetime: float = WEEK) -> str:
        """Return a code for one site; an earlier code that was not used is no longer valid."""
        code = new_secret()
        row = {"code": fingerprint(code), "study": study, "site": site, "expires_at": self._clock() + lifetime}
        with transaction(self._engine) as connection:
            known = select(sites.c.is_ended).where(sites.c.study == study, sites.c.site == site)
            is_ended = connection.execute(known).scalar_one_or_none()
            if is_ended is None:
                raise CbocError(f"there is no site '{site}' in study '{study}' here.")
            if is_ended:
                raise CbocError(f"site '{site}' has left study '{study}' for good; it cannot be invited again.")
            connection.execute(delete(invites).where(_is_of(study, site), invites.c.token.is_(None)))
            connection.execute(insert(invites), row)
        return code

    def absent(self, study: str) -> list[str]:
        """Return the sites for which no token speaks."""
        wanted = select(sites.c.site).where(sites.c.study == study, sites.c.token.is_(None), ~sites.c.has_left)
        with transaction(self._engine, is_reading=True) as connection:
            return list(connection.execute(wanted.order_by(sites.c.site)).scalars())

    def presence(self, study: str, site: str) -> Presence:
        """Return whether somebody speaks for a site."""
        wanted = select(sites.c.token, sites.c.has_left, sites.c.is_ended)
        with transaction(self._engine, is_reading=True) as connection:
            row = connection.execute(wanted.where(sites.c.study == study, sites.c.site == site)).one()
        if row.is_ended or row.has_left:
            return Presence.ENDED if row.is_ended else Presence.LEFT
        return Presence.ABSENT if row.token is None else Presence.JOINED

    def join(self, code: str, token: str) -> tuple[str, str]:
        """Let this token, and no other, speak for the site of this code from now on; return (study, site).

        A site that had left comes back by that: by a new invitation, not by one that it has used before.
        """
        if len(token) < SHORTEST:
            raise CbocError(f"a token has at least {SHORTEST} characters; got {len(token)}.")
        with transaction(self._engine) as connection:
            invite = self._invite(connection, code, token)
            mark = {"token": fingerprint(token)}
            if invite.token is None:
                _come_back(connection, invite.study, invite.site)
            connection.execute(update(invites).where(invites.c.code == invite.code).values(mark))
            is_site = (sites.c.study == invite.study) & (sites.c.site == invite.site)
            is_taken = (sites.c.token == mark["token"]) & ~is_site
            if connection.execute(select(sites.c.site).where(is_taken)).first() is not None:
                raise NotAllowed("this token already speaks for another site; make a new one.")
            connection.execute(update(sites).where(is_site).values(mark))
            if invite.token is None:  # no earlier invitation takes the site over; a later one stays valid
                is_other = _is_of(invite.study, invite.site) & (invites.c.code != invite.code)
                connection.execute(delete(invites).where(is_other))
        return invite.study, invite.site

    def invited(self, code: str, token: str) -> tuple[str, str]:
        """Return (study, site) of an invitation that this token may use; it stays as it is."""
        with transaction(self._engine, is_reading=True) as connection:
            invite = self._invite(connection, code, token, is_reading=True)
        return invite.study, invite.site

    def _invite(self, connection: Connection, code: str, token: str, *, is_reading: bool = False) -> Row[Any]:
        wanted = select(invites).where(invites.c.code == fingerprint(code))
        invite = connection.execute(wanted if is_reading else wanted.with_for_update()).one_or_none()
        if invite is None:
            raise NotAllowed("this invitation is unknown or too old; ask for another.")
        if invite.token is None and self._clock() > invite.expires_at:
            until = datetime.fromtimestamp(invite.expires_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
            raise NotAllowed(f"this invitation is too old: it was valid until {until}; ask for another.")
        if invite.token is not None and invite.token != fingerprint(token):
            raise NotAllowed("this invitation has already been used; ask for another.")
        return invite

    def who(self, token: str) -> tuple[str, str]:
        """Return (study, site) of a token."""
        with transaction(self._engine, is_reading=True) as connection:
            found = connection.execute(WHO, {"shown": fingerprint(token)}).one_or_none()
        if found is None:
            raise NotAllowed("this token is unknown or was revoked; ask for an invitation.")
        return found.study, found.site

    def hear(self, study: str, site: str) -> None:
        """Note that a message of this site has come just now."""
        heard = update(sites).where(sites.c.study == study, sites.c.site == site).values(heard_at=self._clock())
        with transaction(self._engine) as connection:
            connection.execute(heard)

    def revoke(self, study: str, site: str, *, for_good: bool = False) -> None:
        """End the token of this site and any invitation that it has not used; for good: it is not invited again."""
        with transaction(self._engine) as connection:
            is_site = (sites.c.study == study) & (sites.c.site == site)
            ended = {"token": None} | ({"is_ended": 1} if for_good else {})
            if connection.execute(update(sites).where(is_site).values(ended)).rowcount == 0:
                raise CbocError(f"there is no site '{site}' in study '{study}' here.")
            connection.execute(delete(invites).where(_is_of(study, site)))


def _come_back(connection: Connection, study: str, site: str) -> None:
    """Let a site take part again, if it had left; the study's row is locked, as for every change of who is there."""
    store = SqlStore(connection, study)
    if site in store.left:
        store.come_back(site)


def _is_of(study: str, site: str) -> ColumnElement[bool]:
    """The condition that an invitation is for this site."""
    return (invites.c.study == study) & (invites.c.site == site)
