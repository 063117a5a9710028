"""What a name may be: short, all of it to be seen, and no formula. Checked once, when a space or a study is made.

Names travel: a site reads those of others in its terminal, on its page, and in a spreadsheet.

    check_name("a unit", "mM")               raises one sentence if somebody could be misled by it
    check_word("a site's name", "lab-b")     also if it has a blank that is not an ordinary one between its words
    as_cell("-OH")                           "'-OH": a spreadsheet would run the text as a formula
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from unicodedata import category

from cboc.errors import CbocError

LONGEST_NAME, LONGEST_UNIT, LONGEST_OPTION = 100, 100, 500  # characters; an option may be a molecule, written as a line
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet runs
NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)  # which it may run
SHOWN = 60  # characters of a name that is refused

_IS_AGREED: ContextVar[bool] = ContextVar("_IS_AGREED", default=False)


def check_name(what: str, name: str, longest: int = LONGEST_NAME) -> None:
    """Raise one sentence if a name is too long, has a character that cannot be seen, or begins as a formula."""
    if _IS_AGREED.get():
        return
    found = ascii(name[:SHOWN])
    if len(name) > longest or not is_printable(name):
        raise CbocError(
            f"{what} has at most {longest} characters, all of which can be printed; {found}, of {len(name)}, does not "
            "fit: change it."
        )
    if name.startswith(("=", "@")):
        raise CbocError(f"{what} does not begin with = or @, as a formula does in a spreadsheet; change {found}.")


def check_word(what: str, name: str) -> None:
    """Raise one sentence if this cannot be the name of a study or a site, which people type and messages carry."""
    check_name(what, name)
    if not _IS_AGREED.get() and (not name or name != name.strip() or not name.isprintable()):
        raise CbocError(
            f"{what} is not empty, and has no blank at either end and none that cannot be typed; change {name!a}."
        )


def is_printable(text: str) -> bool:
    """Whether all characters can be seen, blanks of any width included: no control or direction among them."""
    return text.isprintable() or all(letter.isprintable() or category(letter) == "Zs" for letter in text)


@contextmanager
def as_agreed() -> Iterator[None]:
    """Take names as they are inside the block: a study that older versions of cboc have begun goes on with its own."""
    token = _IS_AGREED.set(True)
    try:
        yield
    finally:
        _IS_AGREED.reset(token)


def as_cell(value: Any) -> Any:
    """A value as a cell of a table: a text that a spreadsheet would run as a formula gets a quote in front."""
    is_formula = isinstance(value, str) and value.lstrip(" '").startswith(FORMULA) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def from_cell(cell: str) -> str:
    """The text that `as_cell` has written."""
    is_quoted = cell.startswith("'") and cell.lstrip(" '").startswith(FORMULA)
    return cell[1:] if is_quoted else cell
