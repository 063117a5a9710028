"""Terms that nobody has agreed to yet: until a site has joined, the person who wrote them may write others."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from cboc.coordinator.database import invites, proposals, sites, studies, transaction
from cboc.coordinator.transactions import check_terms
from cboc.errors import CbocError
from cboc.exchange.study import Study


class Drafts:
    """The studies of one database that nobody has joined."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def is_draft(self, study: str) -> bool:
        """Whether nobody has joined a study: its terms may be replaced."""
        with transaction(self._engine, is_reading=True) as connection:
            return _is_draft(connection, study)

    def replace(self, study: Study) -> None:
        """Replace the terms of the study of this name; invitations of sites that stay remain good."""
        check_terms(study)
        of = {"study": study.name}
        with transaction(self._engine) as connection:
            # In the order in which joining takes them: who uses an invitation just now waits, or is waited for.
            connection.execute(select(invites.c.code).where(invites.c.study == study.name).with_for_update())
            before = select(sites.c.site).where(sites.c.study == study.name).with_for_update()
            there = set(connection.execute(before).scalars())
            connection.execute(select(studies.c.closed).where(studies.c.study == study.name).with_for_update())
            if not _is_draft(connection, study.name):
                raise CbocError(f"a site has joined study '{study.name}' meanwhile, so its terms stay as they are.")
            terms = {"agreement": study.canonical, "draft": studies.c.draft + 1}
            connection.execute(update(studies).where(studies.c.study == study.name).values(terms))
            for gone in there - set(study.sites):
                for table in (invites, sites):
                    connection.execute(delete(table).where(table.c.study == study.name, table.c.site == gone))
            new = [of | {"site": site, "has_left": False} for site in study.sites if site not in there]
            if new:
                connection.execute(insert(sites), new)


def _is_draft(connection: Connection, study: str) -> bool:
    known = connection.execute(select(studies.c.version).where(studies.c.study == study)).scalar_one_or_none()
    is_touched = (sites.c.study == study) & (sites.c.token.is_not(None) | sites.c.has_left)
    joined = select(func.count()).select_from(sites).where(is_touched)
    used = select(func.count()).select_from(invites).where(invites.c.study == study, invites.c.token.is_not(None))
    said = select(func.count()).select_from(proposals).where(proposals.c.study == study)
    return known == 0 and not any(connection.execute(count).scalar_one() for count in (joined, used, said))
