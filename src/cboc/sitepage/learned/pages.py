"""What was learned, on the site's own page: sentences, and the addresses of the pictures.

It is computed when somebody looks, once for each state of the trials, so that the page itself is never slower.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import HTMLResponse, JSONResponse

from cboc.arrays import Array
from cboc.insight import Learned, Prospect, lack
from cboc.insight.contours import Contours
from cboc.insight.found import found
from cboc.insight.outcome import direction_of
from cboc.site.site import Site
from cboc.sitepage import history
from cboc.sitepage.front import pairs
from cboc.sitepage.learned import contours, front, measures, slices
from cboc.sitepage.session import Session

Show = Callable[..., Response]
NEXT, BEST = "next", "best"  # the designs through which slices and contours may go


class Lessons:
    """What the site has learned, kept until its trials change."""

    def __init__(self) -> None:
        self._lock = Lock()  # several pictures are asked for at once, and need the same
        self._version = ""
        self._learned: dict[str, Learned | str] = {}  # by outcome; or why that is nothing yet
        self._parts: dict[tuple[str, ...], Any] = {}

    def about(self, site: Site, name: str) -> Learned | str:
        """What this site has learned of an outcome, or a sentence why that is nothing yet."""
        with self._lock:
            version = history.version(site)
            if version != self._version:
                self._version, self._learned, self._parts = version, {}, {}
            if name not in self._learned:
                self._learned[name] = lack(site, name) or Learned.of(site, name)
            return self._learned[name]

    def of(self, site: Site, name: str | None = None) -> Learned | None:
        """What this site has learned of an outcome, the first one without a name; None if there is too little."""
        found = self.about(site, name or site.goal.measured[0])
        return None if isinstance(found, str) else found

    def all(self, site: Site) -> dict[str, Learned | str]:
        """The same of every outcome, by name."""
        return {name: self.about(site, name) for name in site.goal.measured}

    def part(self, site: Site, key: tuple[str, ...], compute: Callable[[Learned], Any], name: str | None = None) -> Any:
        """A part of it, computed once."""
        learned = self.of(site, name)
        if learned is None:
            raise HTTPException(404)
        whole = (learned.objective.name, *key)
        with self._lock:
            if whole not in self._parts:
                self._parts[whole] = compute(learned)
            return self._parts[whole]


def named(site: Site, number: int) -> str:
    """The outcome of this number, in the order in which the site measures them."""
    names = site.goal.measured
    if not 0 <= number < len(names):
        raise HTTPException(404)
    return names[number]


def learned(session: Session, show: Show) -> APIRouter:
    """The addresses /learned, /expected and /charts/learned."""
    router, lessons = APIRouter(), Lessons()

    @router.get("/learned")
    def page(at: str = BEST, outcome: int = 0) -> Response:
        site = session.open()
        name = named(site, outcome)
        learned = lessons.of(site, name)
        return show(
            "learned.html",
            site=site,
            outcome=outcome,
            objective=site.study.objective_called(name),
            lack=lack(site, name),
            learned=learned,
            at=_place(learned, at),
            contours=None if learned is None else _contours(lessons, site, name, at),
            version=history.version(site),
        )

    @router.get("/expected/{number}")
    def expected(number: int) -> Response:
        site = session.open()
        trial = next((t for t in site.to_run if t.number == number), None)
        if trial is None:
            return HTMLResponse("")
        if not site.goal.is_plain:
            prospect = Prospect.of(lessons.all(site), site.goal, trial.x)
            return show("prospect.html", site=site, prospect=prospect) if prospect.expected else HTMLResponse("")
        learned = lessons.of(site, site.goal.measured[0])
        if learned is None:
            return HTMLResponse("")
        return show(
            "expected.html", expected=learned.expected(trial.x), best=site.best.y, objective=site.study.objective
        )

    router.include_router(_charts(session, lessons))
    router.include_router(_fronts(session, lessons))
    return router


def _charts(session: Session, lessons: Lessons) -> APIRouter:
    """The pictures of one outcome."""
    router = APIRouter(prefix="/charts/learned")

    @router.get("/slice/{number}")
    def slice_chart(number: int, at: str = BEST, outcome: int = 0) -> Response:
        site = session.open()
        if not 0 <= number < len(site.space.names):
            raise HTTPException(404)
        name = named(site, outcome)
        place = _place(lessons.of(site, name), at)
        drawn = lessons.part(site, ("slices", place), lambda known: known.slices(_design(known, place)), name)
        return JSONResponse(slices.picture(site.space, drawn, number))

    @router.get("/contours")
    def contour_chart(at: str = BEST, outcome: int = 0) -> Response:
        site = session.open()
        name = named(site, outcome)
        drawn = _contours(lessons, site, name, at)
        if drawn is None:
            raise HTTPException(404)
        return JSONResponse(contours.picture(site.space, drawn, direction_of(site.goal, name)))

    @router.get("/importance")
    def importance_chart(outcome: int = 0) -> Response:
        site = session.open()
        drawn = lessons.part(site, ("importance",), lambda known: known.importance, named(site, outcome))
        return JSONResponse(measures.importance(drawn))

    @router.get("/predicted")
    def predicted_chart(outcome: int = 0) -> Response:
        site = session.open()
        drawn = lessons.part(site, ("predicted",), lambda known: known.predicted, named(site, outcome))
        return JSONResponse(measures.predicted(drawn))

    return router


def _fronts(session: Session, lessons: Lessons) -> APIRouter:
    """The pictures of two objectives against each other."""
    router = APIRouter(prefix="/charts/front")

    @router.get("/{number}")
    def front_chart(number: int) -> Response:
        site = session.open()
        if not 0 <= number < len(pairs(site)):
            raise HTTPException(404)
        first, second = (site.goal.measured[k] for k in pairs(site)[number])
        trial = next(iter(site.to_run), None)
        known = {name: each for name in (first, second) if (each := lessons.of(site, name)) is not None}
        expected = {} if trial is None else {name: each.expected(trial.x) for name, each in known.items()}
        return JSONResponse(front.picture(site, found(site), (first, second), expected))

    return router


def _contours(lessons: Lessons, site: Site, name: str, at: str) -> Contours | None:
    place = _place(lessons.of(site, name), at)
    drawn: Contours | None = lessons.part(
        site, ("contours", place), lambda known: known.contours(_design(known, place)), name
    )
    return drawn


def _place(learned: Learned | None, at: str) -> str:
    """Which design is meant; the best one if there is none to run."""
    return NEXT if at == NEXT and learned is not None and learned.next is not None else BEST


def _design(learned: Learned, at: str) -> Array | None:
    return learned.next if _place(learned, at) == NEXT else None
