"""One experiment of one site, from proposal to result, and why it is what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.data.objective import Measurement
from cboc.errors import CbocError
from cboc.exchange.messages import Point
from cboc.site.plate import Plate
from cboc.site.remark import is_remark
from cboc.space.space import Space
from cboc.strategy.verdict import Note, Stance, Verdict

STRONG = 0.7  # nats, a factor of two: the least pull that counts


class Status(StrEnum):
    """Where a trial stands. A failed one may be told again; one that was reopened is pending again."""

    PROPOSED = "proposed"  # thought of; the network does not have it yet
    SUBMITTED = "submitted"  # handed in, not answered yet
    PENDING = "pending"  # to be run
    COMPLETE = "complete"
    FAILED = "failed"
    ABANDONED = "abandoned"
    STOPPED = "stopped"  # not run: the utility fell below the site's threshold, and the site left the study here


OPEN = (Status.PROPOSED, Status.SUBMITTED, Status.PENDING)  # something is still to be done
UNANSWERED = (Status.PROPOSED, Status.SUBMITTED)  # the design to run is not decided yet
TOLD = (Status.COMPLETE, Status.FAILED)  # something was learned
OVER = (Status.COMPLETE, Status.FAILED, Status.ABANDONED)  # until it is reopened
STAGES = (Status.PROPOSED, Status.SUBMITTED, Status.PENDING, Status.FAILED)  # in this order; all others are the last


def may_follow(now: Status, before: Status) -> bool:
    """Whether a trial that nobody reopens may have gone from one status to another: never backwards.

    In a simulation nobody reopens a trial; in a site's own file a person may.
    """
    if now is before:
        return True
    return before in STAGES and (now not in STAGES or STAGES.index(now) > STAGES.index(before))


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
    def plate(self) -> Plate:
        """What was asked for at once."""
        return Plate(self.wells, self.copies, self.same, self.places)


@dataclass(frozen=True)
class Trial:
    """One experiment: the site `proposed` a design, is to run `x`, and `executed` one. All lie in the unit cube."""

    site: str
    number: int  # counts the site's own trials, the initial ones included
    status: Status
    proposed: Point
    turn: Turn | None = None  # None: an initial trial
    decision: Decision | None = None  # None: there is no design to run yet
    executed: Point | None = None
    outcomes: Mapping[str, Measurement] = field(default_factory=dict)  # by objective
    note: str = ""  # written by the software: why it failed, what a correction has replaced
    began: float | None = None  # when there was a design to run, in seconds since 1970 or by a simulation's calendar
    ended: float | None = None  # when its outcome was told
    cost: float | None = None  # in the site's own unit
    place: str = ""  # the name of its well, such as A1, if it has one
    plate: Plate | None = None  # the plate whose first well it is, if it is an initial trial; a turn knows its own
    remark: str = ""  # written by a person

    def __post_init__(self) -> None:
        """Raise a ValueError if no site can have made this trial."""
        answer = None if self.turn is None else self.turn.answer
        points = [self.proposed, *(() if self.executed is None else (self.executed,))]
        points += () if answer is None else (answer.mix, answer.verdict.instead or answer.mix)
        others = () if answer is None else answer.others
        heard = [] if self.turn is None else [*self.turn.bests, *self.turn.heard, *others]
        is_alike = len(set(map(len, points))) == 1 and len(set(map(len, heard))) <= 1
        if not is_alike or not all((*points, *heard)) or any(len(point) > len(self.proposed) for point in heard):
            raise ValueError("the designs of a trial have the same number of coordinates")
        for point in (*points, *heard):
            if not all(type(value) is float and 0.0 <= value <= 1.0 for value in point):
                raise ValueError("a design lies in the unit cube")
        counts = [self.number, *(() if self.turn is None else (self.turn.number,))]
        counts += () if answer is None else (answer.snapshot,)
        if not all(type(count) is int and count >= 0 for count in counts):
            raise ValueError("a trial counts from 0")
        if self.turn is not None and not (0 <= self.turn.well < self.turn.wells and self.turn.copies >= 1):
            raise ValueError("a well has its place in a plate")
        names = [self.site, *self.outcomes, *(() if answer is None or answer.leader is None else (answer.leader,))]
        if (
            not isinstance(self.place, str)
            or not isinstance(self.note, str)
            or not all(isinstance(name, str) and name for name in names)
        ):
            raise ValueError("a note is text; a site, an objective and a leader have names")
        if not is_remark(self.remark):
            raise ValueError("a remark is a text that can be printed")
        if answer is not None and not (answer.weights and all(0.0 <= weight <= 1.0 for weight in answer.weights)):
            raise ValueError("a weight lies between 0 and 1")
        if not all(value is None or (type(value) in (int, float) and isfinite(value)) for value in self._numbers):
            raise ValueError("times and costs are numbers")
        if self.turn is None and self.status in (Status.PROPOSED, Status.SUBMITTED, Status.STOPPED):
            raise ValueError("an initial trial is not handed in")
        if self.executed is None and self.status in TOLD:
            raise ValueError("a trial that is over says what was run")
        if (self.status is Status.COMPLETE) != bool(self.outcomes):
            raise ValueError("a trial has outcomes if it is complete, and only then")

    @property
    def _numbers(self) -> tuple[float | None, ...]:
        return self.began, self.ended, self.cost

    # ---------------------------------------------------------------------------------------------- what is read off

    @property
    def y(self) -> float | None:
        """The mean of its first objective, if it has been measured."""
        return next((outcome.mean for outcome in self.outcomes.values()), None)

    @property
    def sem(self) -> float | None:
        """The standard error of `y`, if known."""
        return next((outcome.sem for outcome in self.outcomes.values()), None)

    @property
    def answer(self) -> Answer | None:
        """The answer to the proposal, if there is one."""
        return None if self.turn is None else self.turn.answer

    @property
    def x(self) -> Array:
        """The design to run, or that was run, in the unit cube."""
        return np.array(self.executed or self._to_run)

    @property
    def _to_run(self) -> Point:
        answer = self.answer
        is_other = self.decision in (Decision.OTHER, Decision.BORROWED)
        if answer is not None and is_other and answer.verdict.instead is not None:
            return answer.verdict.instead
        return answer.mix if answer is not None and self.decision is Decision.FOLLOWED else self.proposed

    @property
    def is_shared(self) -> bool:
        """Whether the others influenced the design: theirs, a mix that was followed, or a proposal drawn to them."""
        if self.decision is Decision.BORROWED:
            return True
        answer = self.answer
        is_mixed = self.decision is Decision.FOLLOWED and answer is not None and answer.mix != self.proposed
        return is_mixed or self.is_drawn

    @property
    def is_drawn(self) -> bool:
        """Whether the others' best designs drew the proposal."""
        return self.turn is not None and self.turn.note.pull >= STRONG

    def design(self, space: Space) -> dict[str, Any]:
        """The design in natural units, by name."""
        return space.from_unit(self.x)

    def explain(self, sites: tuple[str, ...]) -> str:
        """One sentence: where this design comes from."""
        if self.status is Status.STOPPED:
            return "Stopped: no design promises more than your threshold."
        if self.decision is Decision.BORROWED and self.turn is None:
            return "Initial design: the best of another site, of those known when you began."
        if self.turn is None:
            return "Initial design: spread over the space, without the others."
        if self.decision is None:
            return f"Turn {self.turn.number}: proposed, waiting for the others."
        answer, note = self.turn.answer, self.turn.note
        if answer is None:
            return "100 % your own optimum: the others could not be reached, so nothing was mixed in."
        because = f", because {note.reason}" if note.reason else ""
        if self.decision is Decision.CONTRADICTED:
            return f"100 % your own optimum: nothing is mixed in{because}."
        if self.decision is Decision.BORROWED:
            return f"The best design of another site, to see whether it is good here as well{because}."
        parts = [_recipe(answer.weights, sites.index(self.site), sites)]
        if self.is_drawn:
            parts[0] += ", drawn to where the others' best designs lie"
        if answer.leader is not None:
            parts.append("you lead" if answer.leader == self.site else f"leader {answer.leader}")
        if note.stance is Stance.DOUBT:
            parts.append(f"in doubt{because}")
        elif note.reason:
            parts.append(f"not drawn to the others{because}")
        if self.decision is Decision.DECLINED:
            why = f", because {answer.verdict.reason}" if answer.verdict.reason else ""
            parts.append(f"not run{why}: this is your own proposal")
        elif self.decision is Decision.OTHER:
            parts.append(f"another design instead, because {answer.verdict.reason or 'your strategy says so'}")
        elif answer.mix != self.proposed:
            parts.append("accepted by your gate")
        return "; ".join(parts) + "."

    # --------------------------------------------------------------------------------------------------- as plain data

    def to_row(self) -> dict[str, Any]:
        """The trial as plain data, exact: what a journal or a file keeps."""
        return dict(_without_nothing(asdict(self)))

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Trial:
        """The trial from a `to_row`; raises ValueError, TypeError or KeyError if no site can have written it."""
        try:
            return cls._from_row(dict(row))
        except (CbocError, AttributeError, OverflowError) as error:
            raise ValueError(f"a trial is damaged: {error}") from None

    @classmethod
    def _from_row(cls, given: dict[str, Any]) -> Trial:
        turn = given.pop("turn", None)
        return cls(
            **given
            | {
                "status": Status(given["status"]),
                "proposed": _numbers(given["proposed"]),
                "turn": None if turn is None else _turn(turn),
                "decision": Decision(given["decision"]) if "decision" in given else None,
                "executed": _numbers(given["executed"]) if "executed" in given else None,
                "outcomes": {name: Measurement(**each) for name, each in given.get("outcomes", {}).items()},
                "plate": _plate(given["plate"]) if "plate" in given else None,
            }
        )


