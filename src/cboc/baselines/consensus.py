"""The methods that run our own sites: alone, by consensus as published, and behind a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cboc.arrays import Array
from cboc.baselines.case import Case
from cboc.consensus.gate import Gate, GateLike
from cboc.network.ledger import Ledger, Network
from cboc.site import Site, think
from cboc.strategy import Strategy
from cboc.study import Study
from cboc.surrogate.gp import GP
from cboc.trial import Trial
from cboc.utility.guided import Guide, GuideLike
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Consensus:
    """CBOC: every site proposes, the rule mixes, the gate decides. `identity` is Individual, a gate of 0 is the paper.

    `utility` replaces the one of the case's strategy.
    """

    rule: str = "uniform"
    gate: GateLike = Gate(0.0)  # noqa: RUF009 - frozen
    utility: Callable[[GP, np.random.Generator], Utility] | None = None
    guide: Guide | None = None  # with it, best designs are shared

    def __call__(self, case: Case) -> Array:
        study = study_of(case, self.rule, shares_best=self.guide is not None)
        strategy = case.strategy if self.utility is None else replace(case.strategy, utility=self.utility)
        return executed(rounds(case, study, Ledger(study), strategy, self.gate, self.guide or Guide()))


def study_of(case: Case, rule: str, *, shares_best: bool = False) -> Study:
    return Study(case.space, case.names, case.horizon, rule=rule, shares_best=shares_best)


def rounds(
    case: Case,
    study: Study,
    network: Network,
    strategy: Strategy,
    gate: GateLike,
    guide: GuideLike = Guide(),  # noqa: B008 - frozen
) -> list[list[Trial]]:
    """All rounds of a case on any network: the trials of every site, (K, T)."""
    sites = [
        Site(
            study,
            name,
            network,
            direction=data.direction,
            data=data,
            initial=0,
            strategy=strategy,
            gate=gate,
            guide=guide,
            seed=case.seed,
        )
        for name, data in zip(case.names, case.initial, strict=True)
    ]
    for _ in range(case.horizon):
        think(sites)
        for site in sites:
            site.propose()
        for k, site in enumerate(sites):
            trial = site.ask()
            site.tell(trial, case.experiment(k, trial.x))
    return [site.trials for site in sites]


def executed(trials: list[list[Trial]]) -> Array:
    return np.array([[trial.executed for trial in of_site] for of_site in trials])


def proposed(trials: list[list[Trial]]) -> Array:
    return np.array([[trial.proposed for trial in of_site] for of_site in trials])
