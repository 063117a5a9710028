"""How few initial designs a site needs, alone and in company, every experiment counted; and who comes late.

    python research/starting.py                run what is missing in results/starting.jsonl, then the tables
    python research/starting.py --show         the tables alone, here and in results/starting.md
    python research/starting.py --tune         all variants, on seeds that no table reports

Displaced problems of the paper's tables with 3, 5 and 10 sites, one of them with noise, and sites with unrelated
optima; 15 experiments per parameter in all, the initial ones among them; free pace, durations log-normal around 1 with
a spread of 0.2. The Gap is the share of the way from the median of the box to the optimum; the area is its mean over
all experiments. "late" is the last site alone: it joins when the others have finished, and begins with their best
designs; "late, own" has only space-filling initial designs.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cboc import Ledger, Policy, Site, Study
from cboc.arrays import Array
from cboc.consensus.matrix import quantise
from cboc.evidence.paper import TABLES
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.messages import Mix
from cboc.experiment.durations import Durations, LogNormal
from cboc.problems.problem import Problem
from cboc.runs.calendar import Calendar
from cboc.runs.metrics import gap, paired, rounds_to
from cboc.site.mind import ONE, Mind
from cboc.site.plate import Plate
from cboc.site.trial import Decision, Status, Trial
from cboc.strategy.verdict import Stance
from rows import RESULTS, Row, complete, kept

SEEDS, TUNING_SEEDS = range(4000, 4030), range(2100, 2104)
IN_ALL, GOAL = 15, 0.9  # experiments per parameter; the Gap that is to be reached
SITES = (3, 5, 10)
NAMES = tuple(dict.fromkeys(scenario.problem for table in TABLES for scenario in table.scenarios))
ROWS = (
    *(Scenario(name, 10, is_displaced=True) for name in NAMES),
    Scenario("levy-4", 10, is_displaced=True, noise=0.1),
    Scenario("levy-4", 10, Kind.UNRELATED),
)
SCENARIOS = {scenario.name: scenario for row in ROWS for K in SITES for scenario in [replace(row, sites=K)]}
TUNED = [name for name in SCENARIOS if any(word in name for word in ("levy-4", "ackley-5", "shekel"))]
FEWEST: dict[str, Callable[[int], int]] = {  # D -> initial designs of a site
    "5 D": lambda D: 5 * D,
    "2 D": lambda D: 2 * D,
    "D + 1": lambda D: D + 1,
    "D": lambda D: D,
    "D / 2": lambda D: max(2, -(-D // 2)),
    "2": lambda _: 2,
}


class SharedMind(Mind):
    """A mind whose initial designs are its own part of one sequence that all sites share."""

    def initial_trial(self, count: int, plate: Plate = ONE, well: int = 0) -> Trial:  # noqa: ARG002
        K, k, number = len(self.study.sites), self.study.index(self.name), len(self.log.trials)
        whole = self.space.sample(K * count, np.random.default_rng([self.policy.seed, 99]))
        x = self.space.project(quantise(whole[k::K][number]))
        return Trial(self.name, number, Status.PENDING, tuple(x.tolist()), decision=Decision.INITIAL)


class OwnMind(Mind):
    """A mind that begins with its own designs, whatever the others have found."""

    is_newcomer = False


class EagerMind(Mind):
    """A mind that runs the best design of the others so far in place of every second space-filling one."""

    def initial_trial(self, count: int, plate: Plate = ONE, well: int = 0) -> Trial:
        trial, others = super().initial_trial(count, plate, well), [site.log for site in self.company]
        bests = [log.dataset.best.x for log in others if log is not self.log and len(log.dataset)]
        if trial.number % 2 == 0 or not bests:
            return trial
        run = {earlier.proposed for earlier in self.log.trials}
        new = [x for x in bests if tuple(x.tolist()) not in run]
        middle = min(new, key=lambda x: sum(np.linalg.norm(x - best) for best in bests), default=None)
        return trial if middle is None else replace(trial, proposed=tuple(middle.tolist()))

    company: Sequence[Site] = ()  # all sites


class PatientMind(Mind):
    """A mind that listens after a few designs, and goes on filling the space up to 2 D until it stands with others."""

    def next_trial(self, plate: Plate = ONE) -> Trial:
        trial, many = super().next_trial(plate), 2 * len(self.space.names)
        if trial.number >= many or trial.turn is None or trial.turn.note.stance is Stance.TOGETHER:
            return trial
        x = quantise(self.space.sample(many, self.rng(0))[trial.number])
        self.filling.add(trial.number)
        return replace(trial, proposed=tuple(x.tolist()))

    def judged(self, trial: Trial, mix: Mix) -> Trial:
        return super().judged(trial, replace(mix, X=(trial.proposed,)) if trial.number in self.filling else mix)

    @cached_property
    def filling(self) -> set[int]:
        """The trials that fill the space, and are not mixed."""
        return set()


MINDS = {"shared": SharedMind, "late, own": OwnMind, "eager": EagerMind, "patient": PatientMind}
FIELDS = ("scenario", "initial", "how", "seed")


@dataclass(frozen=True)
class Job:
    scenario: str
    initial: str  # one of FEWEST
    how: str  # alone; together, or one of MINDS; late
    seed: int


def work(job: Job) -> Row:
    scenario = SCENARIOS[job.scenario]
    problems = scenario.problems(job.seed)
    space = problems[0].space
    initial, total = FEWEST[job.initial](space.dimension), IN_ALL * space.dimension
    names = tuple(f"site {k + 1}" for k in range(scenario.sites))
    rule = "identity" if job.how == "alone" else "uniform"
    study = Study(space, names, total - initial, rule=rule, pace="free")
    calendar = Calendar()
    ledger, policy = Ledger(study, clock=calendar), Policy(initial=initial, seed=job.seed)
    sites = [
        Site(study, name, ledger, direction=problem.direction, policy=policy, clock=calendar)
        for name, problem in _of(names, problems)
    ]
    for site in sites:
        site.mind = MINDS.get(job.how, Mind)(study, site.name, space, policy, site.log)
        if isinstance(site.mind, EagerMind):
            site.mind.company = sites
    experiments = dict(_of(names, problems))

    def run(site: Site, trial: Trial) -> None:
        site.tell(trial, experiments[site.name](trial.design(space)))

    times = Durations(LogNormal(1.0, 0.2), study, job.seed)
    first, *later = [sites[:-1], sites[-1:]] if "late" in job.how else [sites]
    for group in (first, *later):
        calendar.run(group, run, times)
    counted = zip(problems, sites, strict=True) if not later else [(problems[-1], sites[-1])]
    curves = np.array([_curve(problem, site.trials) for problem, site in counted])
    reached = rounds_to(curves, GOAL) + 1.0
    return {
        "area": _rounded(curves.mean(axis=1)),
        "final": _rounded(curves[:, -1]),
        "goal": _rounded(np.where(np.isnan(reached), curves.shape[1], reached)),
        "curve": _rounded(curves.mean(axis=0)),
    }


def _of(names: tuple[str, ...], problems: list[Problem]) -> list[tuple[str, Problem]]:
    return list(zip(names, problems, strict=True))


def _curve(problem: Problem, trials: list[Trial]) -> Array:
    """The Gap after every experiment, from the median of the box."""
    X = np.array([trial.executed for trial in trials])
    loss = np.minimum.accumulate(-problem.direction.sign * (problem.values(X) - problem.optimum))
    return np.ones(len(loss)) if problem.is_flat else np.maximum(gap(loss, problem.depth), 0.0)


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 5) for value in values]


def jobs(is_tuning: bool, chosen: tuple[str, ...]) -> list[Job]:
    if is_tuning:
        ways = [(few, how) for few in FEWEST for how in ("alone", "together")]
        ways += [("D", "shared"), ("2", "shared"), ("2 D", "eager"), ("D", "patient"), ("2", "patient")]
        ways += [("2 D", "late"), ("2 D", "late, own")]
        return [Job(name, *way, seed) for seed in TUNING_SEEDS for name in TUNED for way in ways]
    begin = [(few, how) for few in ("5 D", *chosen) for how in ("alone", "together")]
    late = [(few, how) for few in chosen for how in ("late", "late, own")]
    return [Job(name, *way, seed) for ways in (begin, late) for seed in SEEDS for name in SCENARIOS for way in ways]


def tables(path: Path) -> list[Table]:
    """Area, and experiments to the goal, for every variant; the difference is to today's 5 D together."""
    rows = kept(path, FIELDS)
    ways = [way for way in dict.fromkeys((few, how) for _, few, how, _ in rows) if "late" not in way[1]]
    seeds = sorted({seed for *_, seed in rows})
    found = []
    for measure, what in (("area", "area"), ("final", "final Gap"), ("goal", f"experiments to a Gap of {GOAL}")):
        lines = []
        for name in dict.fromkeys(name for name, *_ in rows):
            line = [name]
            for few, how in ways:
                both = [s for s in seeds if (name, few, how, s) in rows and (name, "5 D", "together", s) in rows]
                ours = [np.mean(rows[name, few, how, s][measure]) for s in both]
                today = [np.mean(rows[name, "5 D", "together", s][measure]) for s in both]
                if len(both) < 2:
                    line.append("–")
                elif (few, how) == ("5 D", "together"):
                    line.append(f"{np.mean(ours):.3f}")
                else:
                    pair = paired(ours, today)
                    line.append(f"{pair.difference:+.3f} ± {pair.margin:.3f}")
            lines.append(tuple(line))
        notes = (f"Minus 5 D together, paired over {len(seeds)} seeds, with half of the 95 % interval.",)
        found.append(Table(what, ("", *(f"{few} {how}" for few, how in ways)), tuple(lines), notes))
    return [*found, *late_tables(rows)]


