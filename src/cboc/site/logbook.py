"""A site's logbook: every trial it has asked for, its result, and the data from all trials.

    PROPOSED -> SUBMITTED -> PENDING -> COMPLETE, FAILED or ABANDONED

Nothing counts before it is saved: what could not be saved has not happened, and is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.data.objective import Outcome, as_measurements
from cboc.errors import CbocError, at
from cboc.site.trial import OPEN, Status, Trial
from cboc.space.space import Space

OTHER = "another design was run"  # a trial's note


class Logbook:
    """The trials of one site in order, on top of the data that it had before."""

    def __init__(
        self,
        site: str,
        space: Space,
        objectives: tuple[str, ...],
        data: Dataset,
        trials: Iterable[Trial] = (),
        save: Callable[[Trial], Trial | None] | None = None,
        first_turn: int = 0,
    ) -> None:
        self._first_turn = first_turn
        self.site, self.space, self.objectives, self.data = site, space, objectives, data
        self.trials: list[Trial] = list(trials)
        self.revision = 0  # goes up with every change
        self.amendments = 0  # goes up with every change of a trial that is not the last
        self._save = save
        self._dataset: tuple[int, Dataset] | None = None  # with its revision

    def twin(self) -> Logbook:
        """A copy that saves nothing."""
        twin = copy(self)
        twin.trials, twin._save = list(self.trials), None
        return twin

    # ---------------------------------------------------------------------------------------------- what is in it

    @property
    def dataset(self) -> Dataset:
        """All outcomes so far; private."""
        if self._dataset is None or self._dataset[0] != self.revision:
            self._dataset = (self.revision, self.data + self._told())
        return self._dataset[1]

    def _told(self) -> Dataset:
        told = [trial for trial in self.trials if trial.status is Status.COMPLETE]
        failed = [trial.executed for trial in self.trials if trial.status is Status.FAILED]
        measured = [trial.outcomes[self.objectives[0]] for trial in told]
        D = self.space.dimension
        return Dataset(
            np.array([trial.executed for trial in told]).reshape(-1, D),
            np.array([outcome.mean for outcome in measured]),
            sem=np.array([np.nan if outcome.sem is None else outcome.sem for outcome in measured]),
            failures=np.array(failed).reshape(-1, D),
            direction=self.data.direction,
        )

    def trial(self, number: int) -> Trial:
        """A trial that was asked for, by its number."""
        if not 0 <= number < len(self.trials):
            last = f"its last is {len(self.trials) - 1}" if self.trials else "it has none yet"
            raise CbocError(f"site '{self.site}' has no trial {number}; {last}.")
        return self.trials[number]

    @property
    def open_trial(self) -> Trial | None:
        """The trial that waits for an answer or a result, if there is one."""
        return next((trial for trial in reversed(self.trials) if trial.status in OPEN), None)

    def pending(self, before: int) -> Array:  # (n, D)
        """Designs of trials before this one whose outcomes are still to come."""
        designs = [t.x for t in self.trials[:before] if t.status is Status.PENDING]
        return np.array(designs).reshape(-1, self.space.dimension)

    @property
    def turns(self) -> int:
        """The number of turns taken so far."""
        return sum(trial.turn is not None and trial.status is not Status.STOPPED for trial in self.trials)

    @property
    def next_turn(self) -> int:
        """The number of the next turn."""
        return max((trial.turn.number + 1 for trial in self.trials if trial.turn is not None), default=self._first_turn)

    # -------------------------------------------------------------------------------------------- what is put into it

    def keep(self, trial: Trial) -> Trial:
        """Save a new trial, or a new state of one, and then take it in."""
        if self._save is not None:
            trial = self._save(trial) or trial  # another process may be further with it
        if trial.number == len(self.trials):
            self.trials.append(trial)
        else:
            self.amendments += trial.number < len(self.trials) - 1
            self.trials[trial.number] = trial
        self.revision += 1
        return trial

    def tell(
        self, trial: Trial, outcome: Outcome, *, ran: Mapping[str, Any] | None = None, is_correction: bool = False
    ) -> Trial:
        """See `Site.tell`. The same outcome told twice counts once."""
        with at(f"site '{self.site}'"):
            outcomes = as_measurements(outcome, self.objectives)
        known = self._known(trial)
        executed = known.x if ran is None else self.space.to_unit(ran)
        told = replace(
            known,
            status=Status.COMPLETE,
            executed=tuple(executed.tolist()),
            outcomes=outcomes,
            note="" if ran is None else OTHER,
        )
        if known.status is Status.COMPLETE:
            if known.outcomes == outcomes and (ran is None or known.executed == told.executed):
                return known
            if not is_correction:
                raise CbocError(
                    f"trial {trial.number} of '{self.site}' was told {known.y:g} before, and {told.y:g} now. To "
                    f"correct it, use cboc tell {told.y:g} --trial {trial.number} --again, or "
                    "is_correction=True in Python."
                )
            told = replace(
                told, note=f"corrected, it was {known.y:g}", executed=told.executed if ran else known.executed
            )
        self._refuse_abandoned(known)
        return self.keep(told)

    def fail(self, trial: Trial, reason: str = "", *, ran: Mapping[str, Any] | None = None) -> Trial:
        """See `Site.fail`."""
        known = self._known(trial)
        if known.status is Status.COMPLETE:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' already has a result, {known.y:g}; it cannot fail now."
            )
        self._refuse_abandoned(known)
        executed = known.x if ran is None else self.space.to_unit(ran)
        failed = replace(
            known, status=Status.FAILED, executed=tuple(executed.tolist()), note=reason or self._reason(known, ran)
        )
        return known if failed == known else self.keep(failed)

    def _reason(self, known: Trial, ran: Mapping[str, Any] | None) -> str:
        """Why a trial failed, if no new reason is given."""
        if known.status is Status.FAILED and known.note:
            return known.note
        return "" if ran is None else OTHER

    def abandon(self, trial: Trial) -> Trial:
        """See `Site.abandon`."""
        known = self._known(trial)
        if known.status is Status.COMPLETE:
            raise CbocError(f"trial {trial.number} of '{self.site}' already has a result; it cannot be abandoned.")
        return self.keep(replace(known, status=Status.ABANDONED))

    def _known(self, trial: Trial) -> Trial:
        if trial.site != self.site or not 0 <= trial.number < len(self.trials):
            raise CbocError(f"site '{self.site}' never asked for trial {trial.number} of '{trial.site}'.")
        known = self.trials[trial.number]
        if known.status in (Status.PROPOSED, Status.SUBMITTED):
            raise CbocError(f"trial {trial.number} of '{self.site}' has no design to run yet; ask() first.")
        return known

    def _refuse_abandoned(self, trial: Trial) -> None:
        if trial.status is Status.ABANDONED:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' was abandoned and takes no result; ask() for another."
            )
