"""A site's logbook: every trial it has asked for, what came of it, and the data that they leave.

    PROPOSED -> PENDING -> COMPLETE, FAILED or ABANDONED

Nothing counts before it is saved: what could not be saved has not happened, and is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.experiment.experiment import Outcome
from cboc.site.trial import Status, Trial
from cboc.space.space import Space

OTHER = "another design was run"  # a trial's note


class Logbook:
    """The trials of one site in order, on top of the data that it had before."""

    def __init__(
        self,
        site: str,
        space: Space,
        data: Dataset,
        trials: Iterable[Trial] = (),
        save: Callable[[Trial], None] | None = None,
    ) -> None:
        self.site, self.space, self.data = site, space, data
        self.trials: list[Trial] = list(trials)
        self.revision = 0  # goes up with every change
        self.amendments = 0  # goes up with every change of a trial that is not the last
        self._save = save
        self._dataset: tuple[int, Dataset] | None = None  # of a revision

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
        told = [trial for trial in self.trials if trial.status == Status.COMPLETE]
        failed = [trial.executed for trial in self.trials if trial.status == Status.FAILED]
        D = self.space.dimension
        return Dataset(
            np.array([trial.executed for trial in told]).reshape(-1, D),
            np.array([trial.y for trial in told]),
            sem=np.array([np.nan if trial.sem is None else trial.sem for trial in told]),
            failures=np.array(failed).reshape(-1, D),
            direction=self.data.direction,
        )

    def trial(self, number: int) -> Trial:
        """One that was asked for, by its number."""
        if not 0 <= number < len(self.trials):
            last = f"its last is {len(self.trials) - 1}" if self.trials else "it has asked for none yet"
            raise CbocError(f"site '{self.site}' has asked for no trial {number}; {last}.")
        return self.trials[number]

    @property
    def open_trial(self) -> Trial | None:
        """The trial that is proposed or to be run, if there is one."""
        return next((t for t in reversed(self.trials) if t.status in (Status.PROPOSED, Status.PENDING)), None)

    def pending(self, before: int) -> Array:  # (n, D)
        """Designs of trials before this one whose outcomes are still to come."""
        designs = [t.x for t in self.trials[:before] if t.status == Status.PENDING]
        return np.array(designs).reshape(-1, self.space.dimension)

    @property
    def rounds(self) -> int:
        """Rounds entered so far."""
        return sum(trial.round is not None and trial.status != Status.STOPPED for trial in self.trials)

    @property
    def next_round(self) -> int:
        return max((t.round + 1 for t in self.trials if t.round is not None), default=0)

    # -------------------------------------------------------------------------------------------- what is put into it

    def keep(self, trial: Trial) -> Trial:
        """A new trial, or a new state of one. Saved first."""
        if self._save is not None:
            self._save(trial)
        if trial.number == len(self.trials):
            self.trials.append(trial)
        else:
            self.amendments += trial.number < len(self.trials) - 1
            self.trials[trial.number] = trial
        self.revision += 1
        return trial

    def tell(
        self, trial: Trial, y: Outcome, *, ran: Mapping[str, Any] | None = None, is_correction: bool = False
    ) -> Trial:
        """See `Site.tell`. The same outcome said twice counts once."""
        mean, sem = self._outcome(y)
        known = self._known(trial)
        executed = known.x if ran is None else self.space.to_unit(ran)
        told = replace(
            known,
            status=Status.COMPLETE,
            executed=tuple(executed.tolist()),
            y=mean,
            sem=sem,
            note="" if ran is None else OTHER,
        )
        if known.status == Status.COMPLETE:
            if (known.y, known.sem) == (mean, sem) and (ran is None or known.executed == told.executed):
                return known
            if not is_correction:
                raise CbocError(
                    f"trial {trial.number} of '{self.site}' was told {known.y:g} already; {mean:g} came now. If that "
                    f"was a mistake, correct it: cboc tell {mean:g} --trial {trial.number} --again, or "
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
        if known.status == Status.COMPLETE:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' has a result already, {known.y:g}; it cannot fail now."
            )
        self._refuse_abandoned(known)
        executed = known.x if ran is None else self.space.to_unit(ran)
        failed = replace(
            known, status=Status.FAILED, executed=tuple(executed.tolist()), note=reason or self._reason(known, ran)
        )
        return known if failed == known else self.keep(failed)

    def _reason(self, known: Trial, ran: Mapping[str, Any] | None) -> str:
        """Why a trial failed, where nothing new is said about it."""
        if known.status == Status.FAILED and known.note:
            return known.note
        return "" if ran is None else OTHER

    def abandon(self, trial: Trial) -> Trial:
        """See `Site.abandon`."""
        known = self._known(trial)
        if known.status == Status.COMPLETE:
            raise CbocError(f"trial {trial.number} of '{self.site}' has a result already; it cannot be abandoned.")
        return self.keep(replace(known, status=Status.ABANDONED))

    def _known(self, trial: Trial) -> Trial:
        if trial.site != self.site or not 0 <= trial.number < len(self.trials):
            raise CbocError(f"trial {trial.number} of '{trial.site}' was not asked for by site '{self.site}'.")
        known = self.trials[trial.number]
        if known.status == Status.PROPOSED:
            raise CbocError(f"trial {trial.number} of '{self.site}' has no agreed design yet; ask() first.")
        return known

    def _refuse_abandoned(self, trial: Trial) -> None:
        if trial.status == Status.ABANDONED:
            raise CbocError(
                f"trial {trial.number} of '{self.site}' was abandoned and takes no result; ask() for another."
            )

    def _outcome(self, y: Outcome) -> tuple[float, float | None]:
        try:
            mean, sem = (float(part) for part in y) if isinstance(y, tuple | list) else (float(y), None)
        except (TypeError, ValueError, OverflowError):
            raise CbocError(
                f"an outcome is a number, or (mean, standard error); site '{self.site}' was told {y!r}."
            ) from None
        if not isfinite(mean) or (sem is not None and not (isfinite(sem) and sem >= 0.0)):
            raise CbocError(
                f"an outcome is a finite number; site '{self.site}' was told {y!r}. "
                "If the experiment failed, use fail(trial)."
            )
        return mean, sem
