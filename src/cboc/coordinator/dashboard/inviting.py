"""The pages on which owners invite sites, as a file to download, and revoke their tokens. Who did what is kept."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from sqlalchemy import Engine

from cboc.coordinator.dashboard.admission import Changed, NoStudy, Owned, Person, own_page
from cboc.coordinator.database import LONGEST
from cboc.coordinator.rights import Act, Rights, Roles
from cboc.coordinator.tokens import WEEK, Tokens
from cboc.coordinator.transactions import Transactions
from cboc.errors import CbocError
from cboc.exchange.invitation import ENDING, Invitation

Show = Callable[..., Response]
SiteField = Annotated[str, Form(max_length=LONGEST)]
SiteQuery = Annotated[str, Query(max_length=LONGEST)]
NOT_IN_A_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def inviting(engine: Engine, certificate: str | None, show: Show) -> APIRouter:
    """The routes; a `certificate` that sites have to trust goes into every invitation."""
    router = APIRouter(include_in_schema=False)
    door, roles, exchange = Tokens(engine), Roles(engine), Transactions(engine)

    def page(rights: Rights, name: str, site: str, status: int = 200, error: str = "") -> Response:
        try:
            is_known = exchange.study(name).has(site)
        except CbocError:
            is_known = False
        if not is_known:
            raise NoStudy(rights)
        values = {"presence": door.presence(name, site), "record": roles.record(name), "error": error}
        return show("site.html", status, rights=rights, name=name, site=site, **values)

    @router.get("/site")
    def site_page(rights: Person, name: Owned, site: SiteQuery) -> Response:
        return page(rights, name, site)

    @router.post("/invite", dependencies=[Depends(own_page)])
    def invite(request: Request, rights: Person, name: Changed, site: SiteField) -> Response:
        try:
            code = door.invite(name, site)
        except CbocError as error:
            return page(rights, name, site, 409, str(error))
        roles.note(rights.person, name, site, Act.INVITED)
        url = str(request.base_url).rstrip("/")
        given = Invitation(name, site, url, code, certificate, time.time() + WEEK)
        file = f"{NOT_IN_A_FILE_NAME.sub('-', site).strip('.-') or 'site'}{ENDING}"
        headers = {"Content-Disposition": f'attachment; filename="{file}"'}
        return Response(given.text, media_type="application/octet-stream", headers=headers)

    @router.post("/revoke", dependencies=[Depends(own_page)])
    def revoke(rights: Person, name: Changed, site: SiteField, for_good: Annotated[str, Form()] = "") -> Response:
        try:
            door.revoke(name, site, for_good=bool(for_good))
            if for_good:
                exchange.leave(name, site)
        except CbocError as error:
            return page(rights, name, site, 409, str(error))
        roles.note(rights.person, name, site, Act.ENDED if for_good else Act.REVOKED)
        return page(rights, name, site)

    return router
