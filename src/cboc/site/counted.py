"""Which experiment of how many a trial is, in words: 'initial 4 of 10', 'experiment 7 of 20'."""

from __future__ import annotations

from cboc.site.site import Site
from cboc.site.trial import Status, Trial


def counted(site: Site, trial: Trial) -> str:
    """The place of a trial: among the initial ones that a site begins with, or in its budget."""
    until = [each for each in site.trials[: trial.number + 1] if each.status is not Status.STOPPED]
    initial = sum(each.turn is None for each in until)
    if trial.turn is None and initial <= site.initial:
        return f"initial {initial} of {site.initial}"
    number = site.spent + len(until) - min(initial, site.initial)
    return f"experiment {number} of {site.study.budget(site.name)}"
