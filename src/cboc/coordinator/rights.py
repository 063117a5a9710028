"""What a person may see and do: a role for each study, or everything. Two consortia do not see each other.

rights = Roles(engine).of("anna")
rights.sees("buffer study")         # viewer, owner or admin
rights.owns("buffer study")         # owner or admin: may invite and revoke
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, Engine, delete, insert, select, update

from cboc.coordinator.database import acts, people, roles, studies, transaction
from cboc.errors import CbocError, did_you_mean

MOST_ACTS = 200  # that are shown


class Role(StrEnum):
    """What a person is to one study."""

    VIEWER = "viewer"  # sees it
    OWNER = "owner"  # also invites sites, and revokes their tokens


class Act(StrEnum):
    """What a person did to a site of a study."""

    INVITED = "invited"
    REVOKED = "revoked"
    ENDED = "ended"  # for good


@dataclass(frozen=True)
class Rights:
    """What one person may see and do."""

    person: str
    is_admin: bool
    roles: Mapping[str, Role]  # by study

    def sees(self, study: str) -> bool:
        """Whether the person may know that there is this study."""
        return self.is_admin or study in self.roles

    def owns(self, study: str) -> bool:
        """Whether the person may invite sites of this study, and revoke their tokens."""
        return self.is_admin or self.roles.get(study) is Role.OWNER


@dataclass(frozen=True)
class Deed:
    """One line of the record: who did what to which site, and when."""

    at: float
    person: str
    site: str
    act: Act


class Roles:
    """The roles of the people of one database, and the record of what they did."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def of(self, person: str) -> Rights:
        """Return what somebody may see and do; of somebody unknown, nothing."""
        with transaction(self._engine, is_reading=True) as connection:
            known = connection.execute(select(people.c.is_admin).where(people.c.person == person)).scalar_one_or_none()
            rows = connection.execute(select(roles.c.study, roles.c.role).where(roles.c.person == person)).all()
        return Rights(person, bool(known), {row.study: Role(row.role) for row in rows})

    def give(self, person: str, study: str, role: Role) -> None:
        """Give somebody a role in a study, in place of an earlier one."""
        with transaction(self._engine) as connection:
            known = connection.execute(select(studies.c.study)).scalars().all()
            if study not in known:
                raise CbocError(f"there is no study '{study}' here; {did_you_mean(study, known)}")
            _check(connection, person)
            connection.execute(delete(roles).where(roles.c.person == person, roles.c.study == study))
            connection.execute(insert(roles), {"person": person, "study": study, "role": role.value})

    def take(self, person: str, study: str) -> None:
        """Take somebody's role in a study away."""
        with transaction(self._engine) as connection:
            gone = delete(roles).where(roles.c.person == person, roles.c.study == study)
            if connection.execute(gone).rowcount == 0:
                raise CbocError(f"{person} has no role in study '{study}'; cboc people list shows who has.")

    def make_admin(self, person: str, *, is_admin: bool = True) -> None:
        """Let somebody see and change every study, also those to come; or no longer."""
        with transaction(self._engine) as connection:
            _check(connection, person)
            connection.execute(update(people).where(people.c.person == person).values(is_admin=int(is_admin)))

    def note(self, person: str, study: str, site: str, act: Act) -> None:
        """Add a line to the record."""
        row = {"at": self._clock(), "person": person, "study": study, "site": site, "act": act.value}
        with transaction(self._engine) as connection:
            connection.execute(insert(acts), row)

    def record(self, study: str) -> list[Deed]:
        """Return what people did to the sites of a study, the latest first."""
        columns = (acts.c.at, acts.c.person, acts.c.site, acts.c.act)
        latest = select(*columns).where(acts.c.study == study).order_by(acts.c.number.desc()).limit(MOST_ACTS)
        with transaction(self._engine, is_reading=True) as connection:
            return [Deed(row.at, row.person, row.site, Act(row.act)) for row in connection.execute(latest)]


def _check(connection: Connection, person: str) -> None:
    if connection.execute(select(people.c.person).where(people.c.person == person)).first() is None:
        raise CbocError(f"there is no person '{person}' here; cboc people add makes a login.")
