"""The coordinator as a web application: every message of a site, and nothing else."""

from __future__ import annotations

import math
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError
from starlette.concurrency import run_in_threadpool
from starlette.types import Lifespan

from cboc.coordinator.addresses import block
from cboc.coordinator.certificate import names_in, own
from cboc.coordinator.dashboard.admission import operator
from cboc.coordinator.dashboard.pages import add_pages
from cboc.coordinator.database import open_database, studies, transaction
from cboc.coordinator.errors import PATIENCE, REFUSALS, SMALL, Bounded, Disagreement, add_errors
from cboc.coordinator.front import Entrance, Front
from cboc.coordinator.metrics import Measured, Metrics
from cboc.coordinator.rate_limit import RateLimit
from cboc.coordinator.tokens import NotAllowed, Tokens
from cboc.coordinator.transactions import Transactions
from cboc.errors import CbocError
from cboc.exchange import wire
from cboc.exchange.messages import MOST_TURNS
from cboc.exchange.network import Waiting
from cboc.names import as_agreed

Shown = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
Turn = Annotated[int, Path(ge=0, le=MOST_TURNS)]
MINUTE = 60.0  # seconds
OLD = "this coordinator speaks {} of the protocol; the site's cboc is older: install the same version."


async def body_of(request: Request) -> bytes:
    """Return the body of a message."""
    return await request.body()


