"""Results from before the study, on the page of a site that joins: a file is chosen, looked at, mended and agreed to.

The table stays in this process until the site has joined. What leads to the data is the preview that the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from cboc.data.earlier.answers import CHOICES, USES, Answers
from cboc.data.earlier.preview import Preview, look_into
from cboc.data.numbers import written
from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.sitepage.received import LARGEST, Form

TOO_LARGE = f"a table has less than {LARGEST:,} bytes here; cboc join --data reads larger ones."
LONGEST_NAME = 80  # characters of a file's name
MOST_ROWS, MOST_LEFT_OUT = 5, 200  # of a preview, on the page
COLUMN, ANSWER = "column.", "answer."  # before what a field is about
TITLES = {
    "empty": "Rows without an outcome",
    "repeats": "Rows that are the same in every cell",
    "decimal": "Numbers such as 1,234",
    "percent": "Per cent signs",
    "others": "Columns of numbers that nothing uses",
}
UNANSWERED = "answer the questions about your table, or leave it out."


@dataclass(frozen=True)
class Table:
    """A file that somebody has chosen, and what they have said of it."""

    name: str
    content: bytes = field(repr=False)
    answers: Answers = field(default_factory=Answers)

    @property
    def key(self) -> str:
        """What tells this table, with what was said of it, from any other."""
        return sha256(repr((self.name, self.answers)).encode() + self.content).hexdigest()[:16]

    def seen(self, study: Study) -> Preview:
        """The table as it would be taken."""
        objective = study.objective
        return look_into(self.content, self.name, study.space, objective.name, objective.unit, self.answers)

    def told(self, fields: Mapping[str, str], study: Study) -> Table:
        """The table with what a form says of it; raises one sentence if that cannot be."""
        news: dict[str, Any] = {name: fields.get(ANSWER + name, "") for name in (*CHOICES, "sheet")}
        header = fields.get(f"{ANSWER}header", "").strip()
        news["header"] = int(header) if header.isdecimal() and len(header) < 9 else header or None
        columns = dict(self.answers.columns)
        for place, column in enumerate(self.seen(study).columns):
            said = fields.get(f"{COLUMN}{place}", column.use)
            if said and said != column.use:
                columns[column.name] = said
        if news["sheet"] != self.answers.sheet or news["header"] != self.answers.header:
            columns = {}  # of another table
        told = replace(self, answers=Answers(columns, **news))
        told.seen(study)
        return told


class Desk:
    """The table that lies ready while a site joins, if there is one."""

    def __init__(self) -> None:
        self.table: Table | None = None

    def seen(self, study: Study) -> dict[str, Any]:
        """What the page shows of it."""
        table = self.table
        shown: dict[str, Any] = {"table": table, "seen": None, "first": [], "uses": {}, "asked": {}, "trouble": ""}
        shown |= {"LARGEST_TABLE": LARGEST, "MOST_LEFT_OUT": MOST_LEFT_OUT}
        if table is None:
            return shown
        try:
            seen = table.seen(study)
        except CbocError as trouble:
            return shown | {"table": None, "trouble": str(trouble)}
        uses = {name: name for name in study.space.names}
        uses |= {use: words for use, words in USES.items() if use not in uses}
        asked = {name: (TITLES[name], CHOICES[name]) for name in CHOICES if getattr(table.answers, name)}
        asked |= {each.name: (each.text, dict(each.choices)) for each in seen.questions if each.name != "column"}
        return shown | {"seen": seen, "first": _first(seen), "uses": uses, "asked": asked}

    def agreed(self, study: Study, key: str) -> Preview | None:
        """The preview that somebody has agreed to; None if there is no table."""
        if self.table is None:
            return None
        if key != self.table.key:
            raise CbocError("the table has changed since this page was shown; look at it again.")
        seen = self.table.seen(study)
        if seen.questions:
            raise CbocError(UNANSWERED)
        seen.check()
        return seen


def desk_routes(desk: Desk, study: Callable[[], Study], page: Callable[..., Response]) -> APIRouter:
    """The forms about a table: to choose one, to say what is in it, to leave it out."""
    router = APIRouter()

    def take(name: str, content: bytes) -> Response:
        """Put a table on the desk, if it can be read."""
        try:
            table = Table(name, content)
            table.seen(study())
            desk.table = table
        except CbocError as error:
            return page(422, str(error))
        return RedirectResponse("/join#earlier", 303)

    @router.post("/earlier")
    async def choose(request: Request) -> Response:
        if int(request.headers.get("content-length", 0)) > LARGEST:
            async for _ in request.stream():
                pass  # a browser that is still sending does not show an answer
            return await run_in_threadpool(page, 413, TOO_LARGE)
        async with request.form(max_files=1, max_fields=1) as form:
            given = form.get("table")
            content = await given.read() if isinstance(given, UploadFile) else b""
            name = PurePath(given.filename or "").name if isinstance(given, UploadFile) else ""
        if not name:
            return await run_in_threadpool(page, 422, "choose a file first, CSV or XLSX.")
        return await run_in_threadpool(take, name[-LONGEST_NAME:], content)

    @router.post("/earlier/answers")
    def answer(fields: Form) -> Response:
        try:
            if desk.table is not None:
                desk.table = desk.table.told(fields, study())
        except CbocError as error:
            return page(422, str(error))
        return RedirectResponse("/join#earlier", 303)

    @router.post("/earlier/without")
    def forget() -> Response:
        desk.table = None
        return RedirectResponse("/join#earlier", 303)

    return router


def _first(seen: Preview) -> list[dict[str, str]]:
    """The first rows as they were read, in natural units."""
    rows = []
    for taken in seen.taken[:MOST_ROWS]:
        design = seen.space.from_unit(taken.row.x)
        shown = {name: parameter.shown(design[name]) for name, parameter in seen.space.parameters.items()}
        y, sem = taken.row.y, taken.row.sem
        outcome = "failed" if y is None else written(y) if sem != sem else f"{written(y)} ± {written(sem)}"
        rows.append({"": taken.place, **shown, "outcome": outcome})
    return rows
