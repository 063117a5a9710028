"""Which well of a plate is mixed with which wells of the others: plates of eight, area per experiment.

    python research/wells.py           run what is missing in results/wells_tuning.jsonl, then the table
    python research/wells.py --show    the table alone

Five sites at the free pace, durations log-normal around 1 with a spread of 0.2; 2 initial designs per parameter and
then 20 experiments per parameter in plates of eight; seeds that no reported table uses.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from dataclasses import dataclass, replace

import numpy as np

from cboc import Ledger, Policy, Site, Study
from cboc.arrays import Array
from cboc.consensus.matrix import mix
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.messages import Mix
from cboc.experiment.durations import Durations, LogNormal
from cboc.runs.calendar import Calendar
from cboc.runs.metrics import gap, paired
from cboc.site.plate import Plate
from cboc.site.trial import Trial
from rows import RESULTS, Row, complete, kept

PATH = RESULTS / "wells_tuning.jsonl"
SEEDS, WELLS = range(2200, 2206), 8
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        *(Scenario(name, 5, is_displaced=True) for name in ("levy-4", "shekel-10", "ackley-5", "hartmann-6")),
        Scenario("levy-4", 5, Kind.UNRELATED),
    )
}


class SamePlace(Ledger):
    """Well i is mixed with well i of the others: what the library does."""

    def mix(self, site: str, turn: int) -> Mix:
        answer, entry, k = super().mix(site, turn), self._entry(site, turn), self.study.index(site)
        weights, present = self._mixture(entry).weights[k], self._mixture(entry).present
        X = []
        for place, own in enumerate(entry.proposal.X):
            designs = np.zeros((len(self.study.sites), len(own)))
            for name, other in present.items():
                plate = np.array(other.proposal.X)
                designs[self.study.index(name)] = own if name == site else self.partner(np.array(own), place, plate)
            X.append(tuple(mix(weights, designs).tolist()))
        return replace(answer, X=tuple(X))

    def partner(self, own: Array, place: int, plate: Array) -> Array:  # noqa: ARG002
        return plate[place % len(plate)]


class First(SamePlace):
    """Every well is mixed with the first wells of the others."""

    def partner(self, own: Array, place: int, plate: Array) -> Array:  # noqa: ARG002
        return plate[0]


class Nearest(SamePlace):
    """Every well is mixed with the nearest well of each of the others."""

    def partner(self, own: Array, place: int, plate: Array) -> Array:  # noqa: ARG002
        return plate[np.linalg.norm(plate - own, axis=1).argmin()]


class OnlyFirst(SamePlace):
    """The first well alone is mixed."""

    def partner(self, own: Array, place: int, plate: Array) -> Array:
        return own if place else plate[0]


LEDGERS = {"same place": SamePlace, "first": First, "nearest": Nearest, "only first": OnlyFirst, "alone": Ledger}
FIELDS = ("scenario", "way", "seed")


@dataclass(frozen=True)
class Job:
    scenario: str
    way: str  # one of LEDGERS
    seed: int


def work(job: Job) -> Row:
    scenario = SCENARIOS[job.scenario]
    problems = scenario.problems(job.seed)
    space, names = problems[0].space, tuple(f"site {k + 1}" for k in range(scenario.sites))
    rule = "identity" if job.way == "alone" else "uniform"
    study = Study(space, names, 20 * space.dimension, rule=rule, shares_best=job.way != "alone")
    calendar = Calendar()
    ledger, policy = LEDGERS[job.way](study, clock=calendar), Policy(seed=job.seed)
    experiments = dict(zip(names, problems, strict=True))
    sites = [
        Site(study, name, ledger, direction=problem.direction, policy=policy, clock=calendar)
        for name, problem in experiments.items()
    ]

    def run(site: Site, trial: Trial) -> None:
        site.tell(trial, experiments[site.name](trial.design(space)))

    calendar.run(sites, run, Durations(LogNormal(1.0, 0.2), study, job.seed), Plate(WELLS))
    areas = []
    for site, problem in zip(sites, problems, strict=True):
        X = np.array([trial.executed for trial in site.trials])
        loss = np.minimum.accumulate(-problem.direction.sign * (problem.values(X) - problem.optimum))
        areas.append(1.0 if problem.is_flat else float(np.maximum(gap(loss, problem.depth), 0.0).mean()))
    return {"area": [round(area, 5) for area in areas]}


def table() -> Table:
    """The mean area in the same place, and what the others have above it, paired by seeds."""
    rows, lines = kept(PATH, FIELDS), []
    for name in SCENARIOS:
        found = {way: [np.mean(rows[name, way, s]["area"]) for s in SEEDS if (name, way, s) in rows] for way in LEDGERS}
        if min(map(len, found.values())) == len(SEEDS):
            pairs = [paired(found[way], found["same place"]) for way in LEDGERS if way != "same place"]
            texts = [f"{pair.difference:+.3f} ± {pair.margin:.3f}" for pair in pairs]
            lines.append((name, f"{np.mean(found['same place']):.3f}", *texts))
    note = f"Means over sites and {len(SEEDS)} seeds; ± is half of the 95 % interval of the paired difference."
    return Table("which well with which", ("", *LEDGERS), tuple(lines), (note,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="the table alone")
    if not parser.parse_args().show:
        complete(PATH, [Job(name, way, seed) for seed in SEEDS for name in SCENARIOS for way in LEDGERS], work)
    print(write([table()], Writing.TEXT))


if __name__ == "__main__":
    main()
