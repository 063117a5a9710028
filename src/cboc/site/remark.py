"""A remark: what a person writes beside a trial, and the reason of a failure. Both stay at the site, as outcomes do."""

from __future__ import annotations

import unicodedata

from cboc.errors import CbocError, check_kind

LONGEST = 2000  # characters
JOINERS = ("\u200c", "\u200d")  # of letters and signs, in Persian and in 👩‍🔬
ENDS = ("\r\n", "\r", "\x85", "\u2028", "\u2029")  # of lines, as other programs write them


def as_remark(text: str) -> str:
    """The text as it is kept: lines end in one way, blanks are blanks; raises one sentence if it is no remark."""
    check_kind("a remark", text, str, "a text")
    for end in ENDS:
        text = text.replace(end, "\n")
    text = "".join(" " if c == "\t" or unicodedata.category(c) == "Zs" else c for c in text).strip()
    if len(text) > LONGEST:
        raise CbocError(f"a remark has at most {LONGEST} characters; this one has {len(text)}. Shorten it.")
    if strange := next((c for c in text if not _is_shown(c)), None):
        raise CbocError(f"a remark has letters, signs and line breaks; {strange!a} is none of them: leave it out.")
    return text


def as_reason(text: str) -> str:
    """The reason of a failure as it is kept: a program may say anything, so that what cannot be shown is spelt out."""
    check_kind("the reason of a failure", text, str, "a text")
    shown = "".join(c if _is_shown(c) else ascii(c)[1:-1] for c in text)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 2]} …"


def is_remark(text: object) -> bool:
    """Whether this may be kept as a remark."""
    return isinstance(text, str) and len(text) <= LONGEST and all(map(_is_shown, text))


def _is_shown(character: str) -> bool:
    return character.isprintable() or character == "\n" or character in JOINERS
