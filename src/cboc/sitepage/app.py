"""A site's own page: see the next design, enter its result.

uvicorn.run(create_page("lab-b.db"), host="127.0.0.1")

The page listens on this computer only; the caller chooses that host, and shows http://127.0.0.1:PORT/?secret=...,
where the secret is `page.state.secret`. Nothing leaves but what `cboc.join` sends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment
from starlette.requests import ClientDisconnect

from cboc.advice.asking import of_sheet
from cboc.advice.spending import spending
from cboc.data.numbers import written
from cboc.errors import CbocError
from cboc.insight.prospect import percent
from cboc.joining.departure import what_happens
from cboc.joining.sent import sent_by, sent_count
from cboc.site import worksheet
from cboc.site.counted import counted
from cboc.site.ending import way_back
from cboc.site.outcomes import outcomes, wish
from cboc.site.site import Site
from cboc.site.trial import OVER, Trial
from cboc.sitepage import history, neighbours, outbox, past
from cboc.sitepage.access import Access, Once
from cboc.sitepage.doorstep import doorstep
from cboc.sitepage.downloads import downloads
from cboc.sitepage.form import RAN, SAME, Fields, Mistyped, field_of, read_cost, read_entry, read_order
from cboc.sitepage.front import Front, pairs
from cboc.sitepage.learned.pages import learned, named
from cboc.sitepage.mending import late, mending, says_the_same
from cboc.sitepage.questions import AGAIN, MEND, SURE, asked_about, corrections
from cboc.sitepage.questions import ask as ask_first
from cboc.sitepage.received import LARGEST, LONGEST_NUMBER, TOO_LARGE, Form, number_in
from cboc.sitepage.session import NotJoined, Session, Stage
from cboc.web.layout import add_layout, templates

NO_PAGE = "there is no such page here."

Show = Callable[..., Response]


def create_page(
    storage: str | Path, *, secret: str | None = None, for_once: Once | None = None, **options: Any
) -> FastAPI:
    """Create the page of a site, from its file; one that has joined no study yet is shown its terms, and joins here.

    `for_once` is a second secret, which opens the page a single time. `options` are those of `cboc.join`.
    """
    session, environment = Session(storage, **options), _environment()
    if session.is_joined:
        session.open()  # complains now rather than later
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.secret = token_urlsafe(32) if secret is None else secret
    app.add_middleware(Access, secret=app.state.secret, for_once=for_once)
    add_layout(app)

    def show(template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(environment.get_template(template).render(**values), status)

    app.include_router(doorstep(session, show))
    app.include_router(_views(session, show))
    app.include_router(_forms(session, show))
    app.include_router(_plates(session, show))
    app.include_router(downloads(session))
    app.add_exception_handler(NotJoined, lambda *_: RedirectResponse("/join", 303))
    app.include_router(learned(session, show))
    app.include_router(mending(session, show))
    app.add_exception_handler(CbocError, lambda _, error: show("trouble.html", 409, error=error))
    app.add_exception_handler(400, lambda *_: show("trouble.html", 400, error="this form is not from this page."))
    app.add_exception_handler(404, lambda *_: show("trouble.html", 404, error=NO_PAGE))
    app.add_exception_handler(RequestValidationError, lambda *_: show("trouble.html", 404, error=NO_PAGE))
    app.add_exception_handler(413, lambda *_: show("trouble.html", 413, error=TOO_LARGE))
    app.add_exception_handler(ClientDisconnect, lambda *_: Response(status_code=400))  # nobody reads it
    app.add_exception_handler(405, lambda *_: RedirectResponse("/", 303))  # somebody typed the address of a form
    return app


def _views(session: Session, show: Show) -> APIRouter:
    router = APIRouter()

    @router.get("/")
    def page(
        trial: int | None = None,
        told: int = 0,
        known: int = 0,
        given: int = 0,
        asked: int = 0,
        undone: int | None = None,
    ) -> Response:
        notice = _notice(told, known, given, asked)
        if undone is not None:
            notice = f"Trial {undone} waits for a result again."
        return show("page.html", **_seen(session, session.open(), chosen=trial, notice=notice))

    @router.get("/sheet.csv")
    def sheet() -> Response:
        site = session.open()
        headers = {"Content-Disposition": 'attachment; filename="sheet.csv"'}
        text = worksheet.write(site.to_run, site.space, *outcomes(site))
        return Response(text, media_type="text/csv", headers=headers)

    @router.get("/advice")
    def advice() -> Response:
        session.advise()
        return RedirectResponse("/", 303)

    @router.get("/neighbours")
    def meet() -> Response:
        session.meet()
        return RedirectResponse("/", 303)

    @router.get("/charts/history")
    def chart(outcome: int = 0) -> Response:
        site = session.open()
        return JSONResponse(history.picture(site, named(site, outcome)))

    @router.get("/sent")
    def messages() -> Response:
        site = session.open()
        return show("sent.html", site=site, lines=outbox.lines(sent_by(session.file), site.study.space))

    return router


def _forms(session: Session, show: Show) -> APIRouter:
    """The forms. Each names its trial and leads back to the page: sent twice, it counts once."""
    router = APIRouter()

    @router.post("/ask")
    def ask(fields: Form) -> Response:
        session.ask(at_once="at_once" in fields)
        return RedirectResponse("/", 303)

    @router.post("/accept")
    def accept(fields: Form) -> Response:
        text = fields.get("version", "")
        session.accept(int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else 0)
        return RedirectResponse("/", 303)

    @router.post("/leave")
    def leave(fields: Form) -> Response:
        if fields.get("sure"):
            session.leave()
        return RedirectResponse("/", 303)

    @router.post("/alone")
    def alone(fields: Form) -> Response:
        session.go_on_alone(number_in(fields))
        return RedirectResponse("/", 303)

    @router.post("/result")
    def result(fields: Form) -> Response:
        def tell(site: Site, trial: Trial) -> Trial:
            entry = read_entry(fields, site.space, trial.design(site.space), site.goal.measured)
            told = site.tell(trial, entry.outcome, ran=entry.ran, cost=entry.cost)
            return site.annotate(told, fields["remark"]) if fields.get("remark", "").strip() else told

        return _entered(session, show, "/result", fields, tell)

    @router.post("/failed")
    def failed(fields: Form) -> Response:
        def fail(site: Site, trial: Trial) -> Trial:
            return site.fail(trial, fields.get("reason", "").strip(), cost=read_cost(fields))

        return _entered(session, show, "/failed", fields, fail)

    @router.post("/abandon")
    def abandon(fields: Form) -> Response:
        return _entered(session, show, "/abandon", fields, lambda site, trial: site.abandon(trial))

    return router


def _entered(
    session: Session, show: Show, action: str, fields: Fields, act: Callable[[Site, Trial], Trial]
) -> Response:
    """Apply `act` to the form's trial, after a question if it may be a mistake.

    After a mistake, show the form again with all that was typed. A trial that was told meanwhile stays as it is.
    """
    site = session.open()
    try:
        trial = site.trial(number_in(fields))
        if MEND in fields:
            return show("page.html", **_seen(session, site, typed=fields))
        if trial.status in OVER:
            return RedirectResponse("/", 303) if says_the_same(site, trial, act) else late(session, show, fields)
        would_be = act(site.twin(), trial)
        if SURE not in fields and (doubts := asked_about(site, would_be)):
            return ask_first(show, site, action, fields, doubts, trial.number)
        act(site, trial)
    except CbocError as error:
        status = 422 if isinstance(error, Mistyped) else 409
        return show("page.html", status, **_seen(session, session.open(), str(error), fields))
    return RedirectResponse("/", 303)


def _plates(session: Session, show: Show) -> APIRouter:
    """The forms about several experiments. After a mistake, they are there again with all that was typed."""
    router = APIRouter()

    @router.post("/plate")
    def plate(fields: Form) -> Response:
        try:
            order = read_order(fields)
            given = session.ask_for_more(order)
        except CbocError as error:
            return show("page.html", 409, **_seen(session, session.open(), str(error), fields))
        return RedirectResponse("/" if given == order.count else f"/?given={given}&asked={order.count}", 303)

    @router.post("/sheet")
    def sheet(fields: Form) -> Response:
        site = session.open()
        try:
            entries = worksheet.read_text(fields.get("sheet", ""), site.space, "the sheet", *outcomes(site))
            if not entries:
                raise CbocError("no line of the sheet has an outcome, or a status; nothing was told.")
            if MEND in fields:
                return show("page.html", **_seen(session, site, typed=fields))
            again = AGAIN in fields
            if not again and (others := corrections(site, entries)):
                return ask_first(show, site, "/sheet", {**fields, AGAIN: "yes"}, [*others, *of_sheet(site, entries)])
            worksheet.check(site, entries, is_correction=again)
            if SURE not in fields and (doubts := of_sheet(site, entries)):
                return ask_first(show, site, "/sheet", fields, doubts)
            entered = worksheet.enter_all(site, entries, is_correction=again)
        except CbocError as error:
            return show("page.html", 422, **_seen(session, session.open(), str(error), fields))
        return RedirectResponse(f"/?told={entered.new + entered.changed}&known={entered.known}", 303)

    return router


def _notice(told: int, known: int, given: int, asked: int) -> str:
    """Say what a form has done, if that is not seen at once: lines that were told, fewer wells than asked for."""
    if asked > given:
        return f"{given} experiment{'' if given == 1 else 's'}. The budget has no more: {asked} were asked for."
    start = f"{told} line{' was' if told == 1 else 's were'} read from the sheet and told." if told else ""
    more = f"{known} {'line ' if known == 1 else 'lines '}of it {'was' if known == 1 else 'were'} told before."
    return f"{start} {more if known else ''}".strip()


def _seen(
    session: Session,
    site: Site,
    error: str = "",
    typed: Fields | None = None,
    chosen: int | None = None,
    notice: str = "",
) -> dict[str, Any]:
    """The values that the page shows. Typed text appears in its own form, and a result in that of its own trial.

    Of several trials to run, the form is for the one that was `chosen`, or was typed, or is the oldest.
    """
    news, running, typed = session.news(site), site.to_run, typed or {}
    wanted = (str(chosen), typed.get("trial"))
    trial = next((t for t in running if str(t.number) in wanted), next(iter(running or site.open_trials), None))
    if news.stage == Stage.RUN and trial is not None:
        news = replace(news, number=trial.number)
    is_here = typed.get("trial") == str(news.number) and news.stage == Stage.RUN
    return {
        "site": site,
        "study": site.study,
        "space": site.space,
        "news": news,
        "trial": trial,
        "running": running,
        "error": error,
        "notice": notice,  # of what was done just now
        "spent": spending(site),
        "is_here": is_here,  # the error belongs to the form that is shown
        "typed": typed,
        "is_settled": session.is_settled,
        "history": history.past(site),
        "front": Front.of(site),
        "version": history.version(site),
        "advice": session.advice(site),
        "messages": sent_count(session.file),
        "others": session.neighbours(site),
        "now": time.time(),
    }


def _environment() -> Environment:
    environment = templates(Path(__file__).parent / "templates")
    environment.globals |= {
        "RAN": RAN,
        "SAME": SAME,
        "LARGEST": LARGEST,
        "kind": history.kind,
        "field_of": field_of,
        "wish": wish,
        "pairs": pairs,
        "counted": counted,
        "state": past.state,
    }
    environment.globals |= {"what_happens": what_happens, "way_back": way_back}
    environment.globals["LAYOUTS"] = tuple(worksheet.LAYOUTS)
    environment.filters |= {
        "outcome": written,
        "chance": percent,
        "moment": outbox.moment,
        "minute": outbox.minute,
        "ago": neighbours.ago,
    }
    return environment
