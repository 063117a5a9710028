"""What others were given of a trial, and so keep whatever is mended here."""

from __future__ import annotations

from cboc.site.site import Site
from cboc.site.trial import Status, Trial

SHARED = "The design of trial {} was given to the others as a best one of this site, and that stays with them."
LEFT = "What has left this site since it was told stays with the others."


def stays(site: Site, trial: Trial) -> str:
    """One sentence on what the others keep if what was told of a trial changes; empty if nothing has left since."""
    ran = None if trial.executed is None else trial.executed[: site.study.space.dimension]
    turns = [later.turn for later in site.trials if later.turn is not None and later.status is not Status.PROPOSED]
    if any(ran in turn.bests for turn in turns):
        return SHARED.format(trial.number)
    is_later = any(later.turn is not None for later in site.trials[trial.number :])
    return LEFT if trial.executed is not None and is_later else ""
