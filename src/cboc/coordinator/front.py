"""What a coordinator is called, and what stands before it: who calls it by another name is not answered.

A web site can make its own name lead to any address. A browser that has it open would then talk to the coordinator in
that site's name, from wherever the browser is (DNS rebinding). So a coordinator answers to its addresses, to this
machine's names, to those in its certificate, and to those that it is given.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cboc.coordinator.addresses import ANYBODY, Proxies, parse
from cboc.coordinator.errors import refusal
from cboc.errors import CbocError

LOCAL = ("localhost",)
LONGEST = 253  # characters of a host name
LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"  # between two dots
NAME = re.compile(rf"(\*\.)?({LABEL}\.)*{LABEL}")
HOST = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::\d*)?")  # of a request, perhaps with a port
MISTAKEN = (
    "this coordinator does not answer to the name by which it was called; whoever runs it can add that name with "
    "cboc serve --name."
)
ONLY_HTTPS = "max-age=31536000"  # seconds: a year


@dataclass(frozen=True)
class Front:
    """The names of a coordinator beside its machine's own, and the proxies before it."""

    names: tuple[str, ...] = ()
    proxies: Proxies = field(default_factory=Proxies.named)

    @classmethod
    def of(cls, names: Iterable[str], proxies: Iterable[str] = ()) -> Front:
        """As people write it: several names or proxies in a text if need be; '*' is any."""
        parts = [part.lower().rstrip(".") for name in names for part in re.split(r"[,\s]+", name) if part]
        for part in parts:
            if part != ANYBODY and (len(part) > LONGEST or not NAME.fullmatch(part)):
                raise CbocError(
                    f"a name is written as cboc.example.org, without https:// and without a port; got '{part[:60]}'."
                )
        given = tuple(proxies)
        return cls(tuple(parts), Proxies.named(given) if any(given) else Proxies.named())

    @property
    def is_for_any_name(self) -> bool:
        """Whether every name is answered."""
        return ANYBODY in self.names

    @property
    def known(self) -> tuple[str, ...]:
        """All names that are answered, beside addresses."""
        return (*LOCAL, *own_names(), *self.names)

    def answers_to(self, host: str) -> bool:
        """Whether this is a name of ours, or an address, which nobody can make lead elsewhere."""
        name = _name(host)
        if self.is_for_any_name or parse(name) is not None:
            return True
        wild = f"*.{name.partition('.')[2]}"
        return bool(name) and any(known in (name, wild) for known in self.known)


def own_names() -> tuple[str, ...]:
    """What this machine is called, also by its neighbours in the network."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return tuple(dict.fromkeys((name, short, f"{short}.local"))) if short else ()


class Entrance:
    """Finds out who asks, refuses who calls us by another name, and tells browsers to stay with HTTPS."""

    def __init__(self, app: ASGIApp, front: Front) -> None:
        self.app, self.front = app, front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        self._look_behind_the_proxy(scope, headers)
        host = headers.get("host", "")
        is_kept = scope["scheme"] == "https" and parse(_name(host)) is None and _name(host) not in LOCAL

        async def kept(message: Message) -> None:
            if is_kept and message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Strict-Transport-Security"] = ONLY_HTTPS
            await send(message)

        if self.front.answers_to(host):
            await self.app(scope, receive, kept)
        else:
            await _refusal(headers)(scope, receive, send)

    def _look_behind_the_proxy(self, scope: Scope, headers: Headers) -> None:
        """Put the address of who asks, and how, in place of the proxy's, if that is one that we believe."""
        peer = scope["client"]
        if peer is None or not self.front.proxies.believes(peer[0]):
            return
        if said := headers.getlist("x-forwarded-proto"):
            scheme = said[-1].rpartition(",")[2].strip().lower()
            scope["scheme"] = scheme if scheme in ("http", "https") else scope["scheme"]
        if hops := [hop for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]:
            client = self.front.proxies.client(peer[0], hops)
            scope["client"] = None if client is None else (client, 0)


def _name(host: str) -> str:
    """The name in a Host header, without its port; empty if there is none."""
    found = HOST.fullmatch(host.strip())
    return "" if found is None else (found[1] or found[2] or "").lower().removesuffix(".")


def _refusal(headers: Headers) -> Response:
    is_person = "text/html" in headers.get("accept", "")
    answer: Response = PlainTextResponse(MISTAKEN + "\n", 421) if is_person else refusal(421, MISTAKEN)
    answer.headers["Connection"] = "close"  # the rest is not worth reading
    return answer
