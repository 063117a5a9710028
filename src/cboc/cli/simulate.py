"""Run `cboc simulate` with a progress bar and the best outcome so far, and say what its table means."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from cboc.cli.notes import notes
from cboc.cli.pictures import FOLDER, PICTURES
from cboc.cli.progress_bar import bar
from cboc.cli.report.command import PAGE
from cboc.cli.show import many
from cboc.errors import CbocError
from cboc.runs.compare import reached
from cboc.runs.first_runs import MOST_FAILURES, AllFailed
from cboc.runs.repetitions import Repetition, experiments, repeat, repetitions
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.site.trial import Trial, results_of
from cboc.studyfile import StudyFile

ENOUGH = 8  # seeds, for a first look
MEANS = {
    "volume": "volume: below the front, from each objective's reference, or from the worst of the initial results.",
    "distance": "distance: of the best outcome from what it is to be near.",
}


def simulate(file: StudyFile, run: Run, *, seeds: int, with_alone: bool, keeps_going: bool = False) -> None:
    """Run the experiments that are not yet in the journals."""
    most = None if keeps_going else MOST_FAILURES
    jobs = repetitions(file, run, seeds=seeds, with_alone=with_alone, most_failures=most)
    best: dict[tuple[str, str], float] = {}
    total, done = len(jobs) * experiments(file), sum(job.done for job in jobs)
    if file.has_programs and done < total:
        notes.print(_ahead(file, total, done, seeds, with_alone))
    try:
        with bar(total, done) as advance:
            repeat(jobs, lambda job, trial: advance(_news(file, job, trial, best)))
    except AllFailed as failed:
        raise CbocError(
            f"{failed} Nothing more is run. Correct that, and start anew with --fresh; --resume goes on, with these "
            "failures as bad designs, and --keep-going does not stop for them."
        ) from None


def is_run_alone(given: bool | None, file: StudyFile, run: Run) -> bool:
    """Whether every site is also run alone: as asked for, or as before; else unless that means to start programs."""
    if given is not None:
        return given
    return not file.has_programs or bool(run.seeds(ALONE))


def _ahead(file: StudyFile, total: int, done: int, seeds: int, with_alone: bool) -> str:
    """How many experiments there are to run; how long that takes is known after the first."""
    ways = "together and alone" if with_alone else "together"
    known = f", {done:,} of which are done" if done else ""
    sites = many(len(file.study.sites), "site")
    text = f"{many(total, 'experiment')} of {sites}, {ways}, {many(seeds, 'seed')}{known}."
    if not with_alone:
        text += " To run every site alone as well, for comparison, takes as many again: --alone does that."
    return text


def _news(file: StudyFile, job: Repetition, trial: Trial, best: dict[tuple[str, str], float]) -> str:
    """The best outcome so far, if this trial is it."""
    goal, before = file.goals[trial.site], best.get((job.how, trial.site))
    if trial.y is None or len(goal.aims) > 1:  # of several objectives there is no one best
        return ""
    result = results_of(goal, len(trial.x), [trial])
    score = float(result.scores[0, 0])
    if not result.is_allowed[0] or (before is not None and score <= before):
        return ""
    best[job.how, trial.site] = score
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
    """What the columns of the table are, in a line; one line more with one seed, and of a volume or a distance."""
    what = MEANS.get(reached(run.histories(TOGETHER)[0]), "")
    return "\n".join(filter(None, [_columns(run), what]))


def _columns(run: Run) -> str:
    seeds, is_compared = len(run.histories(TOGETHER)), bool(run.seeds(ALONE))
    one = f"One seed says little; --resume --seeds {ENOUGH} adds more."
    count = "experiments: without the initial ones"
    if not is_compared:
        return f"Means over {seeds} seeds; of experiments, medians. {count}." if seeds > 1 else f"{count}.\n{one}"
    words = f"gain: positive if better together; {count}"
    if seeds > 1:
        return f"Means over {seeds} seeds; of experiments, medians. {words}; ±: its standard error; -: not reached."
    return f"{words}; -: not reached.\n{one}"


def again(study: Path, out: Path | None, alone: bool | None, seeds: int) -> str:
    """The command that continues a run."""
    ways = {None: "", True: "--alone", False: "--no-alone"}[alone]
    parts = ["cboc simulate", str(study), f"--out {out}" if out else "", ways]
    return " ".join(part for part in (*parts, f"--seeds {seeds}" if seeds > 1 else "", "--resume") if part)
