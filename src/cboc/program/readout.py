"""The number in what a program left: at a key of JSON, by a regular expression, or the last one of all."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cboc.errors import CbocError
from cboc.loop import ExperimentFailed

NUMBER = r"(?i)(?<![\w.])([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[ed][-+]?\d+)?|nan|inf(?:inity)?))(?!\w)"


@dataclass(frozen=True)
class Readout:
    """text -> number, or `ExperimentFailed`. Of several matches the last one counts: a solver converges to its end."""

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
            raise CbocError(f"the pattern '{self.pattern}' is no regular expression: {error}.") from None
        if groups != 1:
            raise CbocError(
                f"a pattern has one group, in parentheses, around the number; '{self.pattern}' has {groups}. "
                r"Write 'yield = (\S+)'."
            )

    def __call__(self, text: str) -> float:
        y = self._at_key(text, self.key) if self.key is not None else self._matched(text)
        if not isfinite(y):
            raise ExperimentFailed(f"its number is {y}")
        return y

    def _matched(self, text: str) -> float:
        matches = re.findall(self.pattern or NUMBER, text, re.MULTILINE)
        if not matches:
            what = f"nothing that matches '{self.pattern}'" if self.pattern else "no number"
            raise ExperimentFailed(f"it left {what}")
        try:
            return float(re.sub("[dD]", "e", matches[-1]))  # Fortran writes 1.5D+03
        except ValueError:
            raise ExperimentFailed(f"'{matches[-1]}' is no number") from None

    def _at_key(self, text: str, key: str) -> float:
        try:
            value: Any = json.loads(text, parse_int=float)
        except ValueError as error:
            raise ExperimentFailed(f"what it left is no JSON: {error}") from None
        for name in key.split("."):
            if not isinstance(value, dict) or name not in value:
                raise ExperimentFailed(f"it left no key '{key}'")
            value = value[name]
        if not isinstance(value, float):
            raise ExperimentFailed(f"at key '{key}' it left {json.dumps(value)[:40]}, which is no number")
        return value
