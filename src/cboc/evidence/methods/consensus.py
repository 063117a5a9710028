"""The methods that run our own sites: alone, by consensus as published, and behind a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import isnan

import numpy as np

from cboc.arrays import Array, Mask
from cboc.errors import CbocError
from cboc.evidence.case import Case
from cboc.exchange.ledger import Ledger
from cboc.exchange.network import Network
from cboc.exchange.study import Study
from cboc.experiment.durations import Durations, LogNormal
from cboc.runs.calendar import Calendar
from cboc.site.batch import think
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.strategy.gate import Gate, Gated, GateLike
from cboc.strategy.guide.decision import Guide
from cboc.strategy.guide.guided import Guided
from cboc.strategy.opinion import Strategy
from cboc.surrogate.gp import GP
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Consensus:
    """CBOC: every site proposes, the rule mixes, the gate decides. `identity` is Individual, a gate of 0 is the paper.

    `utility` replaces the utility of the case's strategy.
    """

    knows_trouble = True  # can continue without a site, or without a result

    rule: str = "uniform"
    gate: GateLike = Gate(0.0)  # noqa: RUF009 - frozen
    utility: Callable[[GP, np.random.Generator], Utility] | None = None
    guide: Guide | None = None  # with it, best designs are shared
    durations: LogNormal | None = None  # with them nobody waits; without, there are rounds

    def __call__(self, case: Case) -> Array:
        pace = "rounds" if self.durations is None else "free"
        study = study_of(case, self.rule, shares_best=self.guide is not None, pace=pace)
        own = case.strategy if self.utility is None else replace(case.strategy, utility=self.utility)
        strategy = Gated(own if self.guide is None else Guided(own, self.guide), self.gate)
        if self.durations is not None:
            return executed(case, by_the_calendar(case, study, strategy, self.durations))
        ledger = Ledger(study)
        return executed(case, rounds(case, study, ledger, strategy, ledger))


def study_of(case: Case, rule: str, *, shares_best: bool = False, pace: str = "rounds") -> Study:
    """The study in which the sites of a case take part."""
    here = attendance(case)
    budgets = {} if here.all() else dict(zip(case.names, here.sum(axis=1).tolist(), strict=True))
    return Study(case.space, case.names, case.horizon, rule=rule, budgets=budgets, shares_best=shares_best, pace=pace)


def attendance(case: Case) -> Mask:
    """Which sites are present in which round, (K, T)."""
    return np.ones((case.sites, case.horizon), dtype=bool) if case.attendance is None else case.attendance


def rounds(
    case: Case, study: Study, network: Network, strategy: Strategy, ledger: Ledger | None = None
) -> list[list[Trial]]:
    """Run all rounds of a case on any network; return the trials of every site.

    Where sites are absent, `ledger` is told to continue without them.
    """
    sites = sites_of(case, study, network, strategy)
    for here in attendance(case).T:
        present = np.flatnonzero(here).tolist()
        think([sites[k] for k in present])
        for k in present:
            sites[k].propose()
        if not here.all():
            _go_on(ledger, [case.names[k] for k in present])
        for k in present:
            _run(case, sites[k], sites[k].ask())
    return [site.trials for site in sites]


def by_the_calendar(case: Case, study: Study, strategy: Strategy, durations: LogNormal) -> list[list[Trial]]:
    """Run a case at the free pace, with experiments that take their time; return the trials of every site."""
    calendar = Calendar()
    sites = sites_of(case, study, Ledger(study, clock=calendar), strategy, calendar)
    calendar.run(sites, partial(_run, case), Durations(durations, study, case.seed))
    return [site.trials for site in sites]


def sites_of(
    case: Case, study: Study, network: Network, strategy: Strategy, clock: Calendar | None = None
) -> list[Site]:
    """The sites of a case, which have run their initial designs."""
    policy = Policy(strategy, initial=0, seed=case.seed)
    return [
        Site(study, name, network, direction=data.direction, policy=policy, data=data, clock=clock)
        for name, data in zip(case.names, case.initial, strict=True)
    ]


def _run(case: Case, site: Site, trial: Trial) -> None:
    """Run the experiment of a trial, and tell the site."""
    y = case.experiment(case.names.index(site.name), trial.x)
    if isnan(y):
        site.fail(trial)
    else:
        site.tell(trial, y)


def _go_on(ledger: Ledger | None, present: list[str]) -> None:
    """Continue without the absent sites, unless nobody waits for them."""
    if ledger is None:
        raise CbocError("only our own rounds go on without a site; this control needs all sites in all rounds.")
    if ledger.store.entries(ledger.round).keys() & set(present):
        ledger.close()


def executed(case: Case, trials: list[list[Trial]]) -> Array:
    """The designs that the sites ran, (K, T, D); NaN where a site was absent."""
    here = attendance(case)
    designs = np.full((*here.shape, case.space.dimension), np.nan)
    for k, of_site in enumerate(trials):
        designs[k, here[k]] = [trial.executed for trial in of_site]
    return designs


def proposed(trials: list[list[Trial]]) -> Array:
    """The designs that the sites proposed."""
    return np.array([[trial.proposed for trial in of_site] for of_site in trials])
