"""The dashboard: where the studies stand, for people. It shows designs, and has nothing else to show.

A study is named in the query, /study?name=..., because its name may hold slashes and dots, which paths lose on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, FastAPI, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment
from sqlalchemy import Engine

from cboc.coordinator.dashboard import charts
from cboc.coordinator.dashboard.admission import COOKIE, NoStudy, NotLoggedIn, Person, Seen, own_page
from cboc.coordinator.dashboard.inviting import inviting
from cboc.coordinator.dashboard.overview import Attendance, Overview
from cboc.coordinator.errors import plain
from cboc.coordinator.people import LIFETIME, People
from cboc.coordinator.rate_limit import TooMany
from cboc.coordinator.rights import Roles
from cboc.coordinator.tokens import NotAllowed
from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.web.layout import add_layout, templates

CHARTS = "/charts/"
UNITS = {"d": 86400, "h": 3600, "min": 60, "s": 1}  # seconds
NEXT = {"d": "h", "h": "min", "min": "s"}
LATEST = -1  # the round that closed last
SHADES = {
    Attendance.IN: "good",
    Attendance.AWAITED: "wait",
    Attendance.LATE: "bad",
    Attendance.ACTIVE: "good",
    Attendance.SPENT: "",
    Attendance.LEFT: "",
}


Show = Callable[..., Response]
Field = Annotated[str, Form()]
RoundNumber = Annotated[int, Query(ge=LATEST, le=10**6)]
ParameterNumber = Annotated[int, Query(ge=0, le=1000)]


def add_pages(app: FastAPI, engine: Engine, certificate: str | None = None) -> None:
    """Add the dashboard of one database to an application; a `certificate` to trust goes into invitations."""
    add_layout(app)
    app.state.people, app.state.roles = People(engine), Roles(engine)
    app.add_exception_handler(NotLoggedIn, _to_login)
    environment = _environment()

    def show(template: str, status: int = 200, headers: dict[str, str] | None = None, **values: Any) -> Response:
        return HTMLResponse(environment.get_template(template).render(**values), status, headers)

    def lost(request: Request, error: Exception) -> Response:
        """Answer a wrong address with a page for a person, and with the usual answer for a program."""
        is_person = "text/html" in request.headers.get("accept", "")
        return show("lost.html", 404) if is_person else plain(request, error)

    def missing(request: Request, error: Exception) -> Response:
        if request.url.path.startswith(CHARTS):
            return JSONResponse({"error": str(error)}, 404)
        return show("missing.html", 404, rights=error.rights)  # type: ignore[attr-defined]  # it is a NoStudy

    app.add_exception_handler(404, lost)
    app.add_exception_handler(NoStudy, missing)
    app.include_router(_door(app.state.people, show))
    app.include_router(_views(Overview(engine), show))
    app.include_router(inviting(engine, certificate, show))


def _door(people: People, show: Show) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    def login() -> Response:
        return show("login.html", is_empty=not people.names(), name="", error="")

    @router.post("/login", dependencies=[Depends(own_page)])
    def log_in(request: Request, person: Field = "", password: Field = "") -> Response:
        try:
            cookie = people.log_in(person, password, request.client.host if request.client else "")
        except TooMany as error:
            wait = {"Retry-After": str(error.wait)}
            return show("login.html", 429, wait, is_empty=False, name=person, error=error)
        except NotAllowed as error:
            return show("login.html", 401, is_empty=not people.names(), name=person, error=error)
        answer = RedirectResponse("/", 303)
        is_secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, cookie, int(LIFETIME), secure=is_secure, httponly=True, samesite="strict")
        return answer

    @router.post("/logout", dependencies=[Depends(own_page)])
    def log_out(request: Request) -> Response:
        people.log_out(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(COOKIE)
        return answer

    return router


def _views(overview: Overview, show: Show) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def studies(rights: Person) -> Response:
        return show("studies.html", rights=rights, views=overview.studies(rights.sees))

    @router.get("/study")
    def study(rights: Person, name: Seen, round: RoundNumber = LATEST) -> Response:
        try:
            view = overview.study(name)
        except CbocError:
            raise NoStudy(rights) from None
        chosen = round if round < view.closed else LATEST
        return show("study.html", rights=rights, view=view, chosen=chosen, **_agreed(view.study))

    @router.get(CHARTS + "matrix")
    def matrix(name: Seen, round: RoundNumber) -> Response:
        return JSONResponse(charts.matrix(*overview.matrix(name, round)))

    @router.get(CHARTS + "path")
    def path(name: Seen, parameter: ParameterNumber) -> Response:
        return JSONResponse(charts.path(*overview.designs(name), parameter))

    @router.get(CHARTS + "timeline")
    def timeline(name: Seen) -> Response:
        view = overview.study(name)
        return JSONResponse(charts.timeline(*overview.arrivals(name), view.now, is_over=view.is_finished))

    @router.get(CHARTS + "plane")
    def plane(name: Seen) -> Response:
        return JSONResponse(charts.plane(*overview.designs(name)))

    return router


def _to_login(request: Request, error: Exception) -> Response:
    if request.url.path.startswith(CHARTS):
        return JSONResponse({"error": str(error)}, 401)
    if "hx-request" in request.headers:  # a page that refreshes a part of itself moves there as a whole
        return Response(status_code=401, headers={"HX-Redirect": "/login"})
    return RedirectResponse("/login", 303)


def _environment() -> Environment:
    environment = templates(Path(__file__).parent / "templates")
    environment.globals |= {"address": _address, "shades": SHADES, "few": charts.FEW}
    environment.filters |= {"duration": duration, "moment": _moment, "day": lambda at: _moment(at)[:10]}
    return environment


def _address(path: str, **query: Any) -> str:
    return f"{path}?{urlencode(query)}"


def duration(seconds: float) -> str:
    """Write a duration in its largest unit and the next: 3 d 4 h, 2 h 5 min, 2 h, 7 s."""
    whole = max(0, int(seconds))  # a clock may have been set back
    large = next((unit for unit, size in UNITS.items() if whole >= size), "s")
    small = NEXT.get(large)
    count, rest = divmod(whole, UNITS[large])
    more = 0 if small is None else rest // UNITS[small]
    return f"{count} {large} {more} {small}" if more else f"{count} {large}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _agreed(study: Study) -> dict[str, Any]:
    """The facts of an agreement that a page cannot ask the study for."""
    agreement = study.agreement()
    rule, graph = agreement["rule"], agreement["graph"]
    return {
        "rule": rule if isinstance(rule, str) else "a fixed matrix",
        "graph": graph if isinstance(graph, str) else ", ".join(f"{a} – {b}" for a, b in graph),
        "has_plane": charts.has_plane(study),
    }
