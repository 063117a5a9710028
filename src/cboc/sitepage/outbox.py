"""What left the lab, in words. A message that was repeated is one line."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from cboc.sitepage.formatting import shown
from cboc.space.space import Space
from cboc.storage.sitefile import Sent

PURPOSES = {
    r"POST /v1/join": "joined the study",
    r"PUT /v1/rounds/(\d+)/proposal": "proposed a design for round {}",
    r"GET /v1/rounds/(\d+)/design": "asked for the design of round {}",
    r"GET /v1/study": "asked where the study stands",
    r"POST /v1/leave": "left the study",
    r"GET /healthz": "asked what time it is",
}
DESIGNS = {"x": "proposed design", "best": "best design so far"}


@dataclass(frozen=True)
class Line:
    """Messages of one content."""

    first: float  # seconds since 1970
    last: float
    count: int
    purpose: str
    request: str  # PUT /v1/...
    content: str  # the body, with the secrets left out
    designs: dict[str, str]  # of it, in natural units


def lines(sent: list[Sent], space: Space) -> list[Line]:
    """All that ever left, the latest first."""
    found: dict[tuple[str, str, bytes], Line] = {}
    for message in sent:
        key = (message.method, message.path, message.body)
        before = found.pop(key, None)
        found[key] = (
            _line(message, space) if before is None else replace(before, last=message.at, count=before.count + 1)
        )
    return list(found.values())[::-1]


def moment(at: float) -> str:
    """In the time of this computer."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")


def _line(message: Sent, space: Space) -> Line:
    request, said = f"{message.method} {message.path}", message.content
    designs = {label: _design(said[name], space) for name, label in DESIGNS.items() if name in said}
    return Line(message.at, message.at, 1, _purpose(request), request, message.shown, designs)


def _purpose(request: str) -> str:
    matches = ((re.fullmatch(pattern, request), purpose) for pattern, purpose in PURPOSES.items())
    return next((purpose.format(*match.groups()) for match, purpose in matches if match), request)


def _design(x: list[float], space: Space) -> str:
    design = space.from_unit(x)
    values = (f"{name} = {shown(p, design[name])} {p.unit}".rstrip() for name, p in space.parameters.items())
    return ", ".join(values)
