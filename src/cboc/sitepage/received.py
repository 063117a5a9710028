"""The fields of a form, as a browser sends them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, HTTPException, Request

from cboc.errors import CbocError
from cboc.sitepage.form import Fields

LARGEST = 2**20  # bytes of a form, as many as Starlette reads into one field
TOO_LARGE = f"a form has at most {LARGEST:,} bytes; cboc tell sheet.csv reads larger sheets."
LONGEST_NUMBER = 9  # digits of a trial's number


async def form_of(request: Request) -> Fields:
    """Return the fields of the form in a request; refuses one that is too large."""
    if int(request.headers.get("content-length", 0)) > LARGEST:
        async for _ in request.stream():
            pass  # a browser that is still sending does not show an answer
        raise HTTPException(413)
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Form = Annotated[Fields, Depends(form_of)]


def number_in(fields: Fields) -> int:
    """Return the number of the trial that a form is about."""
    text = fields.get("trial", "")
    if not text.isdecimal() or len(text) > LONGEST_NUMBER:
        raise CbocError(f"a form has the number of its trial; got {text[:20]!r}. Open the page again.")
    return int(text)
