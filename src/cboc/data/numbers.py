"""Numbers as people write them: with a decimal point or comma, and a typed or typeset minus.

0.25   0,25   −3   1e-6

1,234 may mean thousands or decimals. We do not guess: a wrong guess would be wrong by a thousand, and look right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np

from cboc.errors import CbocError

NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)  # with one separator at most
NOT_ZERO = re.compile(r"[+-]?[\d.]*[1-9]", re.ASCII)  # how a number begins that is not zero
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)  # a comma that may mean thousands or decimals
DIGITS = 9  # of an outcome: 1234567 counts and -76.026749 hartree stay what they are


def read_number(text: str) -> float | None:
    """The number that a text means; None if it is not a finite number."""
    written = pointed(text)
    number = float(written) if NUMBER.fullmatch(written) else None
    is_lost = number == 0.0 and NOT_ZERO.match(written) is not None  # too small for a float
    return number if number is not None and isfinite(number) and not is_lost else None


def written(y: float) -> str:
    """An outcome as people write it, with at most nine digits that count."""
    return f"{y:.{DIGITS}g}"


def as_number(value: Any) -> float | None:
    """The number that a value is, or that its text means; None if it is no number. True and False are none."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return read_number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def pointed(text: str, *, has_decimal_commas: bool = False) -> str:
    """Write 0,25 as 0.25, and leave other texts as they are. `has_decimal_commas`: every comma is a decimal one."""
    written = text.strip().replace("\N{MINUS SIGN}", "-")
    if GROUPED.fullmatch(written) and not has_decimal_commas:
        raise CbocError(
            f"'{written}' may mean thousands or decimals; "
            f"write {written.replace(',', '')} or {written.replace(',', '.')}."
        )
    return written.replace(",", ".") if NUMBER.fullmatch(written) else text.strip()


def have_decimal_commas(texts: Iterable[str]) -> bool:
    """Whether these texts use decimal commas: at least one shows it, as 0,25 does, and none has a point."""
    numbers = [text for text in texts if NUMBER.fullmatch(text)]
    return any("," in text and not GROUPED.fullmatch(text) for text in numbers) and not any("." in t for t in numbers)
