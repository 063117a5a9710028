"""Texts with fields: '{inflow}' or '{inflow:.3f}' is the value of a parameter, '{{inflow}}' the word in braces.

All other braces are left alone: input files are full of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from cboc.errors import CbocError, did_you_mean

FIELD = re.compile(
    r"\{\{(?P<text>[^\W\d]\w*(?::[^{}]*)?)\}\}"  # {{word}}
    r"|\{(?P<name>[^\W\d]\w*)(?::(?P<format>[^{}]*))?\}"  # {name} or {name:format}
)


def names_in(text: str, known: Collection[str]) -> set[str]:
    """Return the fields of a text; each has to be a known one."""
    names = {match["name"] for match in FIELD.finditer(text) if match["name"]}
    for name in sorted(names):
        if name not in known:
            raise CbocError(
                f"the field {{{name}}} is not a parameter; {did_you_mean(name, known)} "
                f"If it is not a field, double its braces."
            )
    return names


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Fill the fields of a text with values; numbers keep all their digits, unless a format says otherwise."""

    def value(match: re.Match[str]) -> str:
        if match["text"]:
            return f"{{{match['text']}}}"
        try:
            return format(values[match["name"]], match["format"] or "")
        except ValueError as error:
            raise CbocError(f"the field {match[0]} cannot be filled in: {error}; write it like {{name:.3f}}.") from None

    return FIELD.sub(value, text)
