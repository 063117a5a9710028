"""The coordinator as a web application: every message of a site, and nothing else.

Answers never repeat what came in: a design that somebody mistyped is none of the log's business.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Engine
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cboc.errors import CbocError
from cboc.messages import Proposal
from cboc.network.ledger import Final, RoundClosed
from cboc.service.door import Door, NotAllowed
from cboc.service.exchange import Exchange
from cboc.service.sql import open_database
from cboc.study import Study

LARGEST = 64 * 1024  # bytes of a message
MOST_ROUNDS, MOST_COORDINATES, LONGEST_SECRET = 10**6, 1000, 200
PATIENCE = 5  # seconds until a site asks again

Coordinate = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Point = Annotated[list[Coordinate], Field(min_length=1, max_length=MOST_COORDINATES)]
RoundNumber = Annotated[int, Path(ge=0, le=MOST_ROUNDS)]
Secret = Annotated[str, Field(min_length=1, max_length=LONGEST_SECRET)]


class Exact(BaseModel):
    """A message with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class ProposalIn(Exact):
    """What a site would run: `Proposal` without what the token and the path say."""

    x: Point
    reward: Annotated[float, Field(allow_inf_nan=False)] | None = None
    best: Point | None = None


class JoinIn(Exact):
    """An invitation, the token that the site chose, and the digest of the agreement that it expects, if it has one."""

    code: Secret
    token: Secret
    digest: Secret | None = None


class DesignOut(BaseModel):
    """`Design` without the site, which knows its name."""

    x: list[float]
    weights: list[float]
    leader: str | None
    others: list[list[float]]


class Standing(BaseModel):
    """The agreement, who asks, and where the study stands."""

    agreement: dict[str, Any]
    digest: str
    site: str
    round: int
    missing: list[str]
    closes_at: float | None


class Disagreement(CbocError):
    """A site expects another study than the one that it was invited to."""

    def __init__(self, agreed: Study) -> None:
        self.agreement = agreed.agreement()
        super().__init__("the agreement is another one here.")


def site_of(
    request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
) -> tuple[str, str]:
    """(study, site) of the token that came with a message: a path never names them."""
    if shown is None or len(shown.credentials) > LONGEST_SECRET:
        raise NotAllowed("a message needs the site's token: Authorization: Bearer TOKEN.")
    door: Door = request.app.state.door
    return door.who(shown.credentials)


Who = Annotated[tuple[str, str], Depends(site_of)]


def create_app(engine: Engine) -> FastAPI:
    """The coordinator of one database."""
    app = FastAPI(title="cboc coordinator", version=version("cboc"), docs_url=None, redoc_url=None)
    app.add_middleware(Bounded, largest=LARGEST)
    exchange, door = Exchange(engine), Door(engine)
    app.state.door = door

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")
        return {"status": "well"}

    @app.post("/v1/join")
    def join(message: JoinIn) -> Standing:
        study, _ = door.invited(message.code)
        agreed = exchange.study(study)
        if message.digest not in (None, agreed.digest):
            raise Disagreement(agreed)
        return _standing(exchange, *door.join(message.code, message.token))

    @app.get("/v1/study")
    def study(who: Who) -> Standing:
        return _standing(exchange, *who)

    @app.put("/v1/rounds/{round}/proposal", status_code=204)
    def submit(round: RoundNumber, message: ProposalIn, who: Who) -> None:
        best = None if message.best is None else tuple(message.best)
        exchange.submit(who[0], Proposal(who[1], round, tuple(message.x), message.reward, best))

    @app.get("/v1/rounds/{round}/design", responses={202: {"description": "The round is open; ask again."}})
    def design(round: RoundNumber, who: Who, response: Response) -> DesignOut | None:
        found = exchange.design(*who, round)
        if found is None:
            response.status_code = 202
            response.headers["Retry-After"] = str(PATIENCE)
            return None
        others = [list(point) for point in found.others]
        return DesignOut(x=list(found.x), weights=list(found.weights), leader=found.leader, others=others)

    @app.post("/v1/leave", status_code=204)
    def leave(who: Who) -> None:
        exchange.leave(*who)

    app.add_exception_handler(CbocError, _refuse)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(HTTPException, _plain)
    return app


def from_environment() -> FastAPI:
    """The coordinator of the database that CBOC_DATABASE names: what each of several server processes starts with."""
    return create_app(open_database(os.environ["CBOC_DATABASE"]))


def _standing(exchange: Exchange, study: str, site: str) -> Standing:
    agreed, state = exchange.study(study), exchange.state(study)
    return Standing(
        agreement=agreed.agreement(),
        digest=agreed.digest,
        site=site,
        round=state.round,
        missing=list(state.missing),
        closes_at=state.closes_at,
    )


def _answer(status: int, sentence: str, **more: Any) -> JSONResponse:
    return JSONResponse({"error": sentence, **more}, status)


def _refuse(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, NotAllowed):
        return _answer(401, str(error))
    if isinstance(error, Disagreement):
        return _answer(409, str(error), agreement=error.agreement)
    if isinstance(error, RoundClosed):
        return _answer(409, str(error), current=error.current)
    if isinstance(error, Final):
        return _answer(409, str(error), is_final=True)
    return _answer(409, str(error))


def _misfit(_: Request, __: Exception) -> JSONResponse:
    return _answer(422, "the message does not have the form that /openapi.json describes.")


def _plain(_: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _answer(status, "there is no such thing here." if status == 404 else "this cannot be done here.")


class Bounded:
    """Refuses a message that is larger than any of ours, without reading it to its end."""

    def __init__(self, app: ASGIApp, largest: int) -> None:
        self.app, self.largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.largest:
                raise HTTPException(413)
            return message

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self.largest:
            await _answer(413, f"a message has at most {self.largest} bytes.")(scope, receive, send)
            return
        await self.app(scope, bounded, send)
