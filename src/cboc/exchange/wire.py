"""Every message between a site and a coordinator, defined once for client, server, audit and pages.

No field holds an outcome or free text. The reader of a message refuses anything that does not fit its form, before
using it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.messages import MOST_BESTS, MOST_OTHERS, MOST_STATES, MOST_TURNS, Mix, News, Proposal
from cboc.exchange.network import Standing
from cboc.exchange.study import MOST_SITES
from cboc.names import LONGEST_NAME
from cboc.space.space import MOST_COORDINATES

VERSION = "v2"
MOST_DESIGNS = 1000  # per message
LONGEST_SECRET, LONGEST_TEXT = 200, 5000  # characters
DEEPEST = 16  # nested lists and objects in an agreement
MOST = 1e308  # the largest number allowed
SIGNS = "^[!-~]+$"  # characters of a secret, which must fit into a header
LATEST = 253_402_000_000.0  # seconds since 1970, in December 9999, where calendars end
REASONS = ("waiting", "conflict", "not submitted")  # for a refusal that a site can act on


@dataclass(frozen=True)
class Kind:
    """What a field may hold, as a test, in words, and as a JSON schema."""

    fits: Callable[[Any], bool]
    words: str
    schema: Mapping[str, Any]
    is_needed: bool = True

    @property
    def optional(self) -> Kind:
        """This kind, but it may also be null or left out."""
        schema = {"anyOf": [self.schema, {"type": "null"}]}
        return Kind(lambda value: value is None or self.fits(value), f"{self.words} or null", schema, False)


Form = Mapping[str, Kind]


def _misfit(form: Form, said: Mapping[str, Any]) -> str:
    """What is wrong with the first field that does not fit; empty if all fit."""
    for name, kind in form.items():
        if name not in said and kind.is_needed:
            return f"{name} is missing"
        if not kind.fits(said.get(name)):
            return f"{name} is not {kind.words}"
    return ""


def schema(form: Form) -> dict[str, Any]:
    """A form as a JSON schema."""
    return {
        "type": "object",
        "properties": {name: dict(kind.schema) for name, kind in form.items()},
        "required": [name for name, kind in form.items() if kind.is_needed],
        "additionalProperties": False,
    }


def _between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _whole(most: int) -> Kind:
    return Kind(
        lambda value: type(value) is int and 0 <= value <= most,
        "a whole number from 0",
        {"type": "integer", "minimum": 0, "maximum": most},
    )


def _text(longest: int, words: str, is_good: Callable[[str], bool], **more: str) -> Kind:
    def fits(value: Any) -> bool:
        return isinstance(value, str) and 0 < len(value) <= longest and is_good(value)

    return Kind(fits, words, {"type": "string", "minLength": 1, "maxLength": longest, **more})


def _is_unicode(text: str) -> bool:
    """Whether a text can be encoded; not so if JSON escapes one half of a surrogate pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _list_of(kind: Kind, words: str, least: int, most: int) -> Kind:
    def fits(value: Any) -> bool:
        return isinstance(value, list) and least <= len(value) <= most and all(map(kind.fits, value))

    return Kind(fits, words, {"type": "array", "items": kind.schema, "minItems": least, "maxItems": most})


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)


NUMBER = Kind(_between(-MOST, MOST), "a number", {"type": "number", "minimum": -MOST, "maximum": MOST})
SHARE = Kind(_between(0.0, 1.0), "a number from 0 to 1", {"type": "number", "minimum": 0, "maximum": 1})
TIME = Kind(_between(0.0, LATEST), "a time", {"type": "number", "minimum": 0, "maximum": LATEST})
TURN, STATE = _whole(MOST_TURNS), _whole(MOST_STATES)
NAME = _text(LONGEST_NAME, "a name", str.isprintable)
CLAIM = _text(LONGEST_NAME, "a name", _is_unicode)  # compared with the site's name, and never shown
SECRET = _text(LONGEST_SECRET, "a secret", lambda text: re.fullmatch(SIGNS, text) is not None, pattern=SIGNS)
TEXT = _text(LONGEST_TEXT, "a text", lambda _: True)
NAMES = _list_of(NAME, "a list of names", 0, MOST_SITES)
POINT = _list_of(SHARE, "a list of numbers from 0 to 1", 1, MOST_COORDINATES)
POINTS = _list_of(POINT, "a list of designs, each of numbers from 0 to 1", 1, MOST_DESIGNS)
FEW_POINTS = _list_of(POINT, f"a list of at most {MOST_OTHERS} designs, each of numbers from 0 to 1", 0, MOST_OTHERS)
BESTS = _list_of(POINT, f"a list of at most {MOST_BESTS} designs, each of numbers from 0 to 1", 1, MOST_BESTS)
WEIGHTS = _list_of(SHARE, "a list of numbers from 0 to 1", 1, MOST_SITES)
OBJECT = Kind(lambda value: isinstance(value, dict), "an object", {"type": "object"})
AGREEMENT = Kind(lambda value: OBJECT.fits(value) and _is_shallow(value, DEEPEST), "an agreement", OBJECT.schema)
REASON = Kind(lambda value: value in REASONS, "a known reason", {"type": "string", "enum": list(REASONS)})

PROPOSAL: Form = {"X": POINTS, "bests": BESTS.optional, "reward": NUMBER.optional}
INVITED: Form = {"code": SECRET, "token": SECRET}
INVITATION: Form = {"code": SECRET, "token": SECRET, "digest": SECRET.optional, "site": CLAIM.optional}
MIXED: Form = {"X": POINTS, "weights": WEIGHTS, "snapshot": STATE, "leader": NAME.optional, "others": FEW_POINTS}
NEWS: Form = {"snapshot": STATE, "others": FEW_POINTS, "turn": TURN.optional}
ACCEPTANCE: Form = {"digest": SECRET}
STANDING: Form = {"round": STATE, "missing": NAMES, "closes_at": TIME.optional}
MEMBERSHIP: Form = {
    "agreement": AGREEMENT,
    "digest": NAME,
    "site": NAME,
    "turn": TURN.optional,
    "experiments": TURN.optional,
}


