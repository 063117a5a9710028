"""Access to the page: for nobody but the person who was given its address.

The page listens on this computer only, but other people may have accounts on it, and other web sites are open in the
same browser. So the address holds a secret, which is exchanged for a cookie; the page answers to no name but this
computer's own (a foreign name may be made to lead here), and takes forms from nobody but itself.

Everybody on a computer can read the command lines of all programs. So a browser is started with the path of a private
file, which leads to an address with another secret: one that is good for a single time. The file is removed then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from secrets import compare_digest

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cboc.web.same_origin import is_same_origin

LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d+))?", re.IGNORECASE)
READING = ("GET", "HEAD")
# A browser that got the cookie coming from another web site does not send it with a redirect, but with a fresh load.
START_ANEW = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><title>cboc</title>'


@dataclass(frozen=True)
class Once:
    """A secret that is good for a single time; `used` is called then."""

    secret: str
    used: Callable[[], None]


class Access:
    """Admits anybody who has the secret, and once whoever has the one `for_once`; all others get 403 and a sentence."""

    def __init__(self, app: ASGIApp, secret: str, for_once: Once | None = None) -> None:
        self.app, self._secret, self._for_once = app, secret, for_once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def for_ourselves(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Cross-Origin-Resource-Policy"] = "same-origin"
            await send(message)

        if scope["type"] != "http":  # the start and the end of the program
            await self.app(scope, receive, send)
        else:
            request = Request(scope)
            await (self._answer(request) or self.app)(scope, receive, for_ourselves)

    def _answer(self, request: Request) -> Response | None:
        """Answer a request that is not admitted to the page; None if it is."""
        host = request.headers.get("host", "")
        name = LOOPBACK.fullmatch(host)
        if name is None:
            return _refusal("This page answers on this computer only; open the address that cboc site printed.")
        if request.method not in READING and not is_same_origin(request):
            return _refusal("This page takes forms from itself only; open the address that cboc site printed.")
        cookie = f"cboc_site_{name[1] or 80}"  # browsers tell hosts apart, not ports
        if request.url.path == "/" and self._is_admitted(request):
            return self._admission(request, cookie)
        if self._is_right(request.cookies.get(cookie, "")):
            return None
        return _refusal("This page is private; open the address that cboc site printed, with its secret.")

    def _is_admitted(self, request: Request) -> bool:
        """Whether the address holds a secret that is good now; the one for a single time is used up by that."""
        shown = request.query_params.get("secret", "")
        once = self._for_once
        if once is not None and request.method == "GET" and _is_same(shown, once.secret):
            self._for_once = None
            once.used()
            return True
        return self._is_right(shown)

    def _is_right(self, secret: str) -> bool:
        return _is_same(secret, self._secret)

    def _admission(self, request: Request, cookie: str) -> Response:
        """The cookie, and the same address without the secret."""
        is_from_elsewhere = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
        answer: Response = HTMLResponse(START_ANEW) if is_from_elsewhere else RedirectResponse("/", 303)
        answer.set_cookie(cookie, self._secret, httponly=True, samesite="strict")
        return answer


def _is_same(shown: str, secret: str) -> bool:
    return compare_digest(shown.encode(), secret.encode())


def _refusal(sentence: str) -> Response:
    return PlainTextResponse(sentence + "\n", 403)
