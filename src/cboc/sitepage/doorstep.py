"""The page of a site that has joined no study yet: an invitation file, the terms that it is for, and joining."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from cboc.data.dataset import Direction
from cboc.errors import CbocError, listed
from cboc.exchange.invitation import LARGEST, parse_invitation
from cboc.joining.invited import is_kept, keep, leaves, look
from cboc.sitepage.earlier import Desk, desk_routes
from cboc.sitepage.form import Fields as Typed
from cboc.sitepage.goal import read_goal
from cboc.sitepage.received import Form as Fields
from cboc.sitepage.session import PATIENCE, Session

Show = Callable[..., Response]


def doorstep(session: Session, show: Show) -> APIRouter:
    """The routes before there is a bench; afterwards they lead to it."""
    router, desk = APIRouter(), Desk()

    def page(status: int = 200, error: str = "", typed: Typed | None = None) -> Response:
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
        known = {"error": error, "typed": typed or {}, "file": session.storage.absolute(), "largest": LARGEST}
        return show("join.html", status, **known, **terms)

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
    def join(fields: Fields) -> Response:
        """Join what was shown, with the table that was shown: if one has changed since, it is shown again."""
        try:
            if "direction" in fields:
                Direction.of(fields["direction"])  # complains before anybody is asked
            study, _ = look(session.file, PATIENCE)
            if study.digest != fields.get("digest"):
                raise CbocError("the terms have changed since this page was shown; look at them again.")
            wanted = read_goal(fields, study.objectives)
            earlier = desk.agreed(study, fields.get("earlier", ""))
            if earlier is not None and len(wanted.measured) > 1:
                raise CbocError(
                    f"results from before need {listed(wanted.measured)} each, and the table has one outcome; leave "
                    "the table out, or the limit."
                )
            session.join(study, wanted, earlier)
        except CbocError as error:
            return page(409, str(error), fields)
        desk.table = None
        return RedirectResponse("/", 303)

    router.include_router(desk_routes(desk, lambda: look(session.file, PATIENCE)[0], page))
    return router
