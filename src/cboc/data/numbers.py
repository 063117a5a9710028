"""A number as people write it: with a point or a comma before its decimals, with a minus that is typed or typeset.

0.25   0,25   −3   1e-6

1,234 may mean thousands or decimals. Nobody guesses here: a wrong guess would be wrong by a thousand, and look right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite

from cboc.errors import CbocError

NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)  # with one separator at most
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)  # a comma that may be either


def read_number(text: str) -> float | None:
    """The number that is meant; None if it is none, or not a finite one."""
    written = pointed(text)
    number = float(written) if NUMBER.fullmatch(written) else None
    return number if number is not None and isfinite(number) else None


def pointed(text: str, *, has_decimal_commas: bool = False) -> str:
    """0,25 as 0.25; what is no number as it is. `has_decimal_commas`: it stands where a comma means nothing else."""
    written = text.strip().replace("\N{MINUS SIGN}", "-")
    if GROUPED.fullmatch(written) and not has_decimal_commas:
        raise CbocError(
            f"'{written}' may mean thousands or decimals; "
            f"write {written.replace(',', '')} or {written.replace(',', '.')}."
        )
    return written.replace(",", ".") if NUMBER.fullmatch(written) else text.strip()


def have_decimal_commas(texts: Iterable[str]) -> bool:
    """Whether a comma comes before decimals in all of these: one shows it, as 0,25 does, and none has a point."""
    numbers = [text for text in texts if NUMBER.fullmatch(text)]
    return any("," in text and not GROUPED.fullmatch(text) for text in numbers) and not any("." in t for t in numbers)