def _plate(row: Mapping[str, Any]) -> Plate:
    same, places = _texts(row.get("same", ())), _texts(row.get("places", ()))
    held = _numbers(row["held"]) if "held" in row else None
    wells, copies = _whole(row.get("wells", 1)), _whole(row.get("copies", 1))
    if min(wells, copies) < 1 or len(places) not in (0, wells):
        raise ValueError("a plate has wells, and either all of them have a name or none")
    return Plate(wells, copies, same, places, held)


def _turn(row: Mapping[str, Any]) -> Turn:
    note, answer = dict(row.get("note", {})), row.get("answer")
    if "stance" in note:
        note["stance"] = Stance(note["stance"])
    if "memory" in note:
        note["memory"] = _numbers(note["memory"])
    bests, heard = (tuple(map(_numbers, row.get(name, ()))) for name in ("bests", "heard"))
    well, wells, copies = _whole(row.get("well", 0)), _whole(row.get("wells", 1)), _whole(row.get("copies", 1))
    reply = None if answer is None else _answer(answer)
    plate = _plate(row)
    return Turn(row["number"], Note(**note), bests, reply, well, wells, heard, copies, plate.same, plate.places)


def _answer(row: Mapping[str, Any]) -> Answer:
    verdict = {"follows": False, **row["verdict"]}
    for name in ("instead", "memory"):
        if name in verdict:
            verdict[name] = _numbers(verdict[name])
    others = tuple(map(_numbers, row.get("others", ())))
    mix, weights = _numbers(row["mix"]), _numbers(row["weights"])
    return Answer(mix, weights, row.get("snapshot", 0), Verdict(**verdict), row.get("leader"), others)


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of names holds something else")
    return tuple(values)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("a count is a whole number")
    return value


