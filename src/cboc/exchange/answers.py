"""What a coordinator may answer, read strictly: whatever else comes is one sentence, and never gets further.

Behind an address that is mistyped, or behind a hotel's wireless network, there is a web server too; and a coordinator
that somebody has broken into must not write to a site's terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import fsum
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.ledger import MOST_OTHERS
from cboc.exchange.messages import Design

LARGEST = 32 * 2**20  # bytes of an answer: the agreement on a fixed matrix of 1,000 sites has 22 million
LONGEST = 500  # characters of a refusal
LONGEST_NAME = 200  # characters of a name
MOST_LEVELS = 16  # of lists and objects within each other, in an agreement
MOST_ROUNDS = 10**9
LATEST = 253_402_000_000.0  # seconds since 1970, in December 9999: a calendar has no more
TOLERANCE = 1e-6  # of the sum of weights

Form = Mapping[str, tuple[Callable[[Any], bool], str]]  # of each field: whether a value fits, and what would


@dataclass(frozen=True)
class Answer:
    """What came from an address."""

    url: str
    status: int
    content: bytes = b""
    date: str | None = None

    @property
    def is_open(self) -> bool:
        """There is no design yet."""
        return self.status == 202 and self.content in (b"", b"null")

    @property
    def is_done(self) -> bool:
        """There is nothing to say."""
        return self.status == 204

    def standing(self) -> dict[str, Any]:
        return self._read(STANDING)

    def design(self, site: str, round: int, dimension: int | None, sites: Sequence[str] | None) -> Design:
        """Of D = `dimension` coordinates and K weights, where these are known."""
        said = self._read(DESIGN)
        x, weights, leader, others = said["x"], said["weights"], said["leader"], said["others"]
        dimension = len(x) if dimension is None else dimension
        for name, point in [("x", x), *(("one of others", point) for point in others)]:
            if len(point) != dimension:
                raise strange(self.url, f"{name} has {len(point)} coordinates instead of {dimension}")
        if sites is not None and len(weights) != len(sites):
            raise strange(self.url, f"weights are {len(weights)} instead of {len(sites)}")
        if sites is not None and leader not in (None, *sites):
            raise strange(self.url, "leader is no site of the study")
        return Design(site, round, _numbers(x), _numbers(weights), leader, tuple(map(_numbers, others)))

    def refusal(self) -> dict[str, Any]:
        """Its `error` is fit to be shown; `current`, `is_final` and `agreement` are None where they do not apply."""
        if self.status < 400:
            raise strange(self.url, f"it answers {self.status}, which no coordinator does here")
        try:
            said = self._read(REFUSAL)
        except CbocError:
            if self.status < 500:
                raise
            raise CbocError(
                f"what answers at {self.url} has failed (it answers {self.status}); ask who runs it."
            ) from None
        return said | {"error": shown(said["error"]) or "it gives no reason."}

    def time(self) -> float:
        """When it was sent, in seconds since 1970."""
        try:
            return parsedate_to_datetime(self.date or "").timestamp()
        except (ValueError, TypeError, OverflowError, OSError):
            raise strange(self.url, "it does not say what time it is") from None

    def _read(self, form: Form) -> dict[str, Any]:
        """The fields of a form, all of which fit; those of a refusal may be missing."""
        try:
            said = json.loads(self.content, parse_constant=_refuse)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise strange(self.url, f"it answers {self.status} without a JSON object")
        known = {name: said.get(name) for name in form} if form is REFUSAL else said
        for name, (is_fitting, what) in form.items():
            if name not in known or not is_fitting(known[name]):
                raise strange(self.url, f"{name} is not {what}")
        return {name: known[name] for name in form}


def strange(url: str, reason: str) -> CbocError:
    """The one sentence for all that no coordinator says."""
    return CbocError(f"what answers at {url} is no coordinator ({reason}); is the address right?")


def shown(text: str, longest: int = LONGEST) -> str:
    """A text from elsewhere, fit for a terminal: one line, without control characters, not too long."""
    letters = (letter for letter in text[: 10 * longest] if letter.isprintable() or letter.isspace())
    return " ".join("".join(letters).split())[:longest]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _numbers(values: list[float]) -> tuple[float, ...]:
    return tuple(map(float, values))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_ROUNDS


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= LATEST


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(v) in (int, float) and 0 <= v <= 1 for v in value)


def _is_row(value: Any) -> bool:
    return _is_point(value) and abs(fsum(value) - 1.0) <= TOLERANCE


def _are(is_fitting: Callable[[Any], bool], most: int | None = None) -> Callable[[Any], bool]:
    def are_fitting(value: Any) -> bool:
        return isinstance(value, list) and (most is None or len(value) <= most) and all(map(is_fitting, value))

    return are_fitting


def _or_none(is_fitting: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_fitting(value)


def _is_agreement(value: Any) -> bool:
    return isinstance(value, dict) and _is_shallow(value, MOST_LEVELS)


def _is_shallow(value: dict[str, Any] | list[Any], levels: int) -> bool:
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts if isinstance(part, dict | list))


STANDING: Form = {
    "agreement": (_is_agreement, "an agreement"),
    "digest": (_is_name, "a digest"),
    "site": (_is_name, "a name"),
    "round": (_is_whole, "a whole number from 0"),
    "missing": (_are(_is_name), "a list of names"),
    "closes_at": (_or_none(_is_time), "a time or null"),
}
DESIGN: Form = {
    "x": (_is_point, "a list of numbers from 0 to 1"),
    "weights": (_is_row, "a list of numbers from 0 to 1 that add up to 1"),
    "leader": (_or_none(_is_name), "a name or null"),
    "others": (_are(_is_point, MOST_OTHERS), f"a list of at most {MOST_OTHERS} lists of numbers from 0 to 1"),
}
REFUSAL: Form = {
    "error": (_is_text, "a text"),
    "current": (_or_none(_is_whole), "a whole number from 0"),
    "is_final": (_or_none(lambda value: isinstance(value, bool)), "true or false"),
    "agreement": (_or_none(_is_agreement), "an agreement"),
}
