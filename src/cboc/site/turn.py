"""The part of a trial that takes part in the exchange: what was proposed, heard, answered and decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from cboc.exchange.messages import Point
from cboc.site.plate import Plate
from cboc.strategy.verdict import Note, Stance, Verdict

STRONG = 0.7  # nats, a factor of two: the least pull that counts


class Decision(StrEnum):
    """How the design to run was chosen."""

    INITIAL = "initial"  # space-filling, before the first turn
    BORROWED = "borrowed"  # another site's best design: to begin with, or to see whether it is good here
    FOLLOWED = "followed"  # the mix
    DECLINED = "declined"  # the site's own proposal: the mix was not good enough
    CONTRADICTED = "contradicted"  # its own proposal: its outcomes contradict the others, or say nothing yet
    UNREACHABLE = "unreachable"  # its own proposal: nobody answered
    OTHER = "other"  # a third design, chosen by the site's strategy


@dataclass(frozen=True)
class Answer:
    """The answer to a proposal, and the site's verdict on it."""

    mix: Point  # projected onto the designs that the site can run
    weights: Point  # the site's row of W
    snapshot: int  # the number of the state it was made from: the round
    verdict: Verdict
    leader: str | None = None
    others: tuple[Point, ...] = ()  # best designs of the others


@dataclass(frozen=True)
class Turn:
    """The part of a trial that takes part in the exchange; initial trials have none.

    All trials of a plate share one turn. What concerns all of them is kept with the first.
    """

    number: int  # the site's own count
    note: Note  # what its strategy thought
    bests: tuple[Point, ...] = ()  # the best designs that go out with the proposal
    answer: Answer | None = None
    well: int = 0  # the place in the plate
    wells: int = 1  # the size of the plate
    heard: tuple[Point, ...] = ()  # best designs of the others that the site knew when it thought
    copies: int = 1  # every design of the plate is there that many times
    same: tuple[str, ...] = ()  # parameters that all wells of the plate share
    places: tuple[str, ...] = ()  # the names of all wells of the plate, kept with the first

    @property
    def is_drawn(self) -> bool:
        """Whether the others' best designs drew the proposal."""
        return self.note.pull >= STRONG

    @property
    def plate(self) -> Plate:
        """What was asked for at once."""
        return Plate(self.wells, self.copies, self.same, self.places)


def plate_from(row: Mapping[str, Any]) -> Plate:
    """The plate from plain data; raises a ValueError if it is none."""
    same, places = _texts(row.get("same", ())), _texts(row.get("places", ()))
    held = numbers(row["held"]) if "held" in row else None
    wells, copies = _whole(row.get("wells", 1)), _whole(row.get("copies", 1))
    if min(wells, copies) < 1 or len(places) not in (0, wells):
        raise ValueError("a plate has wells, and either all of them have a name or none")
    return Plate(wells, copies, same, places, held)


def turn_from(row: Mapping[str, Any]) -> Turn:
    """The turn from plain data; raises a ValueError, TypeError or KeyError if no site can have taken it."""
    note, answer = dict(row.get("note", {})), row.get("answer")
    if "stance" in note:
        note["stance"] = Stance(note["stance"])
    if "memory" in note:
        note["memory"] = numbers(note["memory"])
    bests, heard = (tuple(map(numbers, row.get(name, ()))) for name in ("bests", "heard"))
    well, wells, copies = _whole(row.get("well", 0)), _whole(row.get("wells", 1)), _whole(row.get("copies", 1))
    reply = None if answer is None else _answer(answer)
    plate = plate_from(row)
    return Turn(row["number"], Note(**note), bests, reply, well, wells, heard, copies, plate.same, plate.places)


def _answer(row: Mapping[str, Any]) -> Answer:
    verdict = {"follows": False, **row["verdict"]}
    for name in ("instead", "memory"):
        if name in verdict:
            verdict[name] = numbers(verdict[name])
    others = tuple(map(numbers, row.get("others", ())))
    mix, weights = numbers(row["mix"]), numbers(row["weights"])
    return Answer(mix, weights, row.get("snapshot", 0), Verdict(**verdict), row.get("leader"), others)


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of names holds something else")
    return tuple(values)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("a count is a whole number")
    return value


def numbers(values: Any) -> tuple[float, ...]:
    """A list of finite numbers, as floats."""
    if not all(type(value) in (int, float) and isfinite(value) for value in values):
        raise ValueError("a list of numbers holds something else")
    return tuple(map(float, values))
