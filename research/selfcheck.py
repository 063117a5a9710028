"""Can a site tell from within one run what collaboration has brought it? Stand-ins, held against the truth.

    python research/selfcheck.py            run what is missing in results/selfcheck.jsonl, then the table
    python research/selfcheck.py --show     the table alone

The truth is a site's Gap minus that of the same site alone, from the same initial designs, over all rounds (the area)
and in the end, which only a benchmark can run. A stand-in sees what the site sees:

    promised    the curve that the own proposals' expected improvement promised, instead of that of working alone
    played      a search alone, with the site's surrogate of the end in the place of the experiment
                (`cboc.advice.counterfactual`), which `advise` and the site's page show
    judged      the own proposals that were not run, judged by the same surrogate
    counted     how often shared experiments improved the best, minus how often own ones did
    evidence    the share of rounds in which the site had reason to go with the others: no gain, but what `advise` shows

docs/decisions/collaboration.md says what was made of it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from cboc.advice.counterfactual import play
from cboc.arrays import Array
from cboc.cli.progress_bar import bar
from cboc.evidence.case import Case
from cboc.evidence.engines import engine
from cboc.evidence.methods.consensus import rounds, study_of
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.ledger import Ledger
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.site.trial import Turn
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.collaborative import collaborative
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Stance
from cboc.surrogate.gp import GP

RESULTS = Path(__file__).parent / "results" / "selfcheck.jsonl"
SITES = 30  # of each scenario, over the seeds from 1000 on
CLEAR = 0.02  # of the area: a gain or a loss that a site would like to be told of
SCENARIOS = {
    "Branin": Scenario("branin", 10),
    "Shekel": Scenario("shekel-10", 10, rounds=40),
    "Levy-4": Scenario("levy-4", 10, is_displaced=True, rounds=40),
    "Ackley-5": Scenario("ackley-5", 10, is_displaced=True, rounds=40),
    "Hartmann-6": Scenario("hartmann-6", 10, rounds=40),
    "unrelated": Scenario("levy-4", 10, Kind.UNRELATED, rounds=40),
    "three sites": Scenario("levy-4", 3, is_displaced=True, rounds=20),
}


def seeds(scenario: str) -> range:
    return range(1000, 1000 + SITES // SCENARIOS[scenario].sites)


@dataclass(frozen=True)
class Run:
    """What one site has seen: its trials of all rounds, its initial outcomes, its surrogate at the end."""

    site: Site
    gp: GP
    depth: float  # from its best initial outcome to its optimum: the unit of what it is told

    @property
    def start(self) -> float:
        return float(self.site.data.score.max())

    @property
    def scores(self) -> Array:
        """(T,), larger is better."""
        return self.site.dataset.score[len(self.site.data) :]

    @property
    def course(self) -> Array:
        return best_so_far(self.start, self.scores)

    @property
    def turns(self) -> list[Turn]:
        """Those of its trials."""
        return [trial.turn for trial in self.site.trials if trial.turn is not None]

    def against(self, alone: Array) -> Said:
        """What the course has gained on another one, over all rounds and in the end."""
        gains = (self.course - alone) / self.depth
        return float(gains.mean()), float(gains[-1])


Said = tuple[float, float]  # by the area, by the final Gap


def best_so_far(start: float, scores: Array) -> Array:
    return np.maximum.accumulate(np.maximum(scores, start))


def promised(run: Run) -> Said:
    """EI is in units of the outcomes' spread, as it was in that round."""
    spreads = [np.append(run.site.data.score, run.scores[:t]).std() for t in range(len(run.scores))]
    worths = [exp(turn.note.log_worth) for turn in run.turns]
    return run.against(run.start + np.cumsum(np.array(worths) * spreads))


def played(run: Run) -> Said:
    solo = play(run.site, run.gp) if run.gp.leave_one_out().q2 > 0.0 else None
    return (nan, nan) if solo is None else (solo.gain / run.depth, float(solo.gains[-1]) / run.depth)


def judged(run: Run) -> Said:
    proposed = np.array([trial.proposed for trial in run.site.trials])
    return run.against(best_so_far(run.start, run.gp.predict(proposed)[0]))


def counted(run: Run) -> Said:
    is_better = run.scores > np.append(run.start, run.course[:-1])
    is_shared = np.array([trial.is_shared for trial in run.site.trials])
    if is_shared.all() or not is_shared.any():
        return nan, nan
    difference = float(is_better[is_shared].mean() - is_better[~is_shared].mean())
    return difference, difference


def evidence(run: Run) -> Said:
    share = float(np.mean([turn.note.stance is Stance.TOGETHER for turn in run.turns]))
    return share, share


STAND_INS: dict[str, Callable[[Run], Said]] = {
    "promised": promised,
    "played": played,
    "judged": judged,
    "counted": counted,
    "evidence": evidence,
}
SIGNED = tuple(name for name in STAND_INS if name != "evidence")
MEASURES = ("area", "final Gap")


@dataclass(frozen=True)
class Task:
    scenario: str
    seed: int


