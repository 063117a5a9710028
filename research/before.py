"""The default of 0.1.0, rebuilt, on the reported seeds of the dial: has the gain become half as large again?

    python research/before.py           run what is missing in results/before.jsonl, then the table
    python research/before.py --show    the table alone

Worlds with r >= 0.5, three and five sites, as `cboc evidence dial` runs them; today's rows are those of evidence/dial.
Nothing is chosen here.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import isnan
from pathlib import Path

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.evidence.case import begin
from cboc.evidence.dial import ALONE, DIMENSIONS, EXPERIMENTS, INITIAL, OURS, REPORTED, SHARES, World
from cboc.evidence.dial import SITES as ALL
from cboc.evidence.methods.consensus import Consensus
from cboc.evidence.tables.cells import difference
from cboc.evidence.tables.dial import RELATED
from cboc.evidence.tables.table import Table, Writing, write
from cboc.runs.metrics import gap_so_far, paired
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gate
from cboc.strategy.guide.decision import Counsel, Guide, background, consistency
from cboc.strategy.guide.density import fit_density
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import APART, Stance
from cboc.surrogate.fitting import Model
from cboc.surrogate.priors import dimension_scaled
from cboc.utility.utility import Utility
from rows import RESULTS, Row, complete, kept

PATH = RESULTS / "before.jsonl"
TODAY = Path(__file__).parent.parent / "evidence" / "dial" / "dial.jsonl"
SEEDS = range(REPORTED, REPORTED + 30)
SITES = (3, 5)
WORLDS = [World("dial", r, D) for D, r in product(DIMENSIONS, SHARES) if r >= RELATED]
AIM = 1.5  # times the gain of 0.1.0


@dataclass(frozen=True)
class Earlier(Guide):
    """The guide of 0.1.0: it does not borrow, and counts as evidence against best designs that lie anywhere alike."""

    patience: float = 0.0

    def __call__(self, utility: Utility | None, situation: Situation) -> Counsel:
        data, others = situation.dataset, situation.others
        if utility is None or others is None or not len(others):
            return self._doubt(situation, utility, "nobody's best design is known yet")
        where = fit_density(data.best.x, others, background(situation.common))
        if where is None:
            return self._doubt(situation, utility, APART, 0.0)
        found = consistency(where, data)
        known = None if isnan(found) else found
        if where.log_odds < self.least:
            return self._doubt(situation, utility, APART, where.log_odds, known)
        if found < self.consistency:
            return Counsel(utility, Stance.ALONE, 0.0, "your outcomes contradict", where.log_odds, known)
        weight = self.weight / (1.0 + situation.progress / self.fade)
        return Counsel(Drawn(utility, where, weight, self.most), log_odds=where.log_odds, consistency=known)


METHODS = {"alone": Consensus("identity"), "0.1.0": Consensus("uniform", Gate(0.1), guide=Earlier())}


@dataclass(frozen=True)
class Job:
    r: float
    dimension: int
    sites: int
    method: str
    seed: int


def work(job: Job) -> Row:
    problems = World("dial", job.r, job.dimension).problems(job.sites, job.seed)
    own = Bayesian(model=Model(lengthscale=dimension_scaled))
    horizon = (EXPERIMENTS - INITIAL) * job.dimension
    case = begin(problems, INITIAL * job.dimension, horizon, job.seed, own)
    with one_thread():
        ran = np.concatenate([case.first, METHODS[job.method](case)], axis=1)
    outcomes = np.array([[case.experiment(k, x) for x in of_site] for k, of_site in enumerate(ran)])
    optima, depths = (np.array([getattr(problem, name) for problem in problems]) for name in ("optimum", "depth"))
    areas = gap_so_far(outcomes - optima[:, None], depths).mean(axis=1)
    return {"area": [round(float(area), 6) for area in areas]}


def jobs() -> Iterable[Job]:
    """Seed by seed; alone with the most sites only, of which the first are those of a smaller study."""
    for seed, world, (method, sites) in product(SEEDS, WORLDS, (("alone", 5), ("0.1.0", 3), ("0.1.0", 5))):
        yield Job(world.amount, world.dimension, sites, method, seed)


Areas = dict[tuple[float, int, int, str, int], list[float]]
"""Of the sites, by r, parameters, sites, method and seed; alone, by the most sites."""


@cache
def before() -> Areas:
    return {key: row["area"] for key, row in kept(PATH, ("r", "dimension", "sites", "method", "seed")).items()}


@cache
def today() -> Areas:
    """Areas of the reported dial."""
    rows = map(json.loads, TODAY.read_text(encoding="utf-8").splitlines())
    fields = ("amount", "dimension", "sites", "method", "seed")
    return {tuple(row[name] for name in fields): row["area"] for row in rows if row["kind"] == "dial"}


def table() -> Table:
    """The mean gain over alone, then and today, over the related worlds, on the seeds that all of them have."""
    lines, counts = [], set()
    for sites in SITES:
        rows = [areas for seed in SEEDS if (areas := means(sites, seed)) is not None]
        counts.add(len(rows))
        if len(rows) < 2:
            continue
        then_alone, then, now_alone, now = np.array(rows).T
        gain, gain_now = then - then_alone, now - now_alone
        shown = (gain, gain_now, gain_now - AIM * gain, now_alone - then_alone)
        cells = [difference(paired(each, np.zeros(len(rows)))) for each in shown]
        lines.append((f"K = {sites}", *cells, f"{gain_now.mean() / gain.mean():.1f}"))
    head = ("", "0.1.0", "today", f"today's - {AIM:g} × that of 0.1.0", "alone, today - then", "ratio")
    note = (
        f"Gain in area over alone with the same prior of lengthscales; means over {len(WORLDS)} worlds with "
        f"r ≥ {RELATED:g}; {' or '.join(map(str, sorted(counts)))} seeds, 95 % intervals."
    )
    return Table("The gain of 0.1.0 and today's, on the dial", head, tuple(lines), (note,))


def means(sites: int, seed: int) -> Array | None:
    """Means over sites and worlds: alone and together then, alone and together today; None if some are missing."""
    found = []
    for world in WORLDS:
        of = (world.amount, world.dimension)
        then = (before().get((*of, count, method, seed)) for count, method in ((max(SITES), "alone"), (sites, "0.1.0")))
        now = (today().get((*of, count, method, seed)) for count, method in ((max(ALL), ALONE), (sites, OURS)))
        areas = [np.mean(each[:sites]) for each in (*then, *now) if each is not None]
        if len(areas) < 4:
            return None
        found.append(areas)
    means: Array = np.mean(found, axis=0)
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    if not parser.parse_args().show:
        complete(PATH, list(jobs()), work)
    print(write([table()], Writing.TEXT))


if __name__ == "__main__":
    main()
