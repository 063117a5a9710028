"""The two requests that a peer answers: who are you, and what do you have that I do not."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cboc.exchange.feeds import introduction, request
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.peer.answers import Answers, Disagreement, NotAllowed

REFUSAL = "this site answers only the neighbours that it has added."

Say = Callable[[str, str], None]  # what is said, and about whom: the same again need not be said


def create_app(file: FeedFile, certificate: bytes, say: Say) -> Starlette:
    """The application of the site with this file of feeds, which uses this certificate (DER)."""
    answers, own = Answers(file), introduction.introduce(file.keys, certificate)

    def identity(_: Request) -> Response:
        return JSONResponse(own)

    async def feeds(asked: Request) -> Response:
        content = await _body(asked)
        try:
            given = await run_in_threadpool(answers.to, content)
        except NotAllowed as refusal:
            who = asked.client.host if asked.client else "somewhere"
            say(f"Refused a request from {who}: {refusal}.", who)
            return _refusal(403, REFUSAL)
        except Disagreement as other:
            return JSONResponse({"error": str(other), "agreement": other.agreement}, 409)
        count = len(given.lines)
        took = f"took {count} {'entry' if count == 1 else 'entries'}" if count else "has everything"
        say(f"{given.site} {took}.", "" if count else given.site)
        return Response(b"\n".join(given.lines), media_type="application/x-ndjson")

    return Starlette(
        routes=[Route(introduction.PATH, identity, methods=["GET"]), Route(request.PATH, feeds, methods=["POST"])],
        exception_handlers={HTTPException: _plain},
    )


async def _body(asked: Request) -> bytes:
    """The body of a request; one that is too large is not read to its end."""
    content = bytearray()
    try:
        async for part in asked.stream():
            content += part
            if len(content) > request.LARGEST:
                raise HTTPException(413)
    except ClientDisconnect:
        raise HTTPException(408) from None
    return bytes(content)


def _refusal(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)


def _plain(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    answer = _refusal(status, "a peer has no such thing.")
    if status in (408, 413):
        answer.headers["Connection"] = "close"  # the rest is not worth reading
    return answer
