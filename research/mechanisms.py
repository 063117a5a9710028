"""What else could collaboration be? Candidates beside the one that was chosen, on seeds that no table reports.

    python research/mechanisms.py                     run what is missing in results/mechanisms.jsonl, then the tables
    python research/mechanisms.py --show              the tables alone, here and in results/mechanisms.md
    python research/mechanisms.py --candidate alone --candidate "guide, mix"

All start from the same designs, have the same surrogate and share designs only. The tables hold what each brings over
working alone, and docs/decisions/collaboration.md says what was learned from them.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from candidates import CANDIDATES, designs
from cboc.arrays import Array
from cboc.cli.progress_bar import bar
from cboc.evidence.engines import engine
from cboc.evidence.job import Job, measure
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.runs.metrics import standard_error
from cboc.strategy.bayesian import Bayesian

RESULTS = Path(__file__).parent / "results" / "mechanisms.jsonl"
SEEDS = range(1000, 1003)
CLEAR = 2.0  # standard errors
SCENARIOS = {
    "Levy-2": Scenario("levy-2", 10, is_displaced=True),
    "Branin": Scenario("branin", 10),
    "Shekel": Scenario("shekel-10", 10),
    "Ackley-5": Scenario("ackley-5", 10, is_displaced=True, rounds=60),
    "Hartmann-6": Scenario("hartmann-6", 10, rounds=60),
    "unrelated 2-D": Scenario("levy-2", 10, Kind.UNRELATED),
    "unrelated 4-D": Scenario("levy-4", 10, Kind.UNRELATED, rounds=60),
    "outlier": Scenario("levy-4", 10, Kind.OUTLIER, is_displaced=True, rounds=60),
}


@dataclass(frozen=True)
class Task:
    candidate: str
    scenario: str
    seed: int


def work(task: Task) -> dict[str, Any]:
    scenario = SCENARIOS[task.scenario]
    case = scenario.case(task.seed, Bayesian())
    ran = designs(case, CANDIDATES[task.candidate])
    row = measure(Job(scenario, "default", "individual", task.seed), case, ran)
    sites = {"area": list(row.area), "final": list(row.final)}
    return {"candidate": task.candidate, "scenario": task.scenario, "seed": task.seed, **sites}


def kept() -> Iterator[dict[str, Any]]:
    if RESULTS.exists():
        yield from (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())


MEASURES = {"area": "Area under the Gap curve", "final": "Final Gap"}
Gains = dict[tuple[str, str], Array]  # (candidate, scenario) -> mean over sites minus alone, for every seed


def gains(measured: str) -> Gains:
    rows = {(row["candidate"], row["scenario"], row["seed"]): float(np.mean(row[measured])) for row in kept()}
    found = {}
    for name in CANDIDATES:
        for scenario in SCENARIOS:
            pairs = [((name, scenario, seed), ("alone", scenario, seed)) for seed in SEEDS]
            found[name, scenario] = np.array([rows[a] - rows[b] for a, b in pairs if a in rows and b in rows])
    return found


def ranking(area: Gains, final: Gains) -> Table:
    """The mean over all scenarios, the best first, and where a candidate is clearly below working alone."""
    lines = []
    for name in CANDIDATES:
        if any(len(area[name, scenario]) < 2 for scenario in SCENARIOS):
            continue  # not run yet
        means = [np.mean([found[name, scenario].mean() for scenario in SCENARIOS]) for found in (area, final)]
        is_below = [s for s in SCENARIOS if area[name, s].mean() < -CLEAR * standard_error(area[name, s])]
        lines.append((name, *(f"{mean:+.3f}" for mean in means), ", ".join(is_below) or "nowhere"))
    return Table(
        "All scenarios, minus working alone",
        ("", "area", "final Gap", "area clearly below alone"),
        tuple(sorted(lines, key=lambda line: -float(line[1]))),
        (f"Means over scenarios, sites and seeds. Clearly: by more than {CLEAR:g} standard errors.",),
    )


def tables() -> list[Table]:
    """The ranking, then each scenario: the mean over seeds and its standard error."""
    found = {measured: gains(measured) for measured in MEASURES}
    each = [
        Table(
            f"{title} minus that of working alone, seeds {SEEDS[0]} to {SEEDS[-1]}",
            ("", *SCENARIOS),
            tuple(
                (name, *(_written(found[measured][name, scenario]) for scenario in SCENARIOS)) for name in CANDIDATES
            ),
            ("Mean over sites and seeds, and the standard error over seeds.",),
        )
        for measured, title in MEASURES.items()
    ]
    return [ranking(**found), *each]


def _written(gained: Array) -> str:
    return f"{gained.mean():+.3f} ± {standard_error(gained):.3f}" if len(gained) > 1 else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--candidate", action="append", choices=list(CANDIDATES), help="only this one; may be repeated")
    parser.add_argument("--workers", type=int, help="processes")
    asked = parser.parse_args()
    if not asked.show:
        done = {(row["candidate"], row["scenario"], row["seed"]) for row in kept()}
        names = asked.candidate or list(CANDIDATES)
        tasks = [Task(name, scenario, seed) for name in names for scenario in SCENARIOS for seed in SEEDS]
        tasks = [task for task in tasks if (task.candidate, task.scenario, task.seed) not in done]
        with bar(len(tasks)) as advance, RESULTS.open("a", encoding="utf-8") as file:
            for task, row in engine("local", asked.workers)(work, tasks):
                file.write(json.dumps(row) + "\n")
                file.flush()
                advance(f"{task.candidate}, {task.scenario}, seed {task.seed}", 1)
    print(write(tables(), Writing.TEXT))
    RESULTS.with_suffix(".md").write_text(write(tables(), Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
