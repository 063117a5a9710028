"""A site's logbook: every trial it has asked for, its result, and the data from all trials.

    PROPOSED -> SUBMITTED -> PENDING -> COMPLETE, FAILED or ABANDONED -> PENDING again if it is reopened

Nothing counts before it is saved: what could not be saved has not happened, and is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import replace
from math import fsum, isfinite
from shlex import quote
from typing import Any

import numpy as np

from cboc.arrays import Array, is_number
from cboc.data.dataset import Dataset
from cboc.data.fidelity import Fidelity
from cboc.data.goal import Goal
from cboc.data.objective import Outcome, as_measurements
from cboc.data.results import Results
from cboc.errors import CbocError, at, check_kind
from cboc.site.plate import Plate
from cboc.site.remark import as_reason, as_remark
from cboc.site.trial import OPEN, OVER, TOLD, UNANSWERED, Status, Trial, results_of
from cboc.space.space import Space

OTHER = "another design was run"  # a trial's note
MOST_COST = 1e15  # of an experiment: sums of such numbers are still exact enough


class Logbook:
    """The trials of one site in order, on top of the data that it had before."""

    def __init__(
        self,
        site: str,
        space: Space,
        goal: Goal,
        data: Results,
        trials: Iterable[Trial] = (),
        save: Callable[[Trial], Trial | None] | None = None,
        first_turn: int = 0,
        claim: Callable[[], AbstractContextManager[Iterable[Trial] | None]] | None = None,
        clock: Callable[[], float] | None = None,
        fidelity: Fidelity | None = None,
    ) -> None:
        self.first_turn, self._claim, self._clock = first_turn, claim, clock
        self.site, self.space, self.goal, self.data, self.fidelity = site, space, goal, data, fidelity
        self.trials: list[Trial] = list(trials)
        self._save = save
        self._results: Results | None = None  # all so far; None: something was told
        self._views: dict[tuple[float, ...], Dataset] = {}  # of these, by weights

    def twin(self) -> Logbook:
        """A copy that saves nothing."""
        twin = copy(self)
        twin.trials, twin._save, twin._claim = list(self.trials), None, None
        return twin

    # ---------------------------------------------------------------------------------------------- what is in it

    @property
    def results(self) -> Results:
        """All results so far; private."""
        if self._results is None:
            self._results, self._views = self.data + self._of_trials(), {}
        return self._results

    @property
    def dataset(self) -> Dataset:
        """One number for every result so far, by the site's own weights; private."""
        return self.judged_by(self.goal.weights)

    def judged_by(self, weights: Array) -> Dataset:
        """One number for every result so far, by these weights of the objectives."""
        results, key = self.results, tuple(weights.tolist())
        if key not in self._views:
            self._views[key] = results.dataset(weights)
        return self._views[key]

    def _of_trials(self) -> Results:
        return results_of(self.goal, self.space.dimension, self.trials, self.fidelity)

    def trial(self, number: int) -> Trial:
        """A trial that was asked for, by its number."""
        if not isinstance(number, int | np.integer) or isinstance(number, bool):
            raise CbocError(f"a trial has a number, from 0; this is {number!r}.")
        if not 0 <= number < len(self.trials):
            last = f"its last is {len(self.trials) - 1}" if self.trials else "it has none yet"
            raise CbocError(f"site '{self.site}' has no trial {number}; {last}.")
        return self.trials[number]

    @property
    def open_trials(self) -> list[Trial]:
        """The trials that wait for an answer or a result, the oldest first."""
        return [trial for trial in self.trials if trial.status in OPEN]

    @property
    def unanswered(self) -> list[Trial]:
        """The trials of a turn that was not answered yet, if there is one; in rounds there is one at most."""
        return [trial for trial in self.trials if trial.status in UNANSWERED]

    @property
    def first_undecided(self) -> int:
        """The number of the first trial whose design is not decided yet."""
        return next((trial.number for trial in self.trials if trial.status in UNANSWERED), len(self.trials))

    def under_way(self, before: int) -> Array:  # (n, D)
        """Designs of trials before this one whose outcomes are still to come."""
        designs = [trial.x for trial in self.trials[:before] if trial.status in OPEN]
        return np.array(designs).reshape(-1, self.space.dimension)

    def turn_of(self, number: int) -> int:
        """The turn that a trial belongs to; for one that is still to come, the turn that it will belong to."""
        turn = self.trials[number].turn if number < len(self.trials) else None
        if turn is not None:
            return turn.number
        last = self.trials[-1] if self.trials else None
        turn = None if last is None or last.status is Status.ABANDONED else last.turn
        return turn.number if turn is not None and turn.well + 1 < turn.wells else self.next_turn

    def wells(self, turn: int) -> list[Trial]:
        """All trials of a turn: the wells of one plate."""
        return [trial for trial in self.trials if trial.turn is not None and trial.turn.number == turn]

    def first_of(self, turn: int) -> Trial | None:
        """The first trial of a turn, if the turn has begun."""
        return next(iter(self.wells(turn)), None)

    @property
    def turns(self) -> int:
        """The number of turns taken so far."""
        return sum(trial.turn is not None and trial.status is not Status.STOPPED for trial in self.trials)

    @property
    def next_turn(self) -> int:
        """The number of the next turn."""
        taken = (trial.turn.number + 1 for trial in self.trials if trial.turn is not None)
        return max(self.first_turn, *taken, 0)

    @property
    def begun_plate(self) -> tuple[Plate, int] | None:
        """An initial plate of which not all wells have a design, and how many have; None if there is none."""
        last = self.trials[-1] if self.trials else None
        if last is None or last.turn is not None:
            return None
        first = next((trial for trial in reversed(self.trials) if trial.plate is not None), None)
        if first is None or first.plate is None:
            return None
        done = len(self.trials) - first.number
        return (first.plate, done) if done < first.plate.wells else None

    @property
    def is_torn(self) -> bool:
        """Whether only some wells of a plate have a design to run: something came between, and it is to be finished."""
        turns = {trial.turn.number for trial in self.unanswered if trial.turn is not None}
        decided = (well.status not in UNANSWERED for turn in turns for well in self.wells(turn))
        return self.begun_plate is not None or any(decided)

    # -------------------------------------------------------------------------------------------- what is put into it

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Let no other process of this site ask inside the block, and begin with what others have done meanwhile."""
        if self._claim is None:
            yield
            return
        with self._claim() as trials:
            if trials is not None:
                self.trials, self._results = list(trials), None
            yield

    def keep(self, trial: Trial) -> Trial:
        """Save a new trial, or a new state of one, and then take it in."""
        trial = self._timed(trial)
        if self._save is not None:
            trial = self._save(trial) or trial  # another process may be further with it
        if trial.status in TOLD or (trial.number < len(self.trials) and self.trials[trial.number].status in TOLD):
            self._results = None
        if trial.number == len(self.trials):
            self.trials.append(trial)
        else:
            self.trials[trial.number] = trial
        return trial

    def _timed(self, trial: Trial) -> Trial:
        """The trial with the time at which it began or ended, if that is now."""
        if self._clock is None:
            return trial
        if trial.status is Status.PENDING and trial.began is None:
            return replace(trial, began=self._now())
        if trial.status in TOLD and trial.ended is None:
            return replace(trial, ended=self._now())
        return trial

    def _now(self) -> float:
        now: Any = None if self._clock is None else self._clock()  # a user's clock may say anything
        if not is_number(now) or not isfinite(now):
            raise CbocError(
                f"a clock gives the time as a number, such as time.time(); that of '{self.site}' gave {now!r}."
            )
        return float(now)

    def tell(
        self,
        trial: Trial,
        outcome: Outcome,
        *,
        ran: Mapping[str, Any] | None = None,
        cost: float | None = None,
        is_correction: bool = False,
    ) -> Trial:
        """See `Site.tell`. The same outcome told twice counts once; a cost where none was told is added."""
        with at(f"site '{self.site}'"):
            measured = as_measurements(outcome, self.goal.measured)
            outcomes = {name: replace(each, cost=None) for name, each in measured.items()}
            cost = _one_cost(cost, [each.cost for each in measured.values() if each.cost is not None])
        known = self._known(trial)
        executed = known.x if ran is None else self.space.to_unit(ran)
        told = replace(
            known,
            status=Status.COMPLETE,
            executed=tuple(executed.tolist()),
            outcomes=outcomes,
            note="" if ran is None else OTHER,
            cost=self._cost_at(executed, _checked_cost(cost, known)),
        )
        if known.status is Status.COMPLETE:
            told = replace(told, note=known.note, executed=told.executed if ran else known.executed)
            if told == known:
                return known
            if known.cost is None and told == replace(known, cost=told.cost):
                return self.keep(told)
            if not is_correction:
                raise _contradiction(known, told)
            told = replace(told, note=f"corrected, {_what_it_was(known, told)}")
        self._refuse_abandoned(known)
        return self.keep(told)

    def fail(
        self, trial: Trial, reason: str = "", *, ran: Mapping[str, Any] | None = None, cost: float | None = None
    ) -> Trial:
        """See `Site.fail`."""
        known = self._known(trial)
        reason = as_reason(reason)
        if known.status is Status.COMPLETE:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' already has a result, {_result(known)}; it cannot fail now."
            )
        self._refuse_abandoned(known)
        executed = known.x if ran is None else self.space.to_unit(ran)
        failed = replace(
            known,
            status=Status.FAILED,
            executed=tuple(executed.tolist()),
            note=reason or self._reason(known, ran),
            cost=self._cost_at(executed, _checked_cost(cost, known)),
        )
        return known if failed == known else self.keep(failed)

    def _cost_at(self, x: Array, told: float | None) -> float | None:
        """What an experiment at x cost: what was told, or else what its level costs."""
        return told if told is not None or self.fidelity is None else self.fidelity.cost_of(x)

    def _reason(self, known: Trial, ran: Mapping[str, Any] | None) -> str:
        """Why a trial failed, if no new reason is given."""
        if known.status is Status.FAILED and known.note:
            return known.note
        return "" if ran is None else OTHER

    def abandon(self, trial: Trial, *, cost: float | None = None) -> Trial:
        """See `Site.abandon`."""
        wells = self.wells(self.turn_of(self._same(trial).number))
        if wells and all(well.status is Status.PROPOSED for well in wells):  # nobody has it: the whole turn is given up
            return [self.keep(replace(well, status=Status.ABANDONED)) for well in wells][trial.number - wells[0].number]
        known = self._known(trial)
        if known.status is Status.COMPLETE:
            raise CbocError(f"trial {trial.number} of '{self.site}' already has a result; it cannot be abandoned.")
        abandoned = replace(known, status=Status.ABANDONED, cost=_checked_cost(cost, known))
        return known if abandoned == known else self.keep(abandoned)

    def reopen(self, trial: Trial) -> Trial:
        """See `Site.reopen`."""
        known = self._known(trial)
        if known.status not in OVER:
            raise CbocError(f"trial {known.number} of '{self.site}' has no result yet; there is nothing to take back.")
        if known.decision is None:
            raise CbocError(
                f"trial {known.number} of '{self.site}' was abandoned before it had a design to run; ask() for another."
            )
        nothing: dict[str, Any] = {"executed": None, "outcomes": {}, "ended": None, "cost": None}
        note = f"taken back, it was {_result(known)}"
        return self.keep(replace(known, status=Status.PENDING, note=note, **nothing))

    def annotate(self, trial: Trial, text: str) -> Trial:
        """See `Site.annotate`."""
        known = self._known(trial)
        with at(f"trial {known.number} of '{self.site}'"):
            annotated = replace(known, remark=as_remark(text))
        return known if annotated == known else self.keep(annotated)

    def _same(self, trial: Trial) -> Trial:
        """The trial as it is in this logbook; raises one sentence if it is one of another site or study."""
        check_kind("a trial", trial, Trial, "what ask() gave")
        if trial.site != self.site or not 0 <= trial.number < len(self.trials):
            raise CbocError(f"site '{self.site}' never asked for trial {trial.number} of '{trial.site}'.")
        known = self.trials[trial.number]
        if trial.proposed != known.proposed:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' has another design here; the one given is of another study."
            )
        return known

    def _known(self, trial: Trial) -> Trial:
        known = self._same(trial)
        if known.status in UNANSWERED:
            raise CbocError(f"trial {trial.number} of '{self.site}' has no design to run yet; ask() first.")
        return known

    def _refuse_abandoned(self, trial: Trial) -> None:
        if trial.status is Status.ABANDONED:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' was abandoned and takes no result; ask() for another, or "
                "reopen it first (cboc undo)."
            )


def _contradiction(before: Trial, now: Trial) -> CbocError:
    """The sentence for a trial that was told something else before, and how to correct it."""
    command = " ".join(["cboc tell", *_as_typed(before, now), f"--trial {now.number} --again"])
    was, is_now = "one design", "another"
    if before.outcomes != now.outcomes:
        was, is_now = _measured(before), _measured(now)
    elif before.cost is not None and now.cost is not None and before.cost != now.cost:
        was, is_now = f"a cost of {before.cost:g}", f"one of {now.cost:g}"
    return CbocError(
        f"trial {now.number} of '{now.site}' was told {was} before, and {is_now} now. To correct it, use {command}, or "
        "is_correction=True in Python."
    )


def _as_typed(before: Trial, now: Trial) -> list[str]:
    """The words of a command that tells this result: outcomes and standard errors, with names if there are several."""
    names = {name: "" if len(now.outcomes) == 1 else f"{name}=" for name in now.outcomes}
    typed = [quote(f"{names[name]}{each.mean:.15g}") for name, each in now.outcomes.items()]
    for name, each in now.outcomes.items():
        typed += [] if each.sem is None else ["--sem", quote(f"{names[name]}{each.sem:.15g}")]
    is_other = now.cost is not None and before.cost != now.cost
    return [*typed, f"--cost {now.cost:.15g}"] if is_other else typed


def _measured(trial: Trial) -> str:
    """The outcomes of a trial in words, with names if there are several: '0.83 ± 0.02', 'yield 83, cost 12'."""
    several = len(trial.outcomes) > 1
    return ", ".join(f"{name} {each}" if several else str(each) for name, each in trial.outcomes.items())


def _result(trial: Trial) -> str:
    """What was told of a trial, in words: '0.83 ± 0.02', 'failed (the column clogged)'."""
    if trial.status is Status.COMPLETE:
        return _measured(trial)
    return f"failed ({trial.note})" if trial.status is Status.FAILED and trial.note else str(trial.status)


def _what_it_was(before: Trial, now: Trial) -> str:
    """What a correction replaces, for a trial's note."""
    if before.outcomes != now.outcomes:
        return f"it was {_measured(before)}"
    is_other_cost = before.cost is not None and before.cost != now.cost
    return f"its cost was {before.cost:g}" if is_other_cost else OTHER


def _one_cost(beside: float | None, measured: list[float]) -> float | None:
    """What an experiment cost, as told beside its outcome or in its measurements, which add up."""
    if beside is None or not measured:
        return beside if not measured else fsum(measured)
    raise CbocError(
        f"a cost is told once; it is {beside!r}, and {fsum(measured):g} in the measurement. Leave one of them out."
    )


def _checked_cost(cost: float | None, known: Trial) -> float | None:
    """What an experiment cost, or what was told of it before; raises one sentence if it is not a number from 0."""
    if cost is None:
        return known.cost
    if not is_number(cost) or not 0.0 <= cost <= MOST_COST:
        raise CbocError(
            f"a cost is a number from 0 to {MOST_COST:g}; trial {known.number} of '{known.site}' was given {cost!r}."
        )
    return float(cost)
