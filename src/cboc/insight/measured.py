"""The experiments of a site as they are drawn: where, with which outcome, of which kind, and how strongly.

The site's page and `cboc plot` read this, so that an experiment is the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cboc.arrays import Array
from cboc.exchange.messages import Point
from cboc.site import origin
from cboc.site.site import Site
from cboc.site.trial import TOLD, Trial

FAINTEST = 0.15  # the opacity of an experiment that tells nothing


class Kind(StrEnum):
    """Where the design of an experiment came from, or that it failed: each has a shape of its own."""

    INITIAL = "initial"
    OWN = "own"
    SHARED = "shared"
    EARLIER = "before the study"
    FAILED = "failed"


@dataclass(frozen=True)
class Measured:
    """One experiment that was run: a trial of the study, or a result from before it."""

    x: Point
    design: Mapping[str, Any]  # in natural units
    y: float | None  # None: it failed
    number: int | None = None  # of the trial; None: before the study
    origin: origin.Kind | None = None  # None: before the study

    @property
    def kind(self) -> Kind:
        """Which shape it has."""
        if self.y is None:
            return Kind.FAILED
        return Kind.EARLIER if self.origin is None else Kind(self.origin)

    @property
    def name(self) -> str:
        """What it is called in a picture."""
        return str(Kind.EARLIER) if self.number is None else f"trial {self.number}"


def measured(site: Site, outcome: str | None = None) -> list[Measured]:
    """All experiments that were run: first the outcomes in the order of the site's results, then the failures.

    The outcome is the first one without a name.
    """
    name, before = outcome or site.goal.measured[0], site.log.data
    told = [trial for trial in site.trials if trial.status in TOLD]
    worked = [_earlier(site, x, y) for x, y in zip(before.X, before.outcome(name).tolist(), strict=True)]
    failed = [_earlier(site, x, None) for x in before.failures]
    for trial in told:
        (failed if trial.y is None else worked).append(_of(trial, site, name))
    return [*worked, *failed]


def _earlier(site: Site, x: Array, y: float | None) -> Measured:
    return Measured(tuple(x.tolist()), site.space.from_unit(x), y)


def _of(trial: Trial, site: Site, name: str) -> Measured:
    x, y = tuple(trial.x.tolist()), trial.outcomes.get(name)
    return Measured(x, trial.design(site.space), None if y is None else y.mean, trial.number, trial.kind)


def opacity(nearness: float) -> float:
    """How strongly an experiment is drawn: the fainter, the less it tells about the designs of the picture."""
    return round(FAINTEST + (1.0 - FAINTEST) * nearness, 2)
