"""One layout, one style sheet and one strict policy for all our pages.

templates(folder)   the templates of an application, over the common ones
add_layout(app)       the static files, and the headers of every answer
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from fastapi import FastAPI
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cboc.errors import CbocError

HERE = Path(__file__).parent
STATIC = HERE / "static"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser sends "Origin: null" even to us
    "Cache-Control": "no-store",
}
FOR_EVER = "public, max-age=31536000, immutable"  # the version is in the address


def templates(*folders: Path) -> Environment:
    """Load templates by name, from these folders in turn, then from the common ones."""
    loader = FileSystemLoader([*folders, HERE / "templates"])
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    found.globals["static"] = static
    return found


@cache
def static(name: str) -> str:
    """Return the address of a static file, with its version."""
    path = STATIC / name
    if not path.is_file():
        raise CbocError(f"there is no static file '{name}'; they are in {STATIC.name}/ of cboc.web.")
    return f"/static/{name}?v={sha256(path.read_bytes()).hexdigest()[:12]}"


def add_layout(app: FastAPI) -> None:
    """Serve the static files, and put the headers on every answer of this application."""
    app.mount("/static", Versioned(StaticFiles(directory=STATIC)))
    app.add_middleware(Guarded)


class Guarded:
    """Puts the headers on every answer that does not set its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, guarded)


class Versioned:
    """Lets a browser keep a file that it fetched from an address with a version."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200 and scope["query_string"]:
                MutableHeaders(scope=message)["Cache-Control"] = FOR_EVER
            await send(message)

        await self.app(scope, receive, kept)
