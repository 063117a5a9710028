"""Summaries over many seeds of one method on one scenario, beside working alone on the same seeds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cboc.arrays import Array, Mask
from cboc.evidence.job import Row
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.methods.tuning import VARIANTS
from cboc.evidence.scenario import Scenario
from cboc.runs.metrics import Paired, harm_rate, lead, paired, standard_error
from cboc.strategy.bayesian import SURROGATES

ALONE, ALONE_TS = "individual", "individual-ts"


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if np.isnan(self.error) else f"{self.mean:.3f} ± {self.error:.3f}"


def estimate(values: Array) -> Estimate:
    """The estimate from one value per seed."""
    return Estimate(float(values.mean()), float(standard_error(values)))


@dataclass(frozen=True)
class Cell:
    """One method on one scenario, with the rows of working alone on the same seeds where there are any."""

    rows: tuple[Row, ...]  # by seed
    alone: tuple[Row, ...] = ()

    @cached_property
    def finals(self) -> Array:  # (seeds, K)
        return np.array([row.final for row in self.rows])

    @cached_property
    def areas(self) -> Array:  # (seeds, K)
        return np.array([row.area for row in self.rows])

    @cached_property
    def regrets(self) -> Array:  # (seeds, K)
        return np.array([row.regret for row in self.rows])

    @cached_property
    def curves(self) -> Array:  # (seeds, T + 1), means over sites
        return np.array([row.curve for row in self.rows])

    @property
    def final(self) -> Estimate:
        return estimate(self.finals.mean(axis=1))

    @property
    def area(self) -> Estimate:
        return estimate(self.areas.mean(axis=1))

    @property
    def worst(self) -> Estimate:
        """The final Gap of the worst site, seed by seed."""
        return estimate(self.finals.min(axis=1))

    @property
    def regret(self) -> Estimate:
        """The cumulative regret, in units of the problem's depth."""
        return estimate(self.regrets.mean(axis=1))

    @property
    def flat(self) -> int:
        """The number of sites, over all seeds, with nothing to find."""
        return sum(row.flat for row in self.rows)

    @cached_property
    def _other(self) -> Cell:
        return Cell(self.alone)

    @property
    def gain(self) -> Paired:
        """The final Gap minus that of working alone."""
        return paired(self.finals.mean(axis=1), self._other.finals.mean(axis=1))

    @property
    def area_gain(self) -> Paired:
        return paired(self.areas.mean(axis=1), self._other.areas.mean(axis=1))

    def gains_of(self, sites: Mask) -> tuple[Paired, Paired]:
        """Area and final Gap of some of the sites (K,), minus the values of the same sites alone."""
        area, final = (
            paired(ours[:, sites].mean(axis=1), theirs[:, sites].mean(axis=1))
            for ours, theirs in ((self.areas, self._other.areas), (self.finals, self._other.finals))
        )
        return area, final

    @property
    def worst_gain(self) -> Paired:
        return paired(self.finals.min(axis=1), self._other.finals.min(axis=1))

    @property
    def regret_gain(self) -> Paired:
        """Mean regret minus that of working alone: below zero is better."""
        return paired(self.regrets.mean(axis=1), self._other.regrets.mean(axis=1))

    @property
    def harm(self) -> float:
        """The share of sites that end worse than alone by more than 0.01, of those with something to find."""
        return harm_rate(self.finals, self._other.finals) * self._all_over_findable

    @property
    def benefit(self) -> float:
        """The share of sites that end better than alone by more than 0.01, of those with something to find."""
        return harm_rate(self._other.finals, self.finals) * self._all_over_findable

    @property
    def _all_over_findable(self) -> float:
        """All sites over sites with something to find: flat sites, equal for all methods, count in neither share."""
        return self.finals.size / max(1, self.finals.size - self.flat)

    @property
    def rounds(self) -> tuple[float, float]:
        """The rounds in which the mean curve, and that of working alone, get to where working alone ends."""
        ours, theirs = lead(self.curves.mean(axis=0), self._other.curves.mean(axis=0))
        return float(ours), float(theirs)


class Summary:
    """The cells of a collection of rows."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[Scenario, str, str], dict[int, Row]] = {}
        for row in rows:
            key = (row.job.scenario, row.job.surrogate, row.job.method)
            self._rows.setdefault(key, {})[row.job.seed] = row

    def cell(self, scenario: Scenario, surrogate: str, method: str, against: str = ALONE) -> Cell | None:
        """The cell, with the rows of working alone for the seeds that both have; None if there are no rows yet."""
        found = self._rows.get((scenario, surrogate, method))
        if not found:
            return None
        alone = self._rows.get((scenario, surrogate, against), {})
        seeds = sorted(seed for seed in found if seed in alone) or sorted(found)
        return Cell(tuple(found[seed] for seed in seeds), tuple(alone[seed] for seed in seeds if seed in alone))

    def only(self, scenarios: Iterable[Scenario]) -> Summary:
        """The summary of these scenarios alone."""
        wanted = set(scenarios)
        return Summary(row for key, seeds in self._rows.items() if key[0] in wanted for row in seeds.values())

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios that have rows, in order."""
        return sorted({scenario for scenario, _, _ in self._rows})

    @property
    def surrogates(self) -> list[str]:
        there = {surrogate for _, surrogate, _ in self._rows}
        return [name for name in SURROGATES if name in there]

    @property
    def methods(self) -> list[str]:
        there = {method for _, _, method in self._rows}
        return [name for name in (*METHODS, *VARIANTS) if name in there]
