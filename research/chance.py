"""How often do best designs pass for evidence where there is nothing to share?

    python research/chance.py         a minute or two; the tables, here and in results/chance.md

First for places drawn at random, in five ways, and beside them for places that sites have in common. Then for sites in
runs whose optima are unrelated, where best designs are not drawn at random: they stay where they are for many rounds,
and optima avoid the edges of the box.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from collections.abc import Callable
from pathlib import Path

import numpy as np

from cboc.arrays import Array
from cboc.evidence.engines import engine
from cboc.evidence.methods.consensus import rounds, study_of
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.summary import estimate
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.ledger import Ledger
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.collaborative import collaborative
from cboc.strategy.guide.background import Box
from cboc.strategy.guide.decision import Guide
from cboc.strategy.guide.density import fit_density

RESULTS = Path(__file__).parent / "results" / "chance.md"
DRAWS, SEEDS = 400, range(1000, 1010)
SITES, DIMENSIONS = (2, 3, 5, 10, 20), (1, 2, 4, 8)
PLACES: dict[str, Callable[[Array], Array]] = {
    "anywhere": lambda U: U,
    "in the inner 80 %": lambda U: 0.1 + 0.8 * U,
    "at a bound in one coordinate": lambda U: np.column_stack([np.round(U[:, :1]), U[:, 1:]]),
    "in a corner": np.round,
    "at bounds in half of the coordinates": lambda U: np.where(U < 0.25, 0.0, np.where(U > 0.75, 1.0, 2.0 * U - 0.5)),
    "*at one place, give or take 0.05*": lambda U: np.clip(0.1 + 0.8 * U[0] + 0.1 * (U - 0.5), 0.0, 1.0),
    "*in one corner*": lambda U: np.tile(np.round(U[0]), (len(U), 1)),
}
SCENARIOS = [Scenario(f"levy-{D}", 10, Kind.UNRELATED, rounds=40) for D in (2, 4)]


def is_evidence(Z: Array) -> bool:
    where = fit_density(Z[0], Z[1:], Box().fitted(Z))
    return where is not None and where.log_odds >= Guide().least


def drawn_table() -> Table:
    rows = []
    for name, place in PLACES.items():
        for K in SITES:
            rng = np.random.default_rng(K)
            shares = [np.mean([is_evidence(place(rng.random((K, D)))) for _ in range(DRAWS)]) for D in DIMENSIONS]
            rows.append((name, str(K), *(f"{100 * share:.1f} %" for share in shares)))
    head = ("places", "sites", *(f"D = {D}" for D in DIMENSIONS))
    return Table(f"Random places that pass for evidence, of {DRAWS}", head, tuple(rows))


def share(task: tuple[int, int]) -> float:
    """Of the rounds of all sites, in one run."""
    which, seed = task
    case = SCENARIOS[which].case(seed, Bayesian())
    study = study_of(case, "uniform", shares_best=True)
    trials = rounds(case, study, Ledger(study), collaborative(case.strategy))
    turns = [trial.turn for of_site in trials for trial in of_site if trial.turn is not None]
    return float(np.mean([(turn.note.log_odds or 0.0) >= Guide().least for turn in turns]))


def runs_table() -> Table:
    tasks = [(which, seed) for which in range(len(SCENARIOS)) for seed in SEEDS]
    found = dict(engine("local")(share, tasks))
    rows = []
    for which, scenario in enumerate(SCENARIOS):
        shares = np.array([found[which, seed] for seed in SEEDS])
        extent = f"{shares.min():.2f} to {shares.max():.2f}"
        rows.append((scenario.name, str(len(SEEDS)), str(estimate(shares)), extent))
    title = "Share of all sites' rounds with evidence, unrelated optima"
    return Table(title, ("", "seeds", "share", "least to most of a seed"), tuple(rows))


def main() -> None:
    tables = [drawn_table(), runs_table()]
    print(write(tables, Writing.TEXT))
    RESULTS.write_text(write(tables, Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
