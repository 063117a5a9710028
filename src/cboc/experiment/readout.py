"""Read the number in a program's output: at a key of JSON, by a regular expression, or the last number."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cboc.errors import CbocError, at, short
from cboc.experiment.experiment import ExperimentFailed

NUMBER = re.compile(r"(?i)[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[ed][-+]?\d+)?|nan|inf(?:inity)?)")
# Text that begins like a number, with all that is attached: 0.83, but also 13.2mol, 13,264, 1.5-103 and 12:30.
FIGURE = re.compile(r"(?i)(?<![\w.])[-+]?(?:\.?\d(?:[\w.+-]|[,:/](?=\d))*|(?:nan|inf(?:inity)?)(?!\w))")


@dataclass(frozen=True)
class Readout:
    """text -> number, or `ExperimentFailed`. The last of several matches counts: a solver converges towards its end."""

    pattern: str | None = None  # with one group
    key: str | None = None  # "a.b" is b inside a

    def __post_init__(self) -> None:
        if self.pattern is None:
            return
        if self.key is not None:
            raise CbocError("a number is found by a pattern or by a key; leave one of them out.")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise CbocError(f"the pattern '{self.pattern}' is not a regular expression: {error}.") from None
        if groups != 1:
            raise CbocError(
                f"a pattern has one group, in parentheses, around the number; '{self.pattern}' has {groups}. "
                r"Write 'yield = (\S+)'."
            )

    def __call__(self, text: str) -> float:
        if self.key is not None:
            y = self._at_key(text, self.key)
        else:
            y = self._last(text) if self.pattern is None else self._matched(text, self.pattern)
        if not isfinite(y):
            raise ExperimentFailed(f"its number is {y}")
        return y

    def _matched(self, text: str, pattern: str) -> float:
        last = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
        if not last:
            raise ExperimentFailed(f"nothing in its output matches '{pattern}'")
        return _number(last[0][1] or "")

    def _last(self, text: str) -> float:
        """Return the last number; refuse a text in which more than one number could be meant."""
        for line in reversed(text.splitlines()):
            if figures := FIGURE.findall(line):
                return _number(figures[-1].rstrip("."))
        raise ExperimentFailed("its output holds no number")

    def _at_key(self, text: str, key: str) -> float:
        try:
            value: Any = json.loads(text, parse_int=float)
        except ValueError as error:
            raise ExperimentFailed(f"its output is not JSON: {error}") from None
        for name in key.split("."):
            if not isinstance(value, dict) or name not in value:
                raise ExperimentFailed(f"its output has no key '{key}'")
            value = value[name]
        if not isinstance(value, float):
            raise ExperimentFailed(f"at key '{key}' its output has {json.dumps(value)[:40]}, which is not a number")
        return value


@dataclass(frozen=True)
class Readouts:
    """text -> a number for each outcome, by its name, or `ExperimentFailed` with the name of one that is missing."""

    each: Mapping[str, Readout]

    @classmethod
    def of(cls, pattern: Any, key: Any) -> Readouts:
        """The readouts of patterns and keys by name; each outcome has one of both."""
        readouts, named = {}, [{} if given is None else given for given in (pattern, key)]
        for given, noun in zip(named, ("pattern", "key"), strict=True):
            if not isinstance(given, Mapping):
                raise CbocError(
                    f"with several outcomes every {noun} has the name of its outcome; this is {short(given)}."
                )
        patterns, keys = named
        for name in dict.fromkeys((*patterns, *keys)):
            with at(f"'{name}'"):
                readouts[name] = Readout(patterns.get(name), keys.get(name))
        return cls(readouts)

    def __call__(self, text: str) -> dict[str, float]:
        found = {}
        for name, readout in self.each.items():
            try:
                found[name] = readout(text)
            except ExperimentFailed as reason:
                raise ExperimentFailed(f"it gave no '{name}': {reason}") from None
        return found


def _number(text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise ExperimentFailed(
            f"'{text[:40]}' is not a plain number; use a pattern or a key to say where the number is"
        )
    return float(re.sub("[dD]", "e", text))  # Fortran writes 1.5D+03
