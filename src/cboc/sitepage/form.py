"""Convert the typed fields of the forms to an outcome and a design, or to a plate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cboc.data.numbers import pointed, read_number
from cboc.data.objective import Measurement, Outcome
from cboc.errors import CbocError, at
from cboc.space.fixed import Parameter
from cboc.space.space import Space

RAN = "ran."  # before a parameter's name: the field for the value that was really run
Y, SEM = "y", "sem"  # the fields of an outcome; of several, before a point and the number of each
SAME = "same."  # before a parameter's name: the tick that it is the same in all wells
MOST_WELLS = 384  # experiments that can be asked for at once

Fields = Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """A result: the outcome, the design that was run if it differs from the proposed one, and the cost."""

    outcome: Outcome
    ran: dict[str, Any] | None
    cost: float | None = None


@dataclass(frozen=True)
class Order:
    """A plate to ask for: so many experiments, each design so many times, these parameters the same in all wells."""

    count: int
    replicates: int
    same: tuple[str, ...]
    layout: int | None = None  # the number of wells of the plate whose free wells are used; None: wells have no names
    after: int | None = None  # how many trials there were on the page that it was sent from


class Mistyped(CbocError):
    """A field holds something other than what it is for."""


def read_entry(fields: Fields, space: Space, design: Mapping[str, Any], outcomes: Sequence[str] = (Y,)) -> Entry:
    """Read the result of the trial with this design: one of each outcome, by its name if there are several."""
    try:
        return Entry(_measured(fields, outcomes), _ran(fields, space, design), read_cost(fields))
    except CbocError as error:
        raise Mistyped(str(error)) from None


def read_cost(fields: Fields) -> float | None:
    """Read what an experiment cost; None if the field is empty."""
    try:
        return _optional("the cost", fields.get("cost", ""))
    except CbocError as error:
        raise Mistyped(str(error)) from None


def read_order(fields: Fields) -> Order:
    """Read the plate that a form asks for; whether there is such a plate, the site knows."""
    return Order(
        _whole(f"a plate has 1 to {MOST_WELLS} experiments", fields.get("count", "")),
        _whole(f"a plate has each design 1 to {MOST_WELLS} times", fields.get("replicates", "1")),
        tuple(name.removeprefix(SAME) for name in fields if name.startswith(SAME)),
        _whole(f"a plate has 1 to {MOST_WELLS} wells", fields["layout"]) if fields.get("layout") else None,
        int(fields["after"]) if fields.get("after", "").isdecimal() else None,
    )


def field_of(part: str, place: int, outcomes: Sequence[object]) -> str:
    """The name of the field for a part of an outcome: 'y', 'sem', or of several 'y.0', 'sem.0'."""
    return part if len(outcomes) == 1 else f"{part}.{place}"


def _measured(fields: Fields, outcomes: Sequence[str]) -> Outcome:
    if len(outcomes) == 1:
        return _measurement(fields, Y, SEM, "the outcome", "the standard error")
    return {
        name: _measurement(
            fields, field_of(Y, k, outcomes), field_of(SEM, k, outcomes), name, f"the standard error of {name}"
        )
        for k, name in enumerate(outcomes)
    }


def _measurement(fields: Fields, y: str, sem: str, what: str, its_error: str) -> Measurement:
    mean = _number(what, fields.get(y, ""))
    return Measurement(mean, _optional(its_error, fields.get(sem, "")))


def _ran(fields: Fields, space: Space, design: Mapping[str, Any]) -> dict[str, Any] | None:
    if "other" not in fields:
        return None
    ran = {name: _value(name, p, fields.get(RAN + name, ""), design[name]) for name, p in space.parameters.items()}
    space.to_unit(ran)  # complains about bounds and constraints
    return ran


def _value(name: str, parameter: Parameter, text: str, designed: Any) -> Any:
    """Read one field; an unchanged field means the design's value, with all its digits."""
    if text.strip() == parameter.shown(designed):
        return designed
    with at(name):
        if not text.strip():
            raise CbocError("expected a value, but the field is empty.")
        return parameter.read(text.strip() if parameter.is_choice else pointed(text))


def _number(what: str, text: str) -> float:
    if not text.strip():
        raise CbocError(f"{what} is missing; write a number such as 0.25, or say that the experiment failed.")
    with at(what):
        number = read_number(text)
    if number is None:
        raise CbocError(f"{what} is a number such as 0.25; {text.strip()!r} is not one.")
    return number


def _optional(what: str, text: str) -> float | None:
    """Read a number that may be left out, and is not negative."""
    number = _number(what, text) if text.strip() else None
    if number is not None and number < 0.0:
        raise CbocError(f"{what} is not negative; got {text.strip()!r}. Leave it empty if it is not known.")
    return number


def _whole(expected: str, text: str) -> int:
    written = text.strip()
    if not written.isdecimal() or len(written) > len(str(MOST_WELLS)) or not 1 <= int(written) <= MOST_WELLS:
        raise CbocError(f"{expected}; got {written[:20]!r}.")
    return int(written)