class Gatekeeper:
    """Identifies the site behind a message's token, and limits how often anybody may send or guess."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._heard: dict[tuple[str, str], float] = {}
        self._messages = RateLimit(time.monotonic, tries=500, period=10.0)  # messages of a site before it has to wait
        self._guesses = RateLimit(time.monotonic, tries=20, period=60.0)  # guesses of a token from one address

    def who(self, token: str, address: str) -> tuple[str, str]:
        """Return (study, site) of a token; a path never names them."""
        try:
            known = self._tokens.who(token)
        except NotAllowed:
            self._guesses.count(block(address))
            raise
        self._messages.count("/".join(known))
        self._hear(known)
        return known

    def _hear(self, known: tuple[str, str]) -> None:
        """Note that a site was heard, once in a minute; a database that cannot write may still answer."""
        now = time.monotonic()
        if now - self._heard.get(known, -math.inf) < MINUTE:
            return
        self._heard[known] = now
        with suppress(DBAPIError):
            self._tokens.hear(*known)


async def who_of(request: Request, shown: Shown) -> Callable[[], tuple[str, str]]:
    """Return a function that gives (study, site) of the token in a message.

    It asks the database, so the thread that answers the message calls it: a second thread would take longer than that.
    """
    if shown is None or len(shown.credentials) > wire.LONGEST_SECRET:
        raise NotAllowed("a message needs the site's token: Authorization: Bearer TOKEN.")
    gatekeeper: Gatekeeper = request.app.state.gatekeeper
    return partial(gatekeeper.who, shown.credentials, "" if request.client is None else request.client.host)


Body = Annotated[bytes, Depends(body_of)]
Who = Annotated[Callable[[], tuple[str, str]], Depends(who_of)]


async def large_body_of(request: Request, who: Who) -> bytes:
    """Return the body of a message that may be large; more than a stranger may send is read from sites only."""
    content, is_site = bytearray(), False
    async for part in request.stream():
        content += part
        if len(content) > SMALL and not is_site:
            await run_in_threadpool(who)
            is_site = True
    return bytes(content)


LargeBody = Annotated[bytes, Depends(large_body_of)]


def create_app(
    engine: Engine,
    lifespan: Lifespan[FastAPI] | None = None,
    certificate: str | None = None,
    front: Front | None = None,
) -> FastAPI:
    """Create the web application of the coordinator of one database; a `certificate` goes into invitation files."""
    app = FastAPI(title="cboc coordinator", version=version("cboc"), docs_url=None, redoc_url=None, lifespan=lifespan)
    metrics, tokens = Metrics(engine), Tokens(engine)
    app.state.gatekeeper = Gatekeeper(tokens)
    app.add_middleware(Bounded)
    app.add_middleware(Entrance, front=Front() if front is None else front)
    app.add_middleware(Measured, metrics=metrics)
    app.include_router(_operators(engine, metrics))
    app.include_router(_sites(Transactions(engine), tokens))
    add_pages(app, engine, certificate)
    add_errors(app)
    return app


def _operators(engine: Engine, metrics: Metrics) -> APIRouter:
    router = APIRouter()

    @router.get(wire.HEALTH.path)
    def healthz() -> dict[str, str]:
        with transaction(engine, is_reading=True) as connection:
            connection.execute(select(studies.c.study).limit(1))  # one of our own: a database may answer without them
        return {"status": "well"}

    @router.get("/metrics", include_in_schema=False, dependencies=[Depends(operator)])
    def measurements() -> Response:
        return Response(metrics.page(), media_type=CONTENT_TYPE_LATEST)

    @router.api_route("/v1/{path:path}", methods=["GET", "PUT", "POST"], include_in_schema=False)
    def old(path: str) -> None:  # noqa: ARG001
        raise CbocError(OLD.format(wire.VERSION))

    return router


def _sites(transactions: Transactions, tokens: Tokens) -> APIRouter:
    router = APIRouter()

    def membership(study: str, site: str) -> JSONResponse:
        agreed = transactions.study(study)
        turn, experiments = transactions.progress(study, site)
        known = {"agreement": agreed.agreement(), "digest": agreed.digest, "site": site}
        return JSONResponse(known | {"turn": turn, "experiments": experiments})

    @router.post(wire.JOIN.path, **_documented(wire.JOIN))
    def join(body: Body) -> Response:
        said = wire.read(wire.INVITATION, body, is_exact=True)
        study, site = tokens.invited(said["code"], said["token"])
        *earlier, agreed = transactions.versions(study)
        with as_agreed():  # a study file does not say its version
            newest = (None, agreed.digest, replace(agreed, version=0).digest)
        known = newest if said["site"] is None else (*newest, *(each.digest for each in earlier))
        if said["digest"] not in known:
            raise Disagreement(agreed)
        if said["site"] not in (None, site):
            raise CbocError("this invitation is for another site of the study.")
        tokens.join(said["code"], said["token"])
        if said["digest"] in newest:  # else a site comes back with an earlier version in its file
            transactions.accept(study, site, agreed.digest)
        return membership(study, site)

    @router.post(wire.LOOK.path, **_documented(wire.LOOK))
    def look(body: Body) -> Response:
        said = wire.read(wire.INVITED, body, is_exact=True)
        return membership(*tokens.invited(said["code"], said["token"]))

    @router.get(wire.STUDY.path, **_documented(wire.STUDY))
    def study(who: Who) -> Response:
        return membership(*who())

    @router.get(wire.STAND.path, **_documented(wire.STAND))
    def standing(who: Who) -> Response:
        study, _ = who()
        return JSONResponse(wire.standing_body(transactions.standing(study)))

    @router.put(wire.SUBMIT.path, **_documented(wire.SUBMIT))
    def submit(turn: Turn, body: LargeBody, who: Who) -> Response:
        study, site = who()
        transactions.submit(study, wire.read_proposal(site, turn, wire.read(wire.PROPOSAL, body, is_exact=True)))
        return Response(status_code=204)

    @router.get(wire.MIX.path, **_documented(wire.MIX))
    def mix(turn: Turn, who: Who) -> Response:
        try:
            return JSONResponse(wire.mix_body(transactions.mix(*who(), turn)))
        except Waiting as waiting:
            return JSONResponse(wire.standing_body(waiting.standing), 202, {"Retry-After": str(PATIENCE)})

    @router.get(wire.HEAR.path, **_documented(wire.HEAR))
    def news(who: Who) -> Response:
        return JSONResponse(wire.news_body(transactions.news(*who())))

    @router.post(wire.ACCEPT.path, **_documented(wire.ACCEPT))
    def accept(body: Body, who: Who) -> Response:
        transactions.accept(*who(), wire.read(wire.ACCEPTANCE, body, is_exact=True)["digest"])
        return Response(status_code=204)

    @router.post(wire.LEAVE.path, **_documented(wire.LEAVE))
    def leave(who: Who) -> Response:
        transactions.leave(*who())
        return Response(status_code=204)

    return router


def _documented(endpoint: wire.Endpoint) -> dict[str, Any]:
    """Return what /openapi.json says about a message: the forms of the wire, as JSON schemas."""

    def content(form: wire.Form) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": wire.schema(form)}}}

    responses: dict[int | str, dict[str, Any]] = {status: {"description": why} for status, why in REFUSALS.items()}
    for refusal in responses.values():
        refusal |= content(wire.REFUSAL)
    done = {"description": "It is done."}
    responses |= {200: done | content(endpoint.gives)} if endpoint.gives else {204: done}
    if endpoint is wire.MIX:
        responses |= {202: {"description": "The round is open; ask again."} | content(wire.STANDING)}
    body = {"requestBody": {"required": True, **content(endpoint.takes)}} if endpoint.takes else {}
    return {"responses": responses, "openapi_extra": body, "status_code": 200 if endpoint.gives else 204}


def from_environment() -> FastAPI:
    """Create the coordinator of the database that CBOC_DATABASE names; every server process starts with this."""
    engine = open_database(os.environ["CBOC_DATABASE"])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        engine.dispose()  # once its last connection is closed, SQLite has everything in one file

    certificate = os.environ.get("CBOC_CERTIFICATE")
    names = [os.environ.get("CBOC_NAMES", ""), *(() if certificate is None else names_in(certificate))]
    front = Front.of(names, [os.environ.get("FORWARDED_ALLOW_IPS", "")])
    return create_app(engine, lifespan, None if certificate is None else own(certificate), front)