def _numbers(values: Any) -> tuple[float, ...]:
    """A list of finite numbers, as floats."""
    if not all(type(value) in (int, float) and isfinite(value) for value in values):
        raise ValueError("a list of numbers holds something else")
    return tuple(map(float, values))


def _without_nothing(value: Any) -> Any:
    """Plain data without None and without empty texts and lists."""
    if isinstance(value, dict):
        kept = {name: _without_nothing(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part not in (None, "", (), [], {})}
    return value


def _recipe(weights: Point, own: int, sites: tuple[str, ...]) -> str:
    """'70 % group mean, 30 % your own optimum': a row of W in words.

    The smallest weight of any site present is common to all: that part is the group's mean; the rest belongs to single
    sites.
    """
    others = {sites[k]: w for k, w in enumerate(weights) if k != own and w > 1e-9}
    if not others:
        return "100 % your own optimum"
    common = min([*others.values(), weights[own]])
    shares = {name: w - common for name, w in others.items()}
    group = "group mean" if len(others) == len(weights) - 1 else f"mean of {len(others) + 1} sites"
    parts = [(common * (len(others) + 1), group), (weights[own] - common, "your own optimum")]
    parts += [(share, name) for name, share in sorted(shares.items(), key=lambda item: -item[1])]
    return ", ".join(f"{100 * share:.0f} % {what}" for share, what in parts if share >= 0.005)
