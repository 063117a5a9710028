"""The first runs of an experiment: if all of them fail, it is set up wrongly, and a night of runs would be lost."""

from __future__ import annotations

from cboc.errors import CbocError
from cboc.site.trial import Status, Trial

MOST_FAILURES = 3  # set up wrongly it fails always; one that fails half of the time is stopped by mistake once in eight


class AllFailed(CbocError):
    """The first runs have all failed."""


class FirstRuns:
    """Looks at the experiments of one site as they are told; raises `AllFailed` when the first `most` have failed."""

    def __init__(self, most: int = MOST_FAILURES) -> None:
        self._most, self._failed, self._is_over = most, 0, False

    def look_at(self, told: Trial) -> None:
        """Count a failure; the first success ends this."""
        self._is_over = self._is_over or told.status is not Status.FAILED
        if self._is_over:
            return
        self._failed += 1
        if self._failed >= self._most:
            runs = "run" if self._most == 1 else f"{self._most} runs"
            have = "has" if self._most == 1 else "have all"
            reason = told.note.rstrip(".") or "it gave no reason"
            raise AllFailed(f"the first {runs} of '{told.site}' {have} failed, the last one so: {reason}.")
