"""What waiting costs: alone, in rounds and at the free pace, per experiment and by the calendar.

    python research/pace.py                    run what is missing in results/pace.jsonl, then the tables
    python research/pace.py --show             the tables alone, here and in results/pace.md
    python research/pace.py --tune             the variants of the free pace, on seeds that no table reports
    python research/pace.py --show --picture docs/nobody-waits.png

Rows of the paper's tables and the same with the optimum at a random place, K as there; 5 initial designs per parameter,
20 experiments per parameter after them, the same durations for every method. Durations are log-normal with a spread of
0.2 around 1, or for every second site around 3 or 10. A site's calendar area is its mean Gap over the time that its
experiments would take it alone.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from cboc import Ledger, Policy, Site, Study
from cboc.arrays import Array
from cboc.consensus.rules import Snapshot
from cboc.evidence.case import Case
from cboc.evidence.methods.consensus import rounds
from cboc.evidence.paper import TABLES
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.exchange.ledger import Mixture
from cboc.exchange.messages import News
from cboc.exchange.store import Entry
from cboc.experiment.durations import Durations, LogNormal
from cboc.plots import style
from cboc.runs.calendar import Calendar
from cboc.runs.metrics import Paired, gap, margin, paired
from cboc.site.trial import Trial
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.collaborative import collaborative
from rows import RESULTS, Row, complete, kept

SEEDS, TUNING_SEEDS = range(3000, 3030), range(2000, 2004)
SPREAD = 0.2
SPEEDS = {"equal": 1.0, "1:3": 3.0, "1:10": 10.0}  # how much slower every second site is
PAPER = tuple(scenario for table in TABLES for scenario in table.scenarios)
DISPLACED = tuple(replace(scenario, is_displaced=True) for scenario in PAPER)
UNRELATED = (Scenario("levy-2", 10, Kind.UNRELATED), Scenario("levy-4", 10, Kind.UNRELATED))
SCENARIOS = {scenario.name: scenario for scenario in (*PAPER, *DISPLACED, *UNRELATED)}
TUNED = ("displaced levy-4 K=10", "displaced shekel-10 K=10", "displaced ackley-5 K=10", "levy-4 K=10 unrelated")
MOMENTS = np.linspace(0.0, 1.0, 31)  # of the time that a site's experiments would take it alone; for the picture


class Deaf(Ledger):
    """A ledger without news: a site knows what it heard with its last answer."""

    def news(self, site: str) -> News:
        return News(site, 0)


class Aged(Ledger):
    """A ledger that discounts proposals by their age: half as much weight for every round's worth of arrivals."""

    def _mixture(self, entry: Entry) -> Mixture:
        latest = self.study.pace.entries(self.store, entry.state)
        self.ages = np.array([entry.state - latest[s].state if s in latest else 0 for s in self.study.sites])
        return super()._mixture(entry)

    def _matrix(self, snapshot: Snapshot) -> Array:
        W = super()._matrix(snapshot)
        fresh = 0.5 ** (self.ages / len(self.study.sites))
        W = W * np.minimum.outer(fresh, fresh)
        return W + np.diag(1.0 - W.sum(axis=1))


LEDGERS = {"free": Ledger, "free deaf": Deaf, "free aged": Aged}


FIELDS = ("scenario", "method", "speeds", "seed")


@dataclass(frozen=True)
class Job:
    scenario: str
    method: str  # alone, rounds, free, or a variant of it
    speeds: str  # "": alone and rounds, whose designs do not depend on them
    seed: int


def work(job: Job) -> Row:
    case = SCENARIOS[job.scenario].case(job.seed, Bayesian())
    rule = "identity" if job.method == "alone" else "uniform"
    if job.speeds == "":
        study = Study(case.space, case.names, case.horizon, rule=rule, pace="rounds")
        ledger = Ledger(study)
        trials = rounds(case, study, ledger, collaborative(), ledger)
        curves = _curves(case, trials)
        times = {name: _ends(case, durations(name, study, job.seed), job.method) for name in SPEEDS}
    else:
        study = Study(case.space, case.names, case.horizon, rule=rule, pace="free")
        trials = free(case, study, durations(job.speeds, study, job.seed), job.method)
        curves = _curves(case, trials)
        times = {job.speeds: np.array([[trial.ended for trial in of_site] for of_site in trials])}
    row: Row = {"area": _rounded(curves[:, 1:].mean(axis=1)), "final": _rounded(curves[:, -1])}
    for name, ends in times.items():
        alone = _ends(case, durations(name, study, job.seed), "alone")[:, -1]
        sites = list(zip(curves, ends, alone, strict=True))
        row[f"calendar {name}"] = _rounded(np.array([_by_calendar(*site) for site in sites]))
        if job.scenario in TUNED:
            at = np.array([_at_moments(*site) for site in sites])
            row[f"curves {name}"] = [np.round(at[fast::2].mean(axis=0), 4).tolist() for fast in (0, 1)]
    return row


