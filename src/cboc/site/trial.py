"""One experiment of one site, from proposal to result, and why it is what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.data.fidelity import Fidelity
from cboc.data.goal import Goal
from cboc.data.objective import Measurement
from cboc.data.results import Results
from cboc.errors import CbocError
from cboc.exchange.messages import Point
from cboc.site.origin import Kind, Origin, kind_of, origin_of
from cboc.site.plate import Plate
from cboc.site.remark import is_remark
from cboc.site.turn import Answer, Decision, Turn, numbers, plate_from, turn_from
from cboc.space.space import Space


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
        return np.array(self.executed or self.asked)

    @property
    def asked(self) -> Point:
        """The design that the site was given to run, in the unit cube."""
        answer = self.answer
        is_other = self.decision in (Decision.OTHER, Decision.BORROWED)
        if answer is not None and is_other and answer.verdict.instead is not None:
            return answer.verdict.instead
        return answer.mix if answer is not None and self.decision is Decision.FOLLOWED else self.proposed

    @property
    def kind(self) -> Kind:
        """Where the design comes from, in a word."""
        return kind_of(self.decision, self.turn, self.proposed)

    @property
    def is_shared(self) -> bool:
        """Whether the others decided on the design: theirs, a mix that was followed, or a proposal drawn to them."""
        return self.kind is Kind.SHARED

    def origin(self, sites: tuple[str, ...]) -> Origin:
        """Where the design comes from: its kind, a sentence, and the numbers behind it."""
        if self.status is Status.STOPPED:
            return Origin(Kind.OWN, "Stopped: no design promises more than your threshold.")
        if self.status is Status.ABANDONED and self.decision is None:
            return Origin(Kind.OWN, "Your own proposal: it was abandoned before there was an answer.")
        return origin_of(self.site, self.decision, self.turn, self.proposed, sites)

    def explain(self, sites: tuple[str, ...]) -> str:
        """One sentence: where this design comes from."""
        return self.origin(sites).sentence

    def design(self, space: Space) -> dict[str, Any]:
        """The design in natural units, by name."""
        return space.from_unit(self.x)

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
                "proposed": numbers(given["proposed"]),
                "turn": None if turn is None else turn_from(turn),
                "decision": Decision(given["decision"]) if "decision" in given else None,
                "executed": numbers(given["executed"]) if "executed" in given else None,
                "outcomes": {name: Measurement(**each) for name, each in given.get("outcomes", {}).items()},
                "plate": plate_from(given["plate"]) if "plate" in given else None,
            }
        )


def results_of(goal: Goal, dimension: int, trials: Iterable[Trial], fidelity: Fidelity | None = None) -> Results:
    """The results of the trials that are complete, and the designs of those that failed."""
    trials = list(trials)
    told = [trial for trial in trials if trial.status is Status.COMPLETE]
    failed = [trial.x for trial in trials if trial.status is Status.FAILED]
    designs, outcomes = [trial.x for trial in told], [trial.outcomes for trial in told]
    return Results.of(goal, dimension, designs, outcomes, failed, fidelity)


def _without_nothing(value: Any) -> Any:
    """Plain data without None and without empty texts and lists."""
    if isinstance(value, dict):
        kept = {name: _without_nothing(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part not in (None, "", (), [], {})}
    return value
