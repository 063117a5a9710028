"""What an experiment is: a function of a design in natural units that returns an outcome, with its cost if it likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cboc.data.objective import Outcome

Experiment = Callable[[dict[str, Any]], Outcome]


class ExperimentFailed(Exception):
    """Raised by an experiment that gave no result; the trial is recorded as failed and the study goes on.

    `cost` is what it cost all the same, if that is known.
    """

    def __init__(self, *reason: object, cost: float | None = None) -> None:
        super().__init__(*reason)
        self.cost = cost
