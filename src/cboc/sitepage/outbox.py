"""The messages that left the lab, in words. A repeated message is one line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from cboc.exchange import wire
from cboc.notifying.notification import METHOD, explain
from cboc.space.space import Space
from cboc.storage.sitefile import Sent


@dataclass(frozen=True)
class Line:
    """All messages with the same content."""

    first: float  # seconds since 1970
    last: float
    count: int
    purpose: str
    request: str  # PUT /v2/...
    content: str  # the body, with the secrets left out
    designs: dict[str, str]  # in the content, in natural units


def lines(sent: list[Sent], space: Space) -> list[Line]:
    """Return all messages that ever left, the latest first."""
    found: dict[tuple[str, str, bytes], Line] = {}
    for message in sent:
        key = (message.method, message.path, message.body)
        before = found.pop(key, None)
        found[key] = (
            _line(message, space) if before is None else replace(before, last=message.at, count=before.count + 1)
        )
    return list(found.values())[::-1]


def moment(at: float) -> str:
    """Write a time in this computer's time zone."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")


def minute(at: float | None) -> str:
    """Write a time without its seconds; a dash if it is not known."""
    return "–" if at is None else datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def _line(message: Sent, space: Space) -> Line:
    request, said = f"{message.method} {message.path}", message.content
    designs = {
        label: "; ".join(_design(x, space) for x in said[name]) for name, label in wire.DESIGNS.items() if name in said
    }
    is_ours = message.method == METHOD  # to people, by their own wish
    purpose = explain(message.path) if is_ours else wire.explain(message.method, message.path)
    return Line(message.at, message.at, 1, purpose, request, message.shown, designs)


def _design(x: list[float], space: Space) -> str:
    design = space.from_unit(x)
    values = (f"{name} = {p.shown(design[name])} {p.unit}".rstrip() for name, p in space.parameters.items())
    return ", ".join(values)