def durations(speeds: str, study: Study, seed: int) -> Durations:
    """Every second site is slower."""
    around = {name: LogNormal(SPEEDS[speeds] if k % 2 else 1.0, SPREAD) for k, name in enumerate(study.sites)}
    return Durations(around, study, seed)


def free(case: Case, study: Study, times: Durations, method: str) -> list[list[Trial]]:
    calendar = Calendar()
    ledger = LEDGERS[method](study, clock=calendar)
    policy = Policy(collaborative(), initial=0, seed=case.seed)
    sites = [
        Site(study, name, ledger, direction=data.direction, policy=policy, data=data, clock=calendar)
        for name, data in zip(case.names, case.initial, strict=True)
    ]
    numbers = {name: k for k, name in enumerate(case.names)}

    def run(site: Site, trial: Trial) -> None:
        y = case.experiment(numbers[site.name], trial.x)
        if isnan(y):
            site.fail(trial)
        else:
            site.tell(trial, y)

    calendar.run(sites, run, times)
    return [site.trials for site in sites]


def _curves(case: Case, trials: list[list[Trial]]) -> Array:  # (K, T + 1)
    """The Gap of every site after its initial designs and after each experiment."""
    found = []
    for site, data, of_site in zip(case.problems, case.initial, trials, strict=True):
        X = np.vstack([data.X, [trial.executed for trial in of_site]])
        loss = np.minimum.accumulate(-site.direction.sign * (site.values(X) - site.optimum))[len(data) - 1 :]
        found.append(np.ones(len(loss)) if site.is_flat else gap(loss, loss[0]))
    return np.array(found)


def _ends(case: Case, times: Durations, method: str) -> Array:  # (K, T)
    """When the experiments of a method whose designs do not depend on it would end."""
    took = np.array([[times.of(name, t) for t in range(case.horizon)] for name in case.names])
    if method == "alone":
        return np.cumsum(took, axis=1)
    begins = np.append(0.0, np.cumsum(took.max(axis=0))[:-1])  # a round begins when the slowest of the last has ended
    return begins + took


def _by_calendar(curve: Array, ends: Array, until: float) -> float:
    """The mean of a curve (T + 1,) over the time from 0 to `until`; it steps up at the ends (T,) of experiments."""
    steps = np.append(np.append(0.0, np.minimum(ends, until)), until)
    return float((curve * np.diff(steps)).sum() / until)


def _at_moments(curve: Array, ends: Array, until: float) -> Array:
    """The curve (T + 1,) at each of the MOMENTS from 0 to `until`."""
    return curve[np.searchsorted(ends, MOMENTS * until, side="right")]


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 6) for value in values]


def jobs(is_tuning: bool) -> list[Job]:
    seeds = TUNING_SEEDS if is_tuning else SEEDS
    names = TUNED if is_tuning else tuple(SCENARIOS)
    plain = [Job(name, method, "", seed) for seed in seeds for name in names for method in ("alone", "rounds")]
    ways = tuple(LEDGERS) if is_tuning else ("free",)
    timed = [Job(name, way, speeds, seed) for seed in seeds for name in names for way in ways for speeds in SPEEDS]
    return sorted([*plain, *timed], key=lambda job: job.seed)


WHO = {"all sites": slice(None), "fast sites": slice(0, None, 2), "slow sites": slice(1, None, 2)}
ROWS = {"paper's 13": PAPER, "displaced 13": DISPLACED, "unrelated 2": UNRELATED}
Found = dict[str, Paired]  # the free pace minus alone, and minus rounds


def measures() -> Iterator[tuple[str, str, str]]:
    """What is compared: per experiment, then by the calendar; at which speeds; for whom."""
    yield from (("area", "equal", "all sites"), ("final", "equal", "all sites"))
    yield ("calendar equal", "equal", "all sites")
    yield from ((f"calendar {speeds}", speeds, who) for speeds in ("1:3", "1:10") for who in WHO)


def compared(path: Path, way: str, measure: str, speeds: str, who: str) -> dict[str, tuple[dict[str, float], Found]]:
    """For every row: the means of alone and rounds, and what the free pace has above them, paired by seeds."""
    rows, others = kept(path, FIELDS), ("alone", "rounds")
    found = {}
    for name in SCENARIOS:
        seeds = [seed for n, m, s, seed in rows if (n, m, s) == (name, way, speeds)]
        seeds = [seed for seed in seeds if all((name, other, "", seed) in rows for other in others)]
        if len(seeds) > 1:
            ours = [np.mean(rows[name, way, speeds, seed][measure][WHO[who]]) for seed in seeds]
            theirs = {o: [np.mean(rows[name, o, "", seed][measure][WHO[who]]) for seed in seeds] for o in others}
            means = {other: float(np.mean(values)) for other, values in theirs.items()}
            found[name] = means, {other: paired(ours, values) for other, values in theirs.items()}
    return found


