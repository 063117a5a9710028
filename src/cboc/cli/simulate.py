"""A study of a file, together and alone on the same seeds, in a directory that can be resumed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cboc import studyfile
from cboc.arrays import Array
from cboc.claim import only_writer
from cboc.cli.bar import bar
from cboc.cli.run import ALONE, TOGETHER, Run
from cboc.cli.show import Row
from cboc.cli.workers import Report, run_all
from cboc.errors import CbocError
from cboc.history import History, read_journal
from cboc.metrics import best_curves, lead, paired, rounds_to
from cboc.studyfile import StudyFile
from cboc.trial import Status, Trial


@dataclass(frozen=True)
class Simulation:
    """One seed of a study, together or alone: a job for a worker."""

    path: Path
    how: str
    seed: int
    journal: Path


def default_directory(file: StudyFile) -> Path:
    """runs/NAME, with a name that any file system takes."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", file.study.name).strip("-.") or "study")


def simulate(file: StudyFile, run: Run, *, seeds: int, with_alone: bool) -> None:
    """Run what is not yet in the journals."""
    ways = (TOGETHER, ALONE) if with_alone else (TOGETHER,)
    jobs = [
        Simulation(file.path, how, seed, run.journal(how, seed))
        for seed in range(file.seed, file.seed + seeds)
        for how in ways
    ]
    best: dict[tuple[str, str], float] = {}
    with bar(len(jobs) * _experiments(file), sum(_done(job.journal) for job in jobs)) as advance:

        def on_trial(job: Simulation, trial: Trial) -> None:
            advance(_news(file, job, trial, best))

        try:
            run_all(_simulate, jobs, on_trial)
        except BrokenProcessPool:
            raise CbocError(
                f"a worker process was killed; what it did is kept: continue {run.directory} with --resume."
            ) from None


def _simulate(job: Simulation, report: Report) -> None:
    file = studyfile.read(job.path).with_seed(job.seed)
    with only_writer(job.journal):
        (file.alone() if job.how == ALONE else file).simulate(journal=job.journal, on_trial=report)


def _experiments(file: StudyFile) -> int:
    """How many a simulation takes, unless a site stops before its time."""
    initial = 5 * len(file.study.space.names) if file.initial is None else file.initial
    earlier = {site: len(data) for site, data in file.data.items()}
    return sum(max(0, initial - earlier.get(site, 0)) + file.study.budget(site) for site in file.study.sites)


def _done(journal: Path) -> int:
    if not journal.exists() or journal.stat().st_size == 0:
        return 0
    _, trials, _ = read_journal(journal)
    return sum(trial.status in (Status.COMPLETE, Status.FAILED) for trial in trials.values())


def _news(file: StudyFile, job: Simulation, trial: Trial, best: dict[tuple[str, str], float]) -> str:
    """The best outcome so far, if this trial is it."""
    sign = -1.0 if file.directions[trial.site] == "minimise" else 1.0
    before = best.get((job.how, trial.site))
    if trial.y is None or (before is not None and sign * trial.y <= sign * before):
        return ""
    best[job.how, trial.site] = trial.y
    return f"best so far of {trial.site}, {job.how}: {trial.y:.4g}"


def results(run: Run) -> list[Row]:
    """What each site has from working together; or only what it found, if nobody worked alone."""
    together, alone = run.histories(TOGETHER), run.histories(ALONE)
    if not together:
        raise CbocError(f"{run.directory} holds no results yet; cboc simulate with --resume continues it.")
    return compare(together, alone) if alone else _found(together)


def compare(together: Sequence[History], alone: Sequence[History]) -> list[Row]:
    """Means over seeds. A gain is positive where together is better; rounds are those to reach alone's final best."""
    ours, theirs = _scores(together), _scores(alone)
    length = min(ours.shape[-1], theirs.shape[-1])
    ours, theirs = ours[..., :length], theirs[..., :length]
    rounds = dict(zip(("rounds to match alone", "rounds alone took"), lead(ours, theirs), strict=True))
    rows: list[Row] = []
    for k, site in enumerate(together[0].study.sites):
        gain = paired(ours[:, k, -1], theirs[:, k, -1])
        sign = _sign(together[0], site)
        row: dict[str, object] = {"site": site, "best alone": float(sign * theirs[:, k, -1].mean())}
        row |= {"best together": float(sign * ours[:, k, -1].mean()), "gain": gain.difference}
        row |= {"±": gain.error} if len(together) > 1 else {}
        rows.append(row | {name: _median(values[:, k]) for name, values in rounds.items()})
    return rows


def _found(histories: Sequence[History]) -> list[Row]:
    scores = _scores(histories)
    return [
        {
            "site": site,
            "best": float(_sign(histories[0], site) * scores[:, k, -1].mean()),
            "rounds": _median(rounds_to(scores[:, k], scores[:, k, -1])),
        }
        for k, site in enumerate(histories[0].study.sites)
    ]


def _sign(history: History, site: str) -> float:
    return -1.0 if history.directions[site] == "minimise" else 1.0


def _scores(histories: Sequence[History]) -> Array:
    """The best so far, (seeds, K, T + 1), the more the better."""
    signs = np.array([_sign(histories[0], site) for site in histories[0].study.sites])
    return signs[:, None] * best_curves(histories)


def _median(rounds: Array) -> float | None:
    """Over seeds; None if half of them never got there."""
    middle = float(np.median(np.where(np.isnan(rounds), np.inf, rounds)))
    return middle if np.isfinite(middle) else None
