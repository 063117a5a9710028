"""What is asked before it is kept: likely slips, failures in a row, and giving a trial up. Each door asks alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cboc.advice.slips import Told, slips
from cboc.site.site import Site
from cboc.site.trial import TOLD, Status, Trial
from cboc.site.worksheet import Entry

STREAK = 3  # failures in a row from which it is asked


def streak(site: Site, given: Mapping[int, Status]) -> str:
    """A question if these trials, told now in this order, make three failures in a row or more; else empty."""
    news = {number: status for number, status in given.items() if site.trial(number).status is not status}
    before = [trial for trial in site.trials if trial.status in TOLD and trial.number not in news]
    before.sort(key=lambda trial: (trial.ended or 0.0, trial.number))
    row: list[int] = []
    longest: list[int] = []
    for number, status in [*((trial.number, trial.status) for trial in before), *news.items()]:
        row = [*row, number] if status is Status.FAILED else []
        longest = row if number in news and len(row) > len(longest) else longest
    if len(longest) < STREAK:
        return ""
    which = ", ".join(map(str, longest[:-1]))
    return (
        f"Trials {which} and {longest[-1]} failed, {len(longest)} in a row? Something that all of them have in common "
        "may be broken; their designs count as bad ones."
    )


def abandoning(trial: Trial) -> str:
    """The question before a trial is abandoned; empty if it is already."""
    if trial.status is Status.ABANDONED:
        return ""
    budget = "" if trial.turn is None else ", and it counts against the budget all the same"
    return f"Abandon trial {trial.number}? It is not run, nothing is learned from it{budget}."


def of_sheet(site: Site, entries: Sequence[Entry]) -> list[str]:
    """What is to be asked about the lines of a sheet, each doubtful one with its place."""
    told = [
        Told(each.trial, np.array(each.x), measured.mean, name if len(each.outcomes) > 1 else None)
        for each in entries
        for name, measured in each.outcomes.items()
    ]
    asked = slips(site, told)
    said = [f"{each.place}, trial {each.trial}: {asked[each.trial]}" for each in entries if each.trial in asked]
    over = {each.trial: each.status for each in entries if each.status in TOLD}
    return [*said, *filter(None, [streak(site, over)])]
