"""All results of the site as a file for its own people: the table that `cboc export` writes."""

from __future__ import annotations

import re

from fastapi import APIRouter, Response

from cboc.data.spreadsheets import as_csv, as_xlsx
from cboc.site.table import table_of
from cboc.sitepage.session import Session

CSV, XLSX = "text/csv; charset=utf-8", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MARK = "\N{BYTE ORDER MARK}"  # without it Excel takes the °C of a CSV for something else


def downloads(session: Session) -> APIRouter:
    """The addresses /results.csv and /results.xlsx."""
    router = APIRouter()

    def attached(content: bytes, kind: str, ending: str, site: str) -> Response:
        name = f"{re.sub(r'[^A-Za-z0-9._-]+', '-', site).strip('-.') or 'site'}-results.{ending}"
        return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @router.get("/results.csv")
    def as_text() -> Response:
        site = session.open()
        return attached((MARK + as_csv(table_of(site))).encode(), CSV, "csv", site.name)

    @router.get("/results.xlsx")
    def as_book() -> Response:
        site = session.open()
        return attached(as_xlsx(table_of(site), site.name), XLSX, "xlsx", site.name)

    return router
