"""Refusals, each stated in one sentence that never repeats what was received.

A mistyped design must not end up in the log.
"""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cboc.coordinator.database_errors import code_of
from cboc.coordinator.rate_limit import TooMany
from cboc.coordinator.tokens import NotAllowed
from cboc.errors import CbocError
from cboc.exchange import wire
from cboc.exchange.network import Changed, Conflict, NotSubmitted, Waiting
from cboc.exchange.study import Study

PATIENCE = 5  # seconds until a site asks again
LARGEST = 1024 * 1024  # bytes of a proposal: a plate of 384 wells with ten parameters has 80,000
SMALL = 64 * 1024  # bytes of any other message, and of what somebody may send before we know who that is
REFUSALS = {  # what each status says, in /openapi.json
    400: "This is not text.",
    401: "The secret is not valid here.",
    409: "The message has the right form, but cannot be accepted now.",
    413: f"A proposal has at most {LARGEST} bytes, any other message {SMALL}.",
    421: "The coordinator has another name.",
    422: "The message does not have this form.",
    429: "Too many messages; Retry-After says when to send the next.",
}
log = logging.getLogger("cboc.coordinator")


class Disagreement(CbocError):
    """A site expects a different study from the one that it was invited to."""

    def __init__(self, agreed: Study) -> None:
        self.agreement = agreed.agreement()
        super().__init__("this coordinator has another agreement.")


def add_errors(app: FastAPI) -> None:
    """Give an application one answer for every kind of error that it may raise."""
    app.add_exception_handler(CbocError, _refuse)
    app.add_exception_handler(DBAPIError, _away)
    app.add_exception_handler(PoolTimeout, _away)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(HTTPException, plain)
    app.add_exception_handler(ClientDisconnect, lambda *_: Response(status_code=400))  # nobody reads it


def refusal(status: int, sentence: str, **more: Any) -> JSONResponse:
    """An answer that says in one sentence why there is no other."""
    return JSONResponse({"error": sentence, **more}, status)


def _refuse(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, TooMany):
        answer = refusal(429, str(error))
        answer.headers["Retry-After"] = str(error.wait)
        return answer
    if isinstance(error, NotAllowed):
        return refusal(401, str(error))
    if isinstance(error, Disagreement):
        return refusal(409, str(error), agreement=error.agreement)
    if isinstance(error, Changed):  # without a reason: a site of an older cboc shows the sentence
        return refusal(409, str(error), agreement=error.study.agreement())
    if isinstance(error, wire.Misfit):
        return _misfit(_, error)
    if isinstance(error, Waiting):
        return refusal(409, str(error), reason="waiting", standing=wire.standing_body(error.standing))
    if isinstance(error, Conflict):
        return refusal(409, str(error), reason="conflict")
    if isinstance(error, NotSubmitted):
        return refusal(409, str(error), reason="not submitted")
    return refusal(409, str(error))


def _away(_: Request, error: Exception) -> JSONResponse:
    """Answer that the database is unreachable or full: nothing was stored, and the site asks again."""
    code = code_of(error) if isinstance(error, DBAPIError) else ""  # it only says what kind of trouble it is
    log.error("the database has failed", extra={"of": {"error": type(error).__name__, "code": code}})
    answer = refusal(503, "the coordinator's database does not answer; ask again.")
    answer.headers["Retry-After"] = str(PATIENCE)
    return answer


def _misfit(_: Request, __: Exception) -> JSONResponse:
    return refusal(422, "the message does not have the form that /openapi.json describes.")


def plain(_: Request, error: Exception) -> JSONResponse:
    """Answer any other error with a plain sentence."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    answer = refusal(status, "there is no such thing here." if status == 404 else "this cannot be done here.")
    if status == 413:
        answer.headers["Connection"] = "close"  # the rest is not worth reading
    return answer


class Bounded:
    """Refuses a message that is larger than any of ours without reading all of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read, largest = 0, LARGEST if scope["method"] == wire.SUBMIT.method else SMALL

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > largest:
                raise HTTPException(413)
            return message

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > largest:
            answer = refusal(413, f"such a message has at most {largest} bytes.")
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
            return
        await self.app(scope, bounded, send)