def tables(path: Path, ways: tuple[str, ...]) -> Iterator[Table]:
    """In how many rows the free pace is above and below alone and rounds; then every row."""
    yield from (_counts(path, way) for way in ways)
    for way in ways:
        for measure, speeds, who in measures():
            lines, seeds = [], 0
            for name, (means, pairs) in compared(path, way, measure, speeds, who).items():
                texts = [
                    (f"{means[o]:.3f}", f"{pair.difference:+.3f} ± {pair.margin:.3f}") for o, pair in pairs.items()
                ]
                lines.append((name, *(text for both in texts for text in both)))
                seeds = max(seeds, *(pair.seeds for pair in pairs.values()))
            note = f"Means over sites and {seeds} seeds; ± is half of the 95 % interval of the paired difference."
            columns = ("", "alone", f"{way} - alone", "rounds", f"{way} - rounds")
            yield Table(f"{way}: {measure}, speeds {speeds}, {who}", columns, tuple(lines), (note,))


def _counts(path: Path, way: str) -> Table:
    """Rows in which the 95 % interval leaves out zero: above + below."""
    lines = []
    for measure, speeds, who in measures():
        found = compared(path, way, measure, speeds, who)
        for group, scenarios in ROWS.items():
            pairs = [found[scenario.name][1] for scenario in scenarios if scenario.name in found]
            texts = []
            for other in ("alone", "rounds"):
                above = sum(pair[other].interval[0] > 0.0 for pair in pairs)
                below = sum(pair[other].interval[1] < 0.0 for pair in pairs)
                higher = sum(pair[other].difference > 0.0 for pair in pairs)
                texts.append(f"above {above}, below {below} (mean higher {higher})")
            lines.append((f"{measure}, {speeds}, {who}", group, *texts))
    note = "Above and below: the 95 % interval of the paired difference leaves out zero."
    return Table(f"{way}: in how many rows", ("", "rows", "against alone", "against rounds"), tuple(lines), (note,))


def picture(path: Path) -> Figure:
    """Three problems with optima at a random place, every second site three times slower: the Gap against time."""
    rows, names = kept(path, FIELDS), TUNED[:3]
    fig, axes = style.figure(5.4, 2, len(names), sharey=True)
    looks = {"alone": ("alone", style.ALONE, "", "-"), "rounds": ("rounds", "#0072B2", "", "--")}
    looks["free"] = ("free", style.TOGETHER, "1:3", "-")
    for column, name in enumerate(names):
        for k, who in enumerate(("fast sites", "slow sites")):
            ax = axes[k][column]
            for method, (label, colour, speeds, line) in looks.items():
                curves = [r["curves 1:3"][k] for key, r in rows.items() if key[:3] == (name, method, speeds)]
                error = margin(curves)
                mean = np.mean(curves, axis=0)
                ax.fill_between(MOMENTS, mean - error, mean + error, color=colour, alpha=0.16, linewidth=0)
                ax.plot(MOMENTS, mean, color=colour, linewidth=2.2, linestyle=line, label=label)
            style.title(ax, f"{name.split()[1]}, {who}{', three times slower' if k else ''}")
            ax.set_ylim(0.0, 1.02)
    seeds = len({seed for *_, seed in rows})
    text = f"share of the time that a site's experiments take it alone; bands: 95 % intervals over {seeds} seeds"
    fig.supxlabel(text, fontsize=style.SMALL, color=style.INK)
    fig.supylabel("mean Gap (1 = optimum found)", fontsize=style.NORMAL, color=style.INK)
    style.legend(fig, [{"color": c, "label": n, "linewidth": 2.2, "linestyle": w} for n, c, _, w in looks.values()])
    return fig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="the tables alone")
    parser.add_argument("--tune", action="store_true", help="variants, on tuning seeds")
    parser.add_argument("--picture", type=Path, help="write it there")
    options = parser.parse_args()
    path = RESULTS / ("pace_tuning.jsonl" if options.tune else "pace.jsonl")
    if not options.show:
        complete(path, jobs(options.tune), work)
    found = list(tables(path, tuple(LEDGERS) if options.tune else ("free",)))
    print(write(found, Writing.TEXT))
    if not options.tune:
        path.with_suffix(".md").write_text(write(found, Writing.MARKDOWN), encoding="utf-8")
    if options.picture:
        picture(path).savefig(options.picture, dpi=200)


if __name__ == "__main__":
    main()
