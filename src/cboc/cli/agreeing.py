"""A question before something is done, and what is said where nobody is there to answer it."""

from __future__ import annotations

import typer

from cboc.errors import CbocError


def is_agreed(question: str, what: str) -> bool:
    """Whether a person agrees; raises one sentence if nobody is there to be asked about `what`."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        raise CbocError(f"nobody has agreed to {what}, and nothing was done; --yes agrees in a script.") from None
