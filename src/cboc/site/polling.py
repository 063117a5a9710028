"""Waiting for a round to close: one short message now and then, the more rarely the longer it takes.

Every message that leaves a site is kept in its file, and others wait for days.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cboc.site.site import Site
from cboc.site.trial import Status

if TYPE_CHECKING:
    from cboc.exchange.rest import Rest

SHORTEST_PAUSE = 2.0  # seconds
PATIENT_FOR = 20.0  # a pause is this part of the time that was waited


def pause(waited: float, longest: float, shortest: float = SHORTEST_PAUSE) -> float:
    """Until the next message, of who has waited so long; all in seconds."""
    return min(max(waited / PATIENT_FOR, shortest), longest)


def open_round(site: Site) -> dict[str, Any] | None:
    """Where the study stands, if the site is in and the round is open still: there is nothing else to ask for then."""
    trial = site.open_trial
    if trial is None or trial.status == Status.PENDING:
        return None
    standing = cast("Rest", site.network).standing()
    return standing if standing["round"] == trial.round and site.name not in standing["missing"] else None