def _object_of(form: Form, words: str) -> Kind:
    return Kind(lambda value: isinstance(value, dict) and not _misfit(form, value), words, schema(form))


REFUSAL: Form = {
    "error": TEXT,
    "reason": REASON.optional,
    "standing": _object_of(STANDING, "a standing").optional,
    "agreement": AGREEMENT.optional,
}


@dataclass(frozen=True)
class Endpoint:
    """One kind of message: its path, its fields, its answer, and its purpose in words."""

    method: str
    path: str
    words: str
    takes: Form = field(default_factory=dict)
    gives: Form = field(default_factory=dict)

    def at(self, **values: object) -> str:
        """The path of one message."""
        return self.path.format(**values)

    def explain(self, method: str, path: str) -> str | None:
        """The purpose of a message; None if the message is of another kind."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>\\d+)", self.path)
        match = re.fullmatch(pattern, path) if method == self.method else None
        return None if match is None else self.words.format(**match.groupdict())


JOIN = Endpoint("POST", f"/{VERSION}/join", "joined the study", INVITATION, MEMBERSHIP)
LOOK = Endpoint("POST", f"/{VERSION}/invitation", "looked at what an invitation is for", INVITED, MEMBERSHIP)
STUDY = Endpoint("GET", f"/{VERSION}/study", "asked what was agreed", gives=MEMBERSHIP)
SUBMIT = Endpoint("PUT", f"/{VERSION}/turns/{{turn}}/proposal", "proposed a design for turn {turn}", PROPOSAL)
MIX = Endpoint("GET", f"/{VERSION}/turns/{{turn}}/mix", "asked which design to run in turn {turn}", gives=MIXED)
HEAR = Endpoint("GET", f"/{VERSION}/news", "asked for the others' best designs", gives=NEWS)
STAND = Endpoint("GET", f"/{VERSION}/standing", "asked where the study stands", gives=STANDING)
LEAVE = Endpoint("POST", f"/{VERSION}/leave", "left the study")
ACCEPT = Endpoint("POST", f"/{VERSION}/accept", "accepted a change of the study", ACCEPTANCE)
HEALTH = Endpoint("GET", "/healthz", "asked what time it is")
ENDPOINTS = (JOIN, LOOK, STUDY, SUBMIT, MIX, HEAR, STAND, LEAVE, ACCEPT, HEALTH)
APPEND = Endpoint("APPEND", "/feed/{number}", "wrote entry {number} of its feed")  # without a coordinator
DESIGNS = {"X": "proposed design", "bests": "best design so far"}  # the fields that hold designs, in words
SECRETS = ("code", "token")  # the fields that would let anybody act as the site


def explain(method: str, path: str) -> str:
    """The purpose of a message in words, or its address if it is not one of ours."""
    found = (endpoint.explain(method, path) for endpoint in (*ENDPOINTS, APPEND))
    return next((words for words in found if words is not None), f"{method} {path}")


class Misfit(CbocError):
    """A message does not have the form it should have."""


def read(form: Form, content: bytes, *, is_exact: bool = False) -> dict[str, Any]:
    """Read the fields of a message, and check that all fit; with `is_exact` there may be no others."""
    return fitted(form, read_object(content), is_exact=is_exact)


def read_object(content: bytes | str) -> dict[str, Any]:
    """Read a JSON object, whatever its fields."""
    try:
        said = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise Misfit("it is not a JSON object")
    return said


def fitted(form: Form, said: Mapping[str, Any], *, is_exact: bool = False) -> dict[str, Any]:
    """The fields of a message if all fit; with `is_exact` there may be no others."""
    if misfit := _misfit(form, said):
        raise Misfit(misfit)
    if is_exact and not said.keys() <= form.keys():
        raise Misfit("it has a field that no message of this kind has")
    return {name: said.get(name) for name in form}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def proposal_body(proposal: Proposal) -> dict[str, Any]:
    """The body of a proposal, without what the token and the path say."""
    body = {"X": proposal.X, "bests": proposal.bests or None, "reward": proposal.reward}
    return {name: value for name, value in body.items() if value is not None}


def read_proposal(site: str, turn: int, said: Mapping[str, Any]) -> Proposal:
    """Read a proposal from its body."""
    return Proposal(site, turn, said["X"], said["bests"] or (), said["reward"])


def mix_body(mix: Mix) -> dict[str, Any]:
    """The body of a mix, without what the site already knows."""
    return {name: getattr(mix, name) for name in MIXED}


def read_mix(site: str, turn: int, said: Mapping[str, Any]) -> Mix:
    """Read a mix from its body."""
    weights = tuple(map(float, said["weights"]))
    return Mix(site, turn, said["X"], weights, said["snapshot"], said["leader"], said["others"])


def news_body(news: News) -> dict[str, Any]:
    """The body of news, without what the site already knows."""
    return {name: getattr(news, name) for name in NEWS}


def read_news(site: str, said: Mapping[str, Any]) -> News:
    """Read news from their body."""
    return News(site, said["snapshot"], said["others"], said["turn"])


def standing_body(standing: Standing) -> dict[str, Any]:
    """The body of a standing, as plain data."""
    return {name: getattr(standing, name) for name in STANDING}


def read_standing(said: Mapping[str, Any]) -> Standing:
    """Read a standing from its body."""
    return Standing(said["round"], tuple(said["missing"]), said.get("closes_at"))
