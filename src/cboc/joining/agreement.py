"""The agreement in a site's file."""

from __future__ import annotations

from typing import Any

from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.storage.sitefile import SiteFile


def damaged(file: SiteFile) -> str:
    """What to say if a site's file holds something that we never write."""
    return f"{file.path} is damaged; restore an earlier copy."


def read_study(agreement: Any, complaint: str) -> Study:
    """The study of an agreement; raises the complaint if it cannot be read."""
    try:
        return Study.from_agreement(agreement)
    except (CbocError, TypeError, KeyError, ValueError, AttributeError):
        raise CbocError(complaint) from None
