"""Errors in one sentence for a user's mistake: what was expected, what was given, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import UnionType
from typing import Any

from cboc.arrays import is_number

LONGEST = 200  # characters of a value in a sentence
ENDING = 50  # characters of its end, as that of a path
ENDLESS = re.compile(rf"\S{{{LONGEST + 2 * ENDING},}}")
MOST_NAMED = 50  # known names in a sentence


class CbocError(Exception):
    """A mistake the user can mend; the command line prints it without a traceback.

    It is one line of some length, whatever was put into it: characters that are not seen, or move others about, are
    written out, and what nobody reads to its end is shown by how it begins and ends.
    """

    def __init__(self, sentence: str = "") -> None:
        seen = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in sentence)
        super().__init__(ENDLESS.sub(lambda word: f"{word[0][:LONGEST]}...{word[0][-ENDING:]}", seen))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'Did you mean X?' if a known name is close, else the list of known names, or of the first ones."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1) if len(name) <= LONGEST else []
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known[:MOST_NAMED])}{more}."


def short(value: object) -> str:
    """A value as it is written in Python, or how that begins: a sentence is to be read."""
    text = repr(value).replace("\n", " ")  # of a frame
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def listed(items: Iterable[object], most: int = 8) -> str:
    """Items in a sentence: '3, 5 and 9', or the first ones and how many more."""
    texts = [str(item) for item in items]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most:,} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def check_kind(what: str, value: object, kind: type | tuple[type, ...] | UnionType, expected: str) -> None:
    """Raise one sentence if a value that somebody gave is of another kind; called where it enters."""
    if not isinstance(value, kind):
        raise CbocError(f"{what} is {expected}; this is {short(value)}.")


def whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number that somebody gave; raises one sentence if it is not one, too small or too large."""
    if not is_number(value) or not float(value).is_integer() or value < least or (most is not None and value > most):
        until = "" if most is None else f" to {most:,}"
        raise CbocError(f"{name} is a whole number from {least}{until}; this is {short(value)}.")
    return int(value)


def installing(extra: str) -> str:
    """How to install an optional part, since cboc is not on a package index."""
    return f"in a clone of the repository, run: pip install '.[{extra}]'"


@contextmanager
def at(place: str) -> Iterator[None]:
    """Prefix errors raised inside the block with the place."""
    try:
        yield
    except CbocError as error:
        raise CbocError(f"{place}: {error}") from None
