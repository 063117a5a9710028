"""The coordinator as a web application: every message of a site, and nothing else."""

from __future__ import annotations

import os
import time
from importlib.metadata import version
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import Engine

from cboc.errors import CbocError
from cboc.messages import Proposal
from cboc.service.door import Door, NotAllowed
from cboc.service.exchange import Exchange
from cboc.service.limiter import Limiter
from cboc.service.pages import add_pages
from cboc.service.refusals import PATIENCE, Bounded, Disagreement, add_refusals
from cboc.service.sql import open_database
from cboc.service.watch import Watch, Watched
from cboc.service.wire import LARGEST, LONGEST_SECRET, REFUSALS, DesignOut, JoinIn, ProposalIn, RoundNumber, Standing


class Limits:
    """So many messages may come from a site, and so many wrong tokens from one address, before they have to wait."""

    def __init__(self) -> None:
        self.messages = Limiter(time.monotonic, tries=500, period=10.0)
        self.guesses = Limiter(time.monotonic, tries=20, period=60.0)


def site_of(
    request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
) -> tuple[str, str]:
    """(study, site) of the token that came with a message: a path never names them."""
    if shown is None or len(shown.credentials) > LONGEST_SECRET:
        raise NotAllowed("a message needs the site's token: Authorization: Bearer TOKEN.")
    limits: Limits = request.app.state.limits
    door: Door = request.app.state.door
    try:
        who = door.who(shown.credentials)
    except NotAllowed:
        limits.guesses.count("" if request.client is None else request.client.host)
        raise
    limits.messages.count("/".join(who))
    return who


Who = Annotated[tuple[str, str], Depends(site_of)]


def create_app(engine: Engine) -> FastAPI:
    """The coordinator of one database."""
    app = FastAPI(title="cboc coordinator", version=version("cboc"), docs_url=None, redoc_url=None)
    app.add_middleware(Bounded, largest=LARGEST)
    exchange, door = Exchange(engine), Door(engine)
    app.state.door = door
    app.state.limits = Limits()
    watch = Watch(engine)
    app.add_middleware(Watched, watch=watch)

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")
        return {"status": "well"}

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        return Response(watch.page(), media_type=CONTENT_TYPE_LATEST)

    @app.post("/v1/join", responses=REFUSALS)
    def join(message: JoinIn) -> Standing:
        study, site = door.invited(message.code)
        agreed = exchange.study(study)
        if message.digest not in (None, agreed.digest):
            raise Disagreement(agreed)
        if message.site not in (None, site):
            raise CbocError("this invitation is for another site of the study.")
        return _standing(exchange, *door.join(message.code, message.token))

    @app.get("/v1/study", responses=REFUSALS)
    def study(who: Who) -> Standing:
        return _standing(exchange, *who)

    @app.put("/v1/rounds/{round}/proposal", status_code=204, responses=REFUSALS)
    def submit(round: RoundNumber, message: ProposalIn, who: Who) -> None:
        best = None if message.best is None else tuple(message.best)
        exchange.submit(who[0], Proposal(who[1], round, tuple(message.x), message.reward, best))

    @app.get("/v1/rounds/{round}/design", responses=REFUSALS | {202: {"description": "The round is open; ask again."}})
    def design(round: RoundNumber, who: Who, response: Response) -> DesignOut | None:
        found = exchange.design(*who, round)
        if found is None:
            response.status_code = 202
            response.headers["Retry-After"] = str(PATIENCE)
            return None
        others = [list(point) for point in found.others]
        return DesignOut(x=list(found.x), weights=list(found.weights), leader=found.leader, others=others)

    @app.post("/v1/leave", status_code=204, responses=REFUSALS)
    def leave(who: Who) -> None:
        exchange.leave(*who)

    add_pages(app, engine)
    add_refusals(app)
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
