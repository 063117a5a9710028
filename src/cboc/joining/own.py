"""Parameters that only one site has: its file keeps them, and they never leave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.study import Study, check_names
from cboc.space.space import Space
from cboc.storage.sitefile import SiteFile


def as_own(given: Space | Mapping[str, Any] | None) -> Space | None:
    """The space of a site's own parameters, as a user gave them."""
    return given if given is None or isinstance(given, Space) else Space(given)


def keep_own(file: SiteFile, own: Space | None, study: Study) -> None:
    """Keep a site's own parameters; raises one sentence if the study has one of them, or the site has begun."""
    if own is None:
        return
    check_names(study.space + own)
    before, now = file.about.get("own"), own.to_dict()
    if before == now:
        return
    if file.is_begun:
        raise CbocError(f"{file.path} began with other parameters of its own, which cannot change any more.")
    file.remember(own=now)


def whole_space(file: SiteFile, study: Study) -> tuple[Space | None, Space]:
    """A site's own parameters, if it has some, and the whole space of its designs."""
    kept, here = file.about.get("own"), study.space_of(file.about["site"])
    if kept is None:
        return None, here
    try:
        own = Space.from_dict(kept)
        return own, here + own
    except (CbocError, TypeError, AttributeError):
        raise CbocError(f"{file.path} is damaged in the parameters of its own; restore it.") from None
