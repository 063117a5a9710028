"""Where a site and its study stand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from cboc.cli.site_option import hint
from cboc.errors import CbocError
from cboc.site.site import Site
from cboc.site.trial import TOLD, Trial


def local_time(at: float) -> str:
    """A time as people of this place write it."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def numbers(trials: list[Trial]) -> str:
    """The numbers of these trials, in a line."""
    return ", ".join(str(trial.number) for trial in trials)


def standing_of(site: Site, file: Path) -> Iterator[tuple[str, Any]]:
    """What is known about the site, and what it is waiting for, line by line."""
    study, pending = site.study, site.to_run
    yield "study", study.name
    yield "site", f"{site.name}, of {', '.join(study.sites)}"
    yield "turns", f"{site.turns} of {study.budget(site.name)}"
    yield "experiments", sum(trial.status in TOLD for trial in site.trials)
    if site.cost:
        most = site.policy.most_cost
        yield "cost", f"{site.cost:g}" if most is None else f"{site.cost:g} of {most:g}"
    yield "best", site.best.y if len(site.dataset) else None
    if site.is_finished:
        yield "to be run", "nothing: the study is over for this site"
        return
    nothing = f"nothing yet; {hint('ask', file)}"
    yield "to be run", f"{'trial' if len(pending) == 1 else 'trials'} {numbers(pending)}" if pending else nothing
    try:
        standing = site.network.standing()
    except CbocError as error:
        yield "coordinator", str(error)
        return
    if not study.pace.waits:
        yield "proposals of all sites", standing.round
        return
    yield "open round", standing.round
    yield "it waits for", ", ".join(standing.missing) or "nobody"
    yield "it closes", "when all are in" if standing.closes_at is None else local_time(standing.closes_at)
