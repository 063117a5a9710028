"""One table of a TOML file, read key by key; every mistake is named with its file, section and key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cboc.errors import CbocError, did_you_mean
from cboc.exchange.study import LONGEST_DEADLINE


@dataclass(frozen=True)
class Kind:
    """The kind of value that a key may hold: a noun for the error sentence, and a test."""

    noun: str
    accepts: Callable[[Any], bool]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and isfinite(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_duration(value: Any) -> bool:
    match value.split() if isinstance(value, str) else ():
        case ["none"]:
            return True
        case [amount, unit] if unit in UNITS:
            is_number = amount.replace(".", "", 1).isdecimal()
            return is_number and 0.0 < float(amount) * UNITS[unit] <= LONGEST_DEADLINE
    return False


def seconds(duration: str) -> float | None:
    """Convert a duration such as '36 h' to seconds, and 'none' to None."""
    if duration == "none":
        return None
    amount, unit = duration.split()
    return float(amount) * UNITS[unit]


UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
TEXT = Kind("a string in quotes", _is_text)
TEXTS = Kind("a list of strings in quotes", lambda value: isinstance(value, list) and all(map(_is_text, value)))
WHOLE = Kind("a whole number", _is_whole)
SOME = Kind("a whole number from 1", lambda value: _is_whole(value) and value >= 1)
COUNT = Kind("a whole number from 0", lambda value: _is_whole(value) and value >= 0)
NUMBER = Kind("a number", _is_number)
TIME = Kind(
    "a time such as 2.5, or {median = 2.5, spread = 0.2}",
    lambda value: isinstance(value, dict) or (_is_number(value) and value > 0),
)
WEIGHT = Kind("a number from 0 to 1,000,000", lambda value: _is_number(value) and 0 <= value <= 1e6)
POSITIVE = Kind("a number above 0", lambda value: _is_number(value) and value > 0)
AMOUNT = Kind("a number from 0", lambda value: _is_number(value) and value >= 0)
DURATION = Kind('a time such as "36 h" or "7 d", at most 3650 d, or "none"', _is_duration)
TABLE = Kind("a table", lambda value: isinstance(value, dict))
WORDS = Kind("a table of strings", lambda value: isinstance(value, dict) and all(map(_is_text, value.values())))
TEXT_OR_WORDS = Kind(
    'a string in quotes, or one for each outcome, {yield = "..."}',
    lambda value: TEXT.accepts(value) or WORDS.accepts(value),
)


@dataclass(frozen=True)
class Section:
    """A table and its place in the file, such as 'study.toml, [study]'."""

    place: str
    values: Mapping[str, Any]

    def check_keys(self, known: Collection[str]) -> None:
        """Refuse a key that nobody reads."""
        for key in self.values:
            if key not in known:
                raise CbocError(f"{self.place}: unknown key '{key}'; {did_you_mean(key, known)}")

    def need(self, key: str, kind: Kind) -> Any:
        """Return the value of a required key."""
        if key not in self.values:
            raise CbocError(f"{self.place}: the key '{key}' is missing; it is {kind.noun}.")
        return self.get(key, kind)

    def get(self, key: str, kind: Kind, default: Any = None) -> Any:
        """Return the value of an optional key."""
        if key not in self.values:
            return default
        value = self.values[key]
        if not kind.accepts(value):
            raise CbocError(f"{self.place}: {key} is {kind.noun}, but got {_shown(value)}.")
        return value

    def choose(self, key: str, names: Collection[str], default: str | None = None) -> str:
        """Return the value of a key that holds one of these words; without a default it is required."""
        either = Kind(" or ".join(f'"{name}"' for name in names), lambda value: isinstance(value, str))
        value: str = self.need(key, either) if default is None else self.get(key, either, default)
        if value not in names:
            raise CbocError(f"{self.place}: {key} = {_shown(value)} is unknown; {did_you_mean(value, names)}")
        return value


def _shown(value: Any) -> str:
    """Write a value as it stands in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else repr(value)
