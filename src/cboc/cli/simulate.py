"""Run `cboc simulate` with a progress bar and the best outcome so far, and say what its table means."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from cboc.cli.notes import notes
from cboc.cli.pictures import FOLDER, PICTURES
from cboc.cli.progress_bar import bar
from cboc.cli.report.command import PAGE
from cboc.runs.repetitions import Repetition, experiments, repeat, repetitions
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.site.trial import Trial
from cboc.studyfile import StudyFile

ENOUGH = 8  # seeds, for a first look


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


def seeds_of(run: Run, file: StudyFile) -> int:
    """How many seeds a run goes on with if the user does not say; a line says so if it is not one."""
    count = run.wanted(file.seed)
    if count > 1:
        last = file.seed + count - 1
        notes.print(f"Going on with seeds {file.seed} to {last} of {run.directory}; --seeds gives another number.")
    return count


def forget_pages(directory: Path) -> None:
    """Remove the report and the pictures that cboc has written about an earlier run, and nothing else."""
    plots = directory / FOLDER
    for path in (directory / PAGE, *(plots / f"{kind}.png" for kind in PICTURES)):
        if path.is_file():
            path.unlink()
    with suppress(OSError):  # it is not there, or holds something else
        plots.rmdir()


def meaning(run: Run) -> str:
    """What the columns of the table are, in a line; with one seed, a second line."""
    seeds, is_compared = len(run.histories(TOGETHER)), bool(run.seeds(ALONE))
    one = f"One seed says little; --resume --seeds {ENOUGH} adds more."
    count = "experiments: without the initial ones"
    if not is_compared:
        return f"Means over {seeds} seeds; of experiments, medians. {count}." if seeds > 1 else f"{count}.\n{one}"
    words = f"gain: positive if better together; {count}"
    if seeds > 1:
        return f"Means over {seeds} seeds; of experiments, medians. {words}; ±: its standard error; -: not reached."
    return f"{words}; -: not reached.\n{one}"


def again(study: Path, out: Path | None, alone: bool, seeds: int) -> str:
    """The command that continues a run."""
    parts = ["cboc simulate", str(study), f"--out {out}" if out else "", "" if alone else "--no-alone"]
    return " ".join(part for part in (*parts, f"--seeds {seeds}" if seeds > 1 else "", "--resume") if part)