def late_tables(rows: dict[tuple[Any, ...], Row]) -> Iterator[Table]:
    """The last site, which joins when the others have finished, with 2 initial designs per parameter."""
    hows, seeds = ("alone", "late, own", "late"), sorted({seed for *_, seed in rows})
    for measure in ("area", "final"):
        lines = []
        for name in SCENARIOS:
            found = [[rows.get((name, "2 D", how, seed)) for how in hows] for seed in seeds]
            last = np.array([[row[measure][-1] for row in each] for each in found if all(each)])
            if len(last) > 1:
                means = [f"{mean:.3f}" for mean in last.mean(axis=0)]
                pairs = [paired(last[:, 2], last[:, other]) for other in (0, 1)]
                lines.append((name, *means, *(f"{pair.difference:+.3f} ± {pair.margin:.3f}" for pair in pairs)))
        columns = ("", "alone", "own designs first", "the others' first", "minus alone", "minus own first")
        yield Table(f"who comes late: {measure}", columns, tuple(lines), ("± is half of the 95 % interval.",))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="the tables alone")
    parser.add_argument("--tune", action="store_true", help="all variants, on tuning seeds")
    parser.add_argument("--initial", action="append", choices=list(FEWEST), help="beside 5 D; may be repeated")
    options = parser.parse_args()
    path = RESULTS / ("starting_tuning.jsonl" if options.tune else "starting.jsonl")
    if not options.show:
        complete(path, jobs(options.tune, tuple(options.initial or ("2 D",))), work)
    found = tables(path)
    print(write(found, Writing.TEXT))
    if not options.tune:
        path.with_suffix(".md").write_text(write(found, Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
