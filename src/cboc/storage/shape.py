"""What every trial of a study looks like. A row that looks otherwise was not written by us: it is damage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cboc.data.goal import Limit
from cboc.names import as_agreed
from cboc.site.trial import Trial
from cboc.space.space import Space


@dataclass(frozen=True)
class Shape:
    """The sites of a study, what each of them measures, and the number of coordinates of a design.

    A site may have outcomes that only its limits speak of, and parameters of its own.
    """

    sites: tuple[str, ...]
    measured: Mapping[str, frozenset[str]]  # by site: the objectives, and what else the site has limits for
    dimension: int  # of what the sites share
    whole: Mapping[str, int]  # by site: of its designs
    rows: frozenset[int]  # how many weights a row of W may have: as many as there were sites then

    @classmethod
    def of(
        cls,
        agreement: Mapping[str, Any],
        earlier: Iterable[Mapping[str, Any]] = (),
        limits: Mapping[str, Iterable[str]] | None = None,
        own: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Shape:
        """The shape that an agreement gives; it may have a rule that only its own process can rebuild."""
        with as_agreed():
            space = Space.from_dict({**agreement["space"], "candidates": ()})  # which say nothing of coordinates
            more = {site: Space.from_dict(given).dimension for site, given in (own or {}).items()}
        rows = frozenset(len(each["sites"]) for each in (*earlier, agreement))
        limited = {site: [Limit.of(each).outcome for each in given] for site, given in (limits or {}).items()}
        objectives, sites = agreement.get("objectives", ("y",)), tuple(agreement["sites"])
        measured = {site: frozenset([*objectives, *limited.get(site, ())]) for site in sites}
        whole = {site: space.dimension + more.get(site, 0) for site in sites}
        return cls(sites, measured, space.dimension, whole, rows)

    def check(self, trial: Trial) -> None:
        """Raise a ValueError if a trial is not one of this study."""
        turn, answer = trial.turn, trial.answer
        if trial.site not in self.sites or (answer is not None and answer.leader not in (None, *self.sites)):
            raise ValueError("a trial belongs to a site of the study, and a leader is one")
        shared = [*(() if turn is None else (*turn.bests, *turn.heard)), *(() if answer is None else answer.others)]
        if len(trial.proposed) != self.whole[trial.site] or any(len(point) != self.dimension for point in shared):
            raise ValueError("a design has a coordinate for each of the space")
        if answer is not None and len(answer.weights) not in self.rows:
            raise ValueError("a row of W has a weight for each site")
        if trial.outcomes and set(trial.outcomes) != self.measured[trial.site]:
            raise ValueError("an outcome belongs to an objective of the study, or to a limit of the site")
