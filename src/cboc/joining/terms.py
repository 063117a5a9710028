"""The terms of a study before it is joined: nothing is agreed by looking, and nothing is written where the others are.

study = terms_at("https://coordinator:8000", "lab-b.db", code=code)
study = terms_at("folder:/shared/ours", "lab-b.db")
"""

from __future__ import annotations

from math import inf
from pathlib import Path

from cboc.errors import CbocError
from cboc.exchange.invitation import Invitation, is_invitation, read_invitation
from cboc.exchange.study import Study
from cboc.joining import feeds
from cboc.joining.agreement import kept_agreement
from cboc.joining.invited import keep, look
from cboc.storage.sitefile import SiteFile


def terms_at(
    url: str,
    storage: str | Path,
    *,
    code: str | None = None,
    certificate: str | None = None,
    study: Study | None = None,
    site: str | None = None,
    git: bool = False,
    patience: float = 60.0,
) -> Study:
    """The study that joining with the same would join; what is needed for that is kept in the site's file."""
    if Path(storage).exists() and "agreement" in (file := SiteFile(storage)).about:
        return kept_agreement(file)[0]
    if feeds.is_address(url):
        return feeds.look(url, study, str(site), git)
    if is_invitation(url):
        return look(keep(read_invitation(Path(url)), storage), patience)[0]
    if code is None:
        raise CbocError(f"{storage} has joined no study yet; to join one, also give the code of an invitation.")
    return look(keep(Invitation("", "", url, code, certificate, inf), storage), patience)[0]
