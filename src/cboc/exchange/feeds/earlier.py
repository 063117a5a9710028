"""Reads files of feeds of format 1, which had no checksums: every entry is verified by its hashes and its signature."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from cboc.exchange import wire
from cboc.exchange.feeds.entry import DESIGNS, SAID, Act
from cboc.exchange.feeds.keys import Identity, Keys

OLD_FORMAT = 1
OLD_NAMES = {"about", "entries"}
QUERY = (
    "SELECT site, number, hash, study, before, act, is_whole, head, signature, said, designs, at "
    "FROM entries NOT INDEXED ORDER BY rowid"
)


def old_feeds(connection: sqlite3.Connection) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """The facts, and the rows of the entries; raises a ValueError if something is not as we wrote it."""
    about = {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM about")}
    if about["format"] != OLD_FORMAT:
        return about, []  # whoever opens it says so
    rows = connection.execute(QUERY).fetchall()
    identities: dict[str, list[Identity]] = {}
    for site, number, _, _, _, _, _, _, _, said, _, _ in rows:
        if number == 0 and said is not None:
            hello = wire.read_object(said)
            identities.setdefault(site, []).append(Identity(hello["signing"], hello["sealing"]))
    own = identities.get(str(about.get("site")), [])
    if own and Keys.from_text(about["keys"]).identity not in own:
        raise ValueError("the keys are not those of the own feed")
    for row in rows:
        _check(row, identities)
    return about, rows


def _check(row: tuple[Any, ...], identities: Mapping[str, list[Identity]]) -> None:
    site, number, hash, study, before, act, is_whole, head, signature, said, designs, at = row
    fields = wire.read_object(head)
    parts = {name: text for name, text in ((SAID, said), (DESIGNS, designs)) if text is not None}
    told = None if said is None else Act(wire.read_object(said)["act"])
    is_right = (
        (site, number, study, before) == tuple(fields[name] for name in ("site", "number", "study", "before"))
        and hash == _hash(head)
        and all(fields["parts"][name] == _hash(text) for name, text in parts.items())
        and act == told
        and is_whole == (parts.keys() == fields["parts"].keys())
        and isinstance(at, float)
    )
    known = identities.get(site, [])
    if not is_right or not (not known or any(each.has_signed(head.encode(), signature) for each in known)):
        raise ValueError(f"entry {number} of '{site}' is not as it was written")


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
