"""The messages between a site and the coordinator, field by field. None is for an outcome, and none takes free text."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from cboc.coordinator.database import LONGEST
from cboc.exchange.study import MOST_ROUNDS

LARGEST = 64 * 1024  # bytes of a message
MOST_COORDINATES, LONGEST_SECRET = 1000, 200

Coordinate = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Point = Annotated[list[Coordinate], Field(min_length=1, max_length=MOST_COORDINATES)]
RoundNumber = Annotated[int, Path(ge=0, le=MOST_ROUNDS)]
Secret = Annotated[str, Field(min_length=1, max_length=LONGEST_SECRET)]


class Exact(BaseModel):
    """A message with these fields and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ProposalIn(Exact):
    """What a site would run: `Proposal` without what the token and the path say."""

    x: Point
    reward: Annotated[float, Field(allow_inf_nan=False)] | None = None
    best: Point | None = None


class JoinIn(Exact):
    """An invitation, the token that the site chose, and what it expects, if anything: the agreement, who it is."""

    code: Secret
    token: Secret
    digest: Secret | None = None
    site: Annotated[str, Field(max_length=LONGEST)] | None = None


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


class Refusal(BaseModel):
    """Why not, in one sentence; and what a site needs to go on."""

    error: str
    current: int | None = None  # the round that is open
    is_final: bool | None = None  # another design of this site is in already
    agreement: dict[str, Any] | None = None  # the coordinator's


REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "This is no text."},
    401: {"model": Refusal, "description": "The secret opens nothing here."},
    409: {"model": Refusal, "description": "The message fits, but not now or not here."},
    413: {"model": Refusal, "description": f"A message has at most {LARGEST} bytes."},
    422: {"model": Refusal, "description": "The message does not have this form."},
    429: {"model": Refusal, "description": "Too many messages; Retry-After says when to send the next."},
}
