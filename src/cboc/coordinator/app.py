"""The coordinator as a web application: every message of a site, and nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import Engine, select
from starlette.types import Lifespan

from cboc.coordinator.dashboard.pages import add_pages
from cboc.coordinator.database import glance, open_database, studies
from cboc.coordinator.errors import PATIENCE, Bounded, Disagreement, add_refusals
from cboc.coordinator.forms import (
    LARGEST,
    LONGEST_SECRET,
    REFUSALS,
    DesignOut,
    JoinIn,
    ProposalIn,
    RoundNumber,
    Standing,
)
from cboc.coordinator.metrics import Measured, Metrics
from cboc.coordinator.rate_limit import RateLimit
from cboc.coordinator.tokens import NotAllowed, Tokens
from cboc.coordinator.transactions import Transactions
from cboc.errors import CbocError
from cboc.exchange.messages import Proposal

Shown = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


def create_app(engine: Engine, lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    """The coordinator of one database."""
    app = FastAPI(title="cboc coordinator", version=version("cboc"), docs_url=None, redoc_url=None, lifespan=lifespan)
    app.add_middleware(Bounded, largest=LARGEST)
    transactions, tokens, measured = Transactions(engine), Tokens(engine), Metrics(engine)
    messages = RateLimit(time.monotonic, tries=500, period=10.0)  # of a site, before it has to wait
    guesses = RateLimit(time.monotonic, tries=20, period=60.0)  # of a token, from one address
    app.add_middleware(Measured, metrics=measured)

    def who(request: Request, shown: HTTPAuthorizationCredentials | None) -> tuple[str, str]:
        """(study, site) of the token that came with a message: a path never names them."""
        if shown is None or len(shown.credentials) > LONGEST_SECRET:
            raise NotAllowed("a message needs the site's token: Authorization: Bearer TOKEN.")
        try:
            known = tokens.who(shown.credentials)
        except NotAllowed:
            guesses.count("" if request.client is None else request.client.host)
            raise
        messages.count("/".join(known))
        return known

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        with glance(engine) as connection:
            connection.execute(
                select(studies.c.study).limit(1)
            )  # of our own tables: a database may answer without them
        return {"status": "well"}

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        return Response(measured.page(), media_type=CONTENT_TYPE_LATEST)

    @app.post("/v1/join", responses=REFUSALS)
    def join(message: JoinIn) -> Standing:
        study, site = tokens.invited(message.code)
        agreed = transactions.study(study)
        if message.digest not in (None, agreed.digest):
            raise Disagreement(agreed)
        if message.site not in (None, site):
            raise CbocError("this invitation is for another site of the study.")
        return _standing(transactions, *tokens.join(message.code, message.token))

    @app.get("/v1/study", responses=REFUSALS)
    def study(request: Request, shown: Shown) -> Standing:
        return _standing(transactions, *who(request, shown))

    @app.put("/v1/rounds/{round}/proposal", status_code=204, responses=REFUSALS)
    def submit(round: RoundNumber, message: ProposalIn, request: Request, shown: Shown) -> None:
        study, site = who(request, shown)
        best = None if message.best is None else tuple(message.best)
        transactions.submit(study, Proposal(site, round, tuple(message.x), message.reward, best))

    @app.get("/v1/rounds/{round}/design", responses=REFUSALS | {202: {"description": "The round is open; ask again."}})
    def design(round: RoundNumber, request: Request, shown: Shown, response: Response) -> DesignOut | None:
        found = transactions.design(*who(request, shown), round)
        if found is None:
            response.status_code = 202
            response.headers["Retry-After"] = str(PATIENCE)
            return None
        others = [list(point) for point in found.others]
        return DesignOut(x=list(found.x), weights=list(found.weights), leader=found.leader, others=others)

    @app.post("/v1/leave", status_code=204, responses=REFUSALS)
    def leave(request: Request, shown: Shown) -> None:
        transactions.leave(*who(request, shown))

    add_pages(app, engine)
    add_refusals(app)
    return app


def from_environment() -> FastAPI:
    """The coordinator of the database that CBOC_DATABASE names: what each of several server processes starts with."""
    engine = open_database(os.environ["CBOC_DATABASE"])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        engine.dispose()  # with its last connection closed, SQLite has everything in one file

    return create_app(engine, lifespan)


def _standing(transactions: Transactions, study: str, site: str) -> Standing:
    agreed, state = transactions.study(study), transactions.state(study)
    return Standing(
        agreement=agreed.agreement(),
        digest=agreed.digest,
        site=site,
        round=state.round,
        missing=list(state.missing),
        closes_at=state.closes_at,
    )
