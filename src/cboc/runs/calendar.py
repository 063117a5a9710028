"""A study by the calendar: every experiment takes its time, and nobody asks before theirs has ended.

In rounds a site waits for the others before it begins; at the free pace it begins at once. Everything follows from the
trials that are logged, so a run that was interrupted goes on bit for bit.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from cboc.exchange.network import Waiting
from cboc.experiment.durations import Durations
from cboc.site.ending import Finished
from cboc.site.plate import Plate
from cboc.site.site import Site
from cboc.site.trial import Trial

ONE = Plate()


class Calendar:
    """A clock that stands still while anything happens, and moves on to the next end of an experiment."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def run(
        self,
        sites: list[Site],
        run: Callable[[Site, Trial], object],
        durations: Durations,
        plate: Plate = ONE,
    ) -> None:
        """Let sites ask, `run` a trial when it ends, ask again when a plate has ended; until all budgets are spent."""
        waiting = [k for k, site in enumerate(sites) if not site.to_run or site.log.is_torn]
        busy = [k for k in range(len(sites)) if k not in waiting]
        ends = [self._end(k, trial, durations) for k in busy for trial in sites[k].to_run]
        heapq.heapify(ends)
        self.now = max((time for site in sites for trial in site.trials for time in _times(trial)), default=0.0)
        while ends or waiting:
            waiting = self._ask(sites, waiting, ends, durations, plate)
            if not ends:
                return  # whoever still waits has nobody to wait for
            self.now, k, number = heapq.heappop(ends)
            run(sites[k], sites[k].trial(number))
            if not sites[k].to_run:
                waiting.append(k)

    def _ask(
        self, sites: list[Site], idle: list[int], ends: list[tuple[float, int, int]], durations: Durations, plate: Plate
    ) -> list[int]:
        """Let the idle sites ask, as long as that gives somebody something to do; return who has to wait."""
        is_moving = True
        while is_moving and idle:
            is_moving, asked, idle = False, sorted(idle), []
            for k in asked:
                try:
                    for trial in sites[k].ask(plate.wells, same=plate.same):
                        heapq.heappush(ends, self._end(k, trial, durations))
                    is_moving = True  # in rounds, whoever waited may now be answered
                except Waiting:
                    idle.append(k)
                except Finished:
                    is_moving = True
        return idle

    def _end(self, k: int, trial: Trial, durations: Durations) -> tuple[float, int, int]:
        began = self.now if trial.began is None else trial.began
        return began + durations.of(trial.site, trial.number), k, trial.number


def _times(trial: Trial) -> list[float]:
    return [time for time in (trial.began, trial.ended) if time is not None]
