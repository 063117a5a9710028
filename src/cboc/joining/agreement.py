"""The agreement in a site's file."""

from __future__ import annotations

from typing import Any

from cboc.errors import CbocError
from cboc.exchange.rest import disagreement
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


def kept_agreement(file: SiteFile, expected: Study | None = None) -> tuple[Study, str]:
    """The study in a site's file, and the site's name in it; raises the differences if another one is expected."""
    agreed = read_study(file.about["agreement"], damaged(file))
    if expected is not None and expected.digest != agreed.digest:
        raise disagreement(expected, file.about["agreement"])
    name = file.about.get("site")
    if name not in agreed.sites:
        raise CbocError(damaged(file))
    return agreed, name
