"""The page of a site that has joined no study yet: an invitation file, the terms that it is for, and joining."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from cboc.data.dataset import Direction
from cboc.errors import CbocError
from cboc.exchange.invitation import LARGEST, parse_invitation
from cboc.joining.invited import is_kept, keep, leaves, look
from cboc.sitepage.earlier import Desk, desk_routes
from cboc.sitepage.session import PATIENCE, Session

Show = Callable[..., Response]


def doorstep(session: Session, show: Show) -> APIRouter:
    """The routes before there is a bench; afterwards they lead to it."""
    router, desk = APIRouter(), Desk()

    def page(status: int = 200, error: str = "") -> Response:
        """The terms, if an invitation is kept and its coordinator answers; else the question for a file."""
        if session.is_joined:
            return RedirectResponse("/", 303)
        terms: dict[str, Any] = {"study": None, "site": "", "leaves": [], "table": None, "seen": None}
        try:
            if session.storage.exists() and is_kept(session.file):
                study, site = look(session.file, PATIENCE)
                terms = {"study": study, "site": site, "leaves": leaves(study), **desk.seen(study)}
        except CbocError as trouble:
            error = error or str(trouble)
        return show("join.html", status, error=error, file=session.storage.absolute(), largest=LARGEST, **terms)

    @router.get("/join")
    def terms() -> Response:
        return page()

    @router.post("/invitation")
    def invitation(invitation: Annotated[str, Form()] = "") -> Response:
        try:
            keep(parse_invitation(invitation.encode(errors="replace"), "what you handed in"), session.storage)
        except CbocError as error:
            return page(422, str(error))
        return RedirectResponse("/join", 303)

    @router.post("/join")
    def join(
        direction: Annotated[str, Form()] = "",
        digest: Annotated[str, Form()] = "",
        earlier: Annotated[str, Form()] = "",
    ) -> Response:
        """Join what was shown, with the table that was shown: if one has changed since, it is shown again."""
        try:
            wanted = Direction.of(direction)
            study, _ = look(session.file, PATIENCE)
            if study.digest != digest:
                raise CbocError("the terms have changed since this page was shown; look at them again.")
            session.join(study, wanted, desk.agreed(study, earlier))
        except CbocError as error:
            return page(409, str(error))
        desk.table = None
        return RedirectResponse("/", 303)

    router.include_router(desk_routes(desk, lambda: look(session.file, PATIENCE)[0], page))
    return router
