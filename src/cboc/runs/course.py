"""What pictures and reports read: the histories of a run's directory, or of one site's own file."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.problems.problem import Problem
from cboc.runs.history import History, Repetition, best_before, in_order
from cboc.runs.run import TOGETHER
from cboc.site.site import Site

UNITS = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
FEW = 3.0  # a unit of time is small enough if the experiments took this many of them


class Course(Protocol):
    """How searches went, together and alone; a `Run` is one, and so is an `OwnCourse`."""

    @property
    def place(self) -> Path:
        """The directory or the file that it is from."""

    @property
    def study(self) -> Study: ...

    @property
    def has_times(self) -> bool: ...

    @property
    def time(self) -> str:
        """The axis of time in words."""

    @property
    def optima(self) -> dict[str, float] | None: ...

    @property
    def problems(self) -> dict[str, Problem]: ...

    @property
    def emptiness(self) -> CbocError: ...

    def histories(self, how: str) -> list[History]: ...

    def repetition(self, seed: int | None = None) -> Repetition:
        """One repetition, the first unless a seed is given."""

    def noiseless(self, history: History) -> History: ...


class OwnCourse:
    """How the search of one site went so far, from its own file. Nobody knows what it would have found alone."""

    def __init__(self, site: Site, place: Path) -> None:
        self.site, self.place, self.study = site, place, site.study

    @property
    def has_times(self) -> bool:
        """Whether its experiments say when they began and ended, as all of 0.2.0 do."""
        return any(trial.ended is not None for trial in self.site.trials)

    @property
    def time(self) -> str:
        """The axis of time in words."""
        return f"{self._scale[0]} since the first experiment"

    @property
    def optima(self) -> dict[str, float] | None:
        """The optimum, which nobody knows."""
        return None

    @property
    def problems(self) -> dict[str, Problem]:
        """Test problems: it has none."""
        return {}

    @property
    def emptiness(self) -> CbocError:
        """The error for a file without trials."""
        return CbocError(f"{self.place} holds no trials yet; cboc ask gives the first experiment.")

    def histories(self, how: str) -> list[History]:
        """Its one history, which is of working together; none if it has no trials."""
        return [self._history] if how == TOGETHER and self.site.trials else []

    def repetition(self, seed: int | None = None) -> Repetition:
        """What has happened; there is no other."""
        if seed is not None:
            raise CbocError(f"{self.place} is one site with one history; a seed is for the directory of a run.")
        return Repetition(self._history, None, lambda _: self.site)

    def noiseless(self, history: History) -> History:
        """Return the history as it is: nobody knows the outcomes without noise."""
        return history

    @cached_property
    def _history(self) -> History:
        site, (_, second) = self.site, self._scale
        start = self._times[0] if self._times else 0.0

        def moved(at: float | None) -> float | None:
            return None if at is None else (at - start) / second

        trials = in_order(replace(t, began=moved(t.began), ended=moved(t.ended)) for t in site.trials)
        earlier = best_before({site.name: site.log.data})
        return History(site.study, {site.name: site.goal}, trials, earlier, {site.name: site.space})

    @property
    def _times(self) -> list[float]:
        return sorted(at for trial in self.site.trials for at in (trial.began, trial.ended) if at is not None)

    @property
    def _scale(self) -> tuple[str, float]:
        """The largest unit of which the experiments took a few, and its seconds."""
        times = self._times or [0.0]
        return next((unit for unit in UNITS if times[-1] - times[0] >= FEW * unit[1]), UNITS[-1])
