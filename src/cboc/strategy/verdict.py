"""What a trial keeps of an opinion, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, isnan
from typing import Any

import numpy as np

from cboc.arrays import is_number
from cboc.errors import CbocError

APART = "there is too little evidence that the sites' best designs lie together"  # the usual reason to be in doubt


class Stance(StrEnum):
    """A site's stance to the others, according to its guide."""

    TOGETHER = "together"  # drawn to them, and mixes
    DOUBT = "in doubt"  # not drawn, and mixes only if that keeps much of its own utility
    ALONE = "alone"  # neither


@dataclass(frozen=True)
class Note:
    """What a trial keeps of an opinion: its worth of the site's own proposal, and its stance to the others."""

    log_worth: float = 0.0  # of the site's own proposal, by its own utility
    pull: float = 0.0  # of the others' best designs on the proposal, in nats
    stance: Stance | None = None  # None: there was no guide
    keeps: float = 0.0  # in doubt: the share of its own utility that a mix must keep
    reason: str = ""  # why the site is in doubt or alone, to follow "because"
    log_odds: float | None = None  # that the best designs lie together, in nats; None: nothing to judge from
    consistency: float | None = None  # of the site's outcomes with that, from -1 to 1; None: too few designs near them
    reward: float | None = None  # S_k, which the rule compares; None: use the worth
    memory: tuple[float, ...] | None = None  # what the strategy wants to remember for the next turn

    def __post_init__(self) -> None:
        _check_numbers(self, ("log_worth", "pull", "keeps"), ("log_odds", "consistency", "reward"))
        _check_lists(self, ("memory",))
        if not 0.0 <= self.keeps <= 1.0:
            raise CbocError(f"a note's keeps is a share of the utility, from 0 to 1; this is {self.keeps!r}.")
        if self.stance is not None and not isinstance(self.stance, Stance):
            raise CbocError(f"a note's stance is one of Stance, or None; this is {self.stance!r}.")
        _check_reason(self)


@dataclass(frozen=True)
class Verdict:
    """Whether a site runs the mix, and what it thinks of it."""

    follows: bool
    log_worth: float = 0.0  # of the mix, by the site's own utility
    pull: float = 0.0  # of the others at the mix, in nats
    reason: str = ""  # why it does not follow, to follow "because"
    instead: tuple[float, ...] | None = None  # a third design to run, neither the mix nor the site's own
    memory: tuple[float, ...] | None = None  # replaces the note's
    borrows: bool = False  # whether the third design is another site's best one

    def __post_init__(self) -> None:
        if not isinstance(self.follows, bool | np.bool_):
            raise CbocError(f"a verdict's follows is True or False; this is {self.follows!r}.")
        object.__setattr__(self, "follows", bool(self.follows))
        if not isinstance(self.borrows, bool):
            raise CbocError(f"a verdict's borrows is True or False; this is {self.borrows!r}.")
        _check_numbers(self, ("log_worth", "pull"))
        _check_lists(self, ("instead", "memory"))
        _check_reason(self)


def as_note(given: object) -> Note:
    """The note that an opinion gave; raises one sentence if it is something else.

    A user's opinion may return anything. What is derived from a Note may have fields that no file has.
    """
    if type(given) is not Note:
        raise CbocError(f"an opinion's note() has to return a Note itself; this is {given!r}.")
    return given


def as_verdict(given: object) -> Verdict:
    """The verdict that an opinion gave; raises one sentence if it is something else, as `as_note` does."""
    if type(given) is not Verdict:
        raise CbocError(f"an opinion's judge() has to return a Verdict itself; this is {given!r}.")
    return given


def _check_numbers(kept: Note | Verdict, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Convert these fields to finite floats; only the logarithm of a worth may be infinite."""
    for name in (*needed, *optional):
        value: Any = getattr(kept, name)
        if value is None and name in optional:
            continue
        if (
            not (type(value) is float or is_number(value))
            or isnan(value)
            or not (isfinite(value) or name == "log_worth")
        ):
            raise CbocError(f"a {_noun(kept)}'s {name} is a number; this is {value!r}.")
        object.__setattr__(kept, name, float(value))


def _check_lists(kept: Note | Verdict, names: Sequence[str]) -> None:
    """Convert these lists of finite numbers to tuples; an empty list becomes None, as in a file."""
    for name in names:
        values: Any = getattr(kept, name)
        if values is None:
            continue
        if not _are_finite(values):
            raise CbocError(f"a {_noun(kept)}'s {name} is a list of finite numbers; this is {values!r}.")
        object.__setattr__(kept, name, tuple(map(float, values)) or None)


def _are_finite(values: Any) -> bool:
    """Whether these are finite numbers in an order that every process has."""
    if isinstance(values, str | Mapping | Set) or not hasattr(values, "__len__"):
        return False
    try:
        return all((type(value) is float or is_number(value)) and isfinite(value) for value in values)
    except TypeError:  # an array without dimensions has a length, but no parts
        return False


def _check_reason(kept: Note | Verdict) -> None:
    if not isinstance(kept.reason, str):
        raise CbocError(f"a {_noun(kept)}'s reason is a string; this is {kept.reason!r}.")


def _noun(kept: Note | Verdict) -> str:
    return type(kept).__name__.lower()