def work(task: Task) -> dict[str, Any]:
    case = SCENARIOS[task.scenario].case(task.seed, Bayesian())
    sites, alone = _together(case), METHODS["individual"](case)
    gps = case.strategy.surrogates([Situation(site.dataset, case.space) for site in sites])
    depths = [abs(own.best.y - problem.optimum) for own, problem in zip(case.initial, case.problems, strict=True)]
    is_open = [k for k, problem in enumerate(case.problems) if not problem.is_flat and depths[k] > 0.0]
    runs = [Run(sites[k], gps[k], depths[k]) for k in is_open]
    truth = [
        run.against(best_so_far(run.start, _scores(case, k, alone[k]))) for k, run in zip(is_open, runs, strict=True)
    ]
    said = {name: [_plain(ask(run)) for run in runs] for name, ask in STAND_INS.items()}
    return {"scenario": task.scenario, "seed": task.seed, "truth": [_plain(gains) for gains in truth], **said}


def _together(case: Case) -> list[Site]:
    """As they are at the end of a run with the default."""
    study = study_of(case, "uniform", shares_best=True)
    policy = Policy(collaborative(case.strategy), initial=0, seed=case.seed)
    trials = rounds(case, study, Ledger(study), policy.strategy)
    return [
        Site(study, name, Ledger(study), direction=own.direction, policy=policy, data=own, trials=of_site)
        for name, own, of_site in zip(case.names, case.initial, trials, strict=True)
    ]


def _scores(case: Case, k: int, designs: Array) -> Array:
    sign = case.initial[k].direction.sign
    return np.array([sign * case.experiment(k, x) for x in designs])


def _plain(said: Said) -> list[float | None]:
    return [None if isnan(value) else round(value, 6) for value in said]


def kept() -> Iterator[dict[str, Any]]:
    if RESULTS.exists():
        yield from (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())


def table(which: int) -> Table:
    lines = []
    for scenario in SCENARIOS:
        rows = [row for row in kept() if row["scenario"] == scenario]
        if not rows:
            continue
        heard = {
            name: np.array([said[which] for row in rows for said in row[name]], dtype=float)
            for name in ("truth", *STAND_INS)
        }
        truth = heard.pop("truth")
        counts = f"{(truth > CLEAR).sum()} / {(truth < -CLEAR).sum()} of {len(truth)}"
        lines.append((scenario, counts, *(_judged(truth, said, name in SIGNED) for name, said in heard.items())))
    return Table(
        f"What sites would be told of their gain in {MEASURES[which]}, seeds from 1000 on",
        ("", "gained / lost", *STAND_INS),
        tuple(lines),
        (
            f"Gained, lost: sites that are more than {CLEAR} above, below the same site alone. Then, for each "
            "stand-in: the rank correlation with the truth over all sites; of the sites that gained, those that are "
            "told they lost; of those that lost, those that are told they gained.",
        ),
    )


def told_table(which: int) -> Table:
    """What had happened to those who are told something clear by the search that is played."""
    lines = []
    for name, scenarios in ({name: (name,) for name in SCENARIOS} | {"all": tuple(SCENARIOS)}).items():
        rows = [row for row in kept() if row["scenario"] in scenarios]
        pairs = [pair for row in rows for pair in zip(row["truth"], row["played"], strict=True)]
        truth, said = np.array([[real[which], told[which]] for real, told in pairs], dtype=float).reshape(-1, 2).T
        told = []
        for side in (1, -1):  # gain, loss
            is_told = side * said > CLEAR
            right, wrong = ((is_told & (sign * side * truth > CLEAR)).sum() for sign in (1, -1))
            told.append(f"{right} right, {wrong} wrong of {is_told.sum()}")
        lines.append((name, str(len(truth)), *told))
    return Table(
        f"What is shown of the gain in {MEASURES[which]}, and what it was",
        ("", "sites", "told of a clear gain", "told of a clear loss"),
        tuple(lines),
        (f"Clear: by more than {CLEAR}. Right: so it was. Wrong: it was as clearly the other way round.",),
    )


def _judged(truth: Array, said: Array, is_signed: bool) -> str:
    is_told = ~np.isnan(said)
    truth, said = truth[is_told], said[is_told]
    if len(said) < 3 or said.min() == said.max():
        return "–"
    correlation = f"{spearmanr(said, truth).statistic:+.2f}"
    if not is_signed:
        return correlation
    wrong = [((side * truth > CLEAR) & (side * said < 0.0)).sum() for side in (1, -1)]
    return f"{correlation}, {wrong[0]} / {wrong[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--workers", type=int, help="processes")
    asked = parser.parse_args()
    if not asked.show:
        done = {(row["scenario"], row["seed"]) for row in kept()}
        tasks = [Task(name, seed) for name in SCENARIOS for seed in seeds(name) if (name, seed) not in done]
        with bar(len(tasks)) as advance, RESULTS.open("a", encoding="utf-8") as file:
            for task, row in engine("local", asked.workers)(work, tasks):
                file.write(json.dumps(row) + "\n")
                file.flush()
                advance(f"{task.scenario}, seed {task.seed}", 1)
    tables = [make(which) for make in (told_table, table) for which in range(len(MEASURES))]
    print(write(tables, Writing.TEXT))
    RESULTS.with_suffix(".md").write_text(write(tables, Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
