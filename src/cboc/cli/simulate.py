"""Run `cboc simulate` with a progress bar and the best outcome so far."""

from __future__ import annotations

from cboc.cli.progress_bar import bar
from cboc.runs.repetitions import Repetition, experiments, repeat, repetitions
from cboc.runs.run import Run
from cboc.site.trial import Trial
from cboc.studyfile import StudyFile


def simulate(file: StudyFile, run: Run, *, seeds: int, with_alone: bool) -> None:
    """Run the experiments that are not yet in the journals."""
    jobs = repetitions(file, run, seeds=seeds, with_alone=with_alone)
    best: dict[tuple[str, str], float] = {}
    with bar(len(jobs) * experiments(file), sum(job.done for job in jobs)) as advance:
        repeat(jobs, lambda job, trial: advance(_news(file, job, trial, best)))


def _news(file: StudyFile, job: Repetition, trial: Trial, best: dict[tuple[str, str], float]) -> str:
    """The best outcome so far, if this trial is it."""
    sign = file.directions[trial.site].sign
    before = best.get((job.how, trial.site))
    if trial.y is None or (before is not None and sign * trial.y <= sign * before):
        return ""
    best[job.how, trial.site] = trial.y
    return f"best so far of {trial.site}, {job.how}: {trial.y:.4g}"
