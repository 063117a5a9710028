"""What a trial was before: every change of it in words, with its time and who made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cboc.site.outcomes import measured_in_words
from cboc.site.site import Site
from cboc.site.trial import OVER, Status, Trial
from cboc.storage.sitefile import Change

BEFORE_IT_IS_TOLD = {
    Status.PROPOSED: "your next proposal was found",
    Status.SUBMITTED: "your proposal was given to the others",
    Status.PENDING: "ready to run",
    Status.STOPPED: "not run: no design promises more than your threshold",
}


@dataclass(frozen=True)
class Step:
    """One change of a trial."""

    at: float  # seconds since 1970
    by: str
    said: str


def state(trial: Trial) -> str:
    """A mark of what a trial is now: a form that shows an older one is out of date."""
    return sha256(repr(trial).encode()).hexdigest()[:12]


def steps(changes: Sequence[Change], site: Site) -> list[Step]:
    """All changes of one trial, the latest first."""
    before = [None, *(change.trial for change in changes)]
    said = [_said(was, change.trial, site) for was, change in zip(before, changes, strict=False)]
    return [Step(change.at, change.by, words) for change, words in zip(changes, said, strict=True)][::-1]


def _said(was: Trial | None, now: Trial, site: Site) -> str:
    if was is None or was.status is not now.status:
        parts = [_become(was, now, site), *_other_design(now, site), *_remark(was, now)]
    else:
        corrected = correction(was, now, site)
        parts = [*([f"corrected: {corrected}"] if corrected else []), *_remark(was, now)]
    return "; ".join(parts) or "kept again"


def correction(was: Trial, now: Trial, site: Site) -> str:
    """What a correction has changed: '0.89 % in place of 89 %'; empty if nothing."""
    return "; ".join([*_outcome(was, now, site), *_cost(was, now), *_design(was, now, site), *_reason(was, now)])


def _become(was: Trial | None, now: Trial, site: Site) -> str:
    """What a trial has become."""
    cost = "" if now.cost is None else f", cost {now.cost:g}"
    match now.status:
        case Status.COMPLETE:
            return f"told {_measured(now, site)}{cost}"
        case Status.FAILED:
            return f"failed{f': {now.note}' if now.note else ''}{cost}"
        case Status.ABANDONED:
            return f"abandoned{cost}"
        case Status.PENDING if was is not None and was.status in OVER:
            return "taken back: it waits for a result again"
        case _:
            return BEFORE_IT_IS_TOLD[now.status]


def _outcome(was: Trial, now: Trial, site: Site) -> Iterator[str]:
    if was.outcomes != now.outcomes:
        yield f"{_measured(now, site)} in place of {_measured(was, site)}"


def _measured(trial: Trial, site: Site) -> str:
    return measured_in_words(site, trial.outcomes)


def _cost(was: Trial, now: Trial) -> Iterator[str]:
    if was.cost != now.cost and now.cost is not None:
        yield f"cost {now.cost:g}{'' if was.cost is None else f' in place of {was.cost:g}'}"


def _other_design(now: Trial, site: Site) -> Iterator[str]:
    """Another design that was run, as far as it differs from the one to run."""
    asked = site.space.from_unit(now.x if now.executed is None else now.asked)
    if ran := _differing(asked, now.design(site.space), site):
        yield f"another design was run: {ran}"


def _design(was: Trial, now: Trial, site: Site) -> Iterator[str]:
    if ran := _differing(was.design(site.space), now.design(site.space), site):
        yield f"run at {ran}"


def _differing(was: dict[str, Any], now: dict[str, Any], site: Site) -> str:
    """The values that differ: 'temperature 61.5 °C in place of 60'."""
    parts = []
    for name, parameter in site.space.parameters.items():
        old, new = parameter.shown(was[name]), parameter.shown(now[name])
        if old != new:
            parts.append(f"{name} {f'{new} {parameter.unit}'.rstrip()} in place of {old}")
    return ", ".join(parts)


def _reason(was: Trial, now: Trial) -> Iterator[str]:
    if now.status is Status.FAILED and was.note != now.note:
        yield f"why it failed: {now.note}"


def _remark(was: Trial | None, now: Trial) -> Iterator[str]:
    before = "" if was is None else was.remark
    if now.remark != before:
        yield f"remark: “{now.remark}”" if now.remark else "the remark was taken away"
