"""A question before something is kept: one page with what was asked, "Yes" and "Mend it".

Both buttons send the same form again, with all that was typed: `sure` keeps it, `mend` shows the first form again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import Response

from cboc.advice.asking import abandoning, streak
from cboc.advice.slips import Told, slips
from cboc.errors import CbocError
from cboc.site import worksheet
from cboc.site.site import Site
from cboc.site.trial import Status, Trial
from cboc.site.worksheet import Entry
from cboc.sitepage import past
from cboc.sitepage.form import Fields

SURE, MEND = "sure", "mend"  # the fields that the two buttons add
AGAIN = "again"  # what was told before was shown, and is to be corrected
YES = {"abandon": "Yes, abandon it", "failed": "Yes, it failed"}
NO = {"abandon": "No, back"}

Show = Callable[..., Response]


def asked_about(site: Site, would_be: Trial) -> list[str]:
    """What is to be asked before a trial becomes this."""
    number = would_be.number
    if would_be.y is not None:
        told = [Told(number, would_be.x, each.mean, name) for name, each in would_be.outcomes.items()]
        return list(slips(site, told).values())
    if would_be.status is Status.FAILED:
        return [question for question in (streak(site, {number: Status.FAILED}),) if question]
    return [question for question in (abandoning(site.trial(number)),) if question]


def corrections(site: Site, entries: Sequence[Entry]) -> list[str]:
    """A question for every line of a sheet that says something else than was told before: '5 % in place of 50 %?'."""
    twin = site.twin()
    try:
        after = [worksheet.enter(twin, entry, is_correction=True) for entry in entries]
    except CbocError:
        return []  # the sheet has a mistake, which is said first
    lines = zip(entries, map(site.trial, [entry.trial for entry in entries]), after, strict=True)
    return [
        f"{entry.place}, trial {entry.trial}: {said}?"
        for entry, was, now in lines
        if was.status is Status.COMPLETE and (said := past.correction(was, now, site))
    ]


def ask(
    show: Show, site: Site, action: str, fields: Fields, questions: Sequence[str], number: int | None = None
) -> Response:
    """The page with the questions, about one trial or a sheet; `action` is the address of the form that was sent."""
    kind = action.rpartition("/")[2]
    return show(
        "question.html",
        site=site,
        number=number,
        action=action,
        fields={name: value for name, value in fields.items() if name not in (SURE, MEND)},
        questions=questions,
        yes=YES.get(kind, "Yes, keep it"),
        no=NO.get(kind, "Mend it"),
    )
