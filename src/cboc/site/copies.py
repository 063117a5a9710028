"""Copies of a site: if two are in use, or an old one is, the others know of turns that are not in its file.

What a site sends is in its file before it leaves. So the others never know of more turns than the file, whatever was
killed or sent again; if they do, somebody else has taken them under the name of this site.
"""

from __future__ import annotations

from cboc.exchange.network import Conflict

ANOTHER_COPY = (
    "the coordinator has {} of '{}' that {} not in its file: a copy of the file is in use elsewhere, or this one was "
    "restored from a backup. Use the newest copy, and no other; if that is lost, a new invitation lets this one go on "
    "after it (cboc invite {} at the coordinator, then cboc join here)."
)


def check_newest(site: str, own: int, known: int | None) -> None:
    """Raise one sentence if the others know of turns of a site after its own next one; None: they do not count them."""
    if known is None or known <= own:
        return
    turns, are = ("1 turn", "is") if known == own + 1 else (f"{known - own} turns", "are")
    raise Conflict(ANOTHER_COPY.format(turns, site, are, site))
