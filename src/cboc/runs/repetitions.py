"""A study file, together and alone on the same seeds, in the directory of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cboc import studyfile
from cboc.child_processes import WorkerLost
from cboc.errors import CbocError
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.runs.simulation import simulate
from cboc.runs.workers import Report, run_all
from cboc.site.trial import TOLD, Trial
from cboc.storage.journal import is_begun, read_journal
from cboc.studyfile import StudyFile


@dataclass(frozen=True)
class Repetition:
    """One seed of a study, together or alone: a job for a worker."""

    path: Path
    how: str
    seed: int
    journal: Path
    most_failures: int | None = None  # it ends if the first so many experiments of a site all fail

    @property
    def done(self) -> int:
        """The experiments that its journal holds already."""
        if not self.journal.exists() or not is_begun(self.journal):
            return 0
        _, trials, _ = read_journal(self.journal)
        return sum(trial.status in TOLD for trial in trials.values())


def default_directory(file: StudyFile) -> Path:
    """runs/NAME, with a name that any file system takes."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", file.study.name).strip("-.") or "study")


def repetitions(
    file: StudyFile, run: Run, *, seeds: int, with_alone: bool, most_failures: int | None = None
) -> list[Repetition]:
    """One repetition for every way of working and every seed, counted from the file's seed."""
    ways = (TOGETHER, ALONE) if with_alone else (TOGETHER,)
    jobs = [
        Repetition(file.path, how, seed, run.journal(how, seed), most_failures)
        for seed in range(file.seed, file.seed + seeds)
        for how in ways
    ]
    if with_alone:
        _check_alone(jobs, file.alone().study.pace.name)
    return jobs


def _check_alone(jobs: Sequence[Repetition], pace: str) -> None:
    """Raise one sentence if a site alone was made to wait for the others, as early 0.2.0 did."""
    for job in jobs:
        if job.how == ALONE and job.journal.exists() and is_begun(job.journal):
            header, *_ = read_journal(job.journal)
            if header.get("study", {}).get("pace", pace) != pace:
                raise CbocError(
                    f"{job.journal} is from a version of cboc in which also a site alone waited for the slowest, so "
                    "its times are too long; it can be read, but not continued: start the run anew with --fresh."
                )


def experiments(file: StudyFile) -> int:
    """The number of experiments in one repetition, unless a site stops early."""
    initial = file.policy.begins_with(len(file.study.space.names))
    earlier = {site: len(data) for site, data in file.data.items()}
    return sum(max(0, initial - earlier.get(site, 0)) + file.study.budget(site) for site in file.study.sites)


def repeat(jobs: Sequence[Repetition], on_trial: Callable[[Repetition, Trial], None] = lambda *_: None) -> None:
    """Run all trials that are not yet in the journals, with a process for each core."""
    try:
        run_all(_simulate, jobs, on_trial)
    except WorkerLost:
        directory = jobs[0].journal.parent
        raise CbocError(
            f"a worker process was killed; all finished work is kept: continue {directory} with --resume."
        ) from None


def _simulate(job: Repetition, report: Report) -> None:
    file = studyfile.read(job.path).with_seed(job.seed)
    arguments = (file.alone() if job.how == ALONE else file).arguments
    simulate(**arguments, journal=job.journal, on_trial=report, most_failures=job.most_failures)
