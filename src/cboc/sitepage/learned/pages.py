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
from cboc.insight import Learned, lack
from cboc.insight.contours import Contours
from cboc.insight.importance import Importance
from cboc.insight.predicted import Predicted
from cboc.site.site import Site
from cboc.sitepage import history
from cboc.sitepage.learned import contours, measures, slices
from cboc.sitepage.session import Session

Show = Callable[..., Response]
NEXT, BEST = "next", "best"  # the designs through which slices and contours may go


class Lessons:
    """What the site has learned, kept until its trials change."""

    def __init__(self) -> None:
        self._lock = Lock()  # several pictures are asked for at once, and need the same
        self._version = ""
        self._learned: Learned | None = None
        self._parts: dict[tuple[str, ...], Any] = {}

    def of(self, site: Site) -> Learned | None:
        """What this site has learned; None if there is too little to learn from."""
        with self._lock:
            version = history.version(site)
            if version != self._version:
                self._learned = None if lack(site) else Learned.of(site)
                self._version, self._parts = version, {}
            return self._learned

    def part(self, site: Site, key: tuple[str, ...], compute: Callable[[Learned], Any]) -> Any:
        """A part of it, computed once."""
        learned = self.of(site)
        if learned is None:
            raise HTTPException(404)
        with self._lock:
            if key not in self._parts:
                self._parts[key] = compute(learned)
            return self._parts[key]


def learned(session: Session, show: Show) -> APIRouter:
    """The addresses /learned, /expected and /charts/learned."""
    router, lessons = APIRouter(), Lessons()

    @router.get("/learned")
    def page(at: str = BEST) -> Response:
        site = session.open()
        learned = lessons.of(site)
        return show(
            "learned.html",
            site=site,
            lack=lack(site),
            learned=learned,
            at=_place(learned, at),
            contours=None if learned is None else _contours(lessons, site, at),
            version=history.version(site),
        )

    @router.get("/expected/{number}")
    def expected(number: int) -> Response:
        site = session.open()
        learned, trial = lessons.of(site), next((t for t in site.to_run if t.number == number), None)
        if learned is None or trial is None:
            return HTMLResponse("")
        return show(
            "expected.html", expected=learned.expected(trial.x), best=site.best.y, objective=site.study.objective
        )

    @router.get("/charts/learned/slice/{number}")
    def slice_chart(number: int, at: str = BEST) -> Response:
        site = session.open()
        if not 0 <= number < len(site.space.names):
            raise HTTPException(404)
        place = _place(lessons.of(site), at)
        drawn = lessons.part(site, ("slices", place), lambda known: known.slices(_design(known, place)))
        return JSONResponse(slices.picture(site.space, drawn, number))

    @router.get("/charts/learned/contours")
    def contour_chart(at: str = BEST) -> Response:
        site = session.open()
        drawn = _contours(lessons, site, at)
        if drawn is None:
            raise HTTPException(404)
        return JSONResponse(contours.picture(site.space, drawn, site.direction))

    @router.get("/charts/learned/importance")
    def importance_chart() -> Response:
        return JSONResponse(measures.importance(lessons.part(session.open(), ("importance",), _importance)))

    @router.get("/charts/learned/predicted")
    def predicted_chart() -> Response:
        return JSONResponse(measures.predicted(lessons.part(session.open(), ("predicted",), _predicted)))

    return router


def _importance(learned: Learned) -> Importance:
    return learned.importance


def _predicted(learned: Learned) -> Predicted:
    return learned.predicted


def _contours(lessons: Lessons, site: Site, at: str) -> Contours | None:
    place = _place(lessons.of(site), at)
    drawn: Contours | None = lessons.part(
        site, ("contours", place), lambda known: known.contours(_design(known, place))
    )
    return drawn


def _place(learned: Learned | None, at: str) -> str:
    """Which design is meant; the best one if there is none to run."""
    return NEXT if at == NEXT and learned is not None and learned.next is not None else BEST


def _design(learned: Learned, at: str) -> Array | None:
    return learned.next if _place(learned, at) == NEXT else None
