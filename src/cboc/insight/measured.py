"""The experiments of a site as they are drawn: where, with which outcome, and of which kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cboc.arrays import Array
from cboc.exchange.messages import Point
from cboc.site.site import Site
from cboc.site.trial import TOLD, Trial


@dataclass(frozen=True)
class Measured:
    """One experiment that was run: a trial of the study, or a result from before it."""

    x: Point
    design: Mapping[str, Any]  # in natural units
    y: float | None  # None: it failed
    number: int | None = None  # of the trial; None: before the study
    is_initial: bool = False

    @property
    def name(self) -> str:
        """What it is called in a picture."""
        return "before the study" if self.number is None else f"trial {self.number}"


def measured(site: Site) -> list[Measured]:
    """All experiments that were run: first the outcomes in the order of the site's dataset, then the failures."""
    told = [trial for trial in site.trials if trial.status in TOLD]
    worked = [_earlier(site, x, y) for x, y in zip(site.data.X, site.data.y.tolist(), strict=True)]
    failed = [_earlier(site, x, None) for x in site.data.failures]
    for trial in told:
        (failed if trial.y is None else worked).append(_of(trial, site))
    return [*worked, *failed]


def _earlier(site: Site, x: Array, y: float | None) -> Measured:
    return Measured(tuple(x.tolist()), site.space.from_unit(x), y)


def _of(trial: Trial, site: Site) -> Measured:
    x = tuple(trial.x.tolist())
    return Measured(x, trial.design(site.space), trial.y, trial.number, trial.turn is None)
