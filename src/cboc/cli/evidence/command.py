"""The commands of `cboc evidence`: which jobs to run, where, and which are already done."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.evidence.reports import (
    Rows,
    honest_rows,
    report_biosensor,
    report_honest,
    report_paper,
    report_run,
    report_theory,
    report_tuning,
    reports_of,
    tuning_jobs,
)
from cboc.cli.notes import notes
from cboc.cli.progress_bar import bar
from cboc.errors import CbocError
from cboc.evidence import casestudy, engines, paper, theory
from cboc.evidence.job import Job, Row, knows_trouble, work
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.results import J, R, Results
from cboc.evidence.runner import Work, jobs_of, run
from cboc.evidence.scenario import Kind, Scenario, Trouble
from cboc.strategy.bayesian import SURROGATES

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The paper's experiments and their rivals: tables and pictures from one command.",
)

QUICK = (Scenario("levy-2", 5, Kind.SAME), Scenario("levy-2", 10), Scenario("branin", 10))
QUICK_METHODS = ("individual", "cboc", "cboc-u", "cboc-l", "cboc-u-gated", "fts-de", "random")
QUICK_SEEDS, ALL_SEEDS, MOST_SEEDS = 2, 30, 10_000

Out = Annotated[
    str,  # a Path would read an empty name as the current directory
    typer.Option(
        metavar="PATH",
        help="Directory of the results; those already there are not run again, and are in the tables.",
    ),
]
Seeds = Annotated[int, typer.Option(min=1, help="How many repetitions; seeds count from 0.")]
SomeSeeds = Annotated[
    int | None,
    typer.Option(min=1, help="How many repetitions; seeds count from 0.", show_default="30, quick 2"),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help=f"Only this one; may be repeated. {', '.join(METHODS)}", show_default="all"),
]
Surrogates = Annotated[
    list[str] | None,
    typer.Option("--surrogate", help=f"Only this one; may be repeated. {', '.join(SURROGATES)}"),
]
Setups = Annotated[
    list[str] | None,
    typer.Option("--setup", help=f"Only this one; may be repeated. {', '.join(casestudy.SETUPS)}", show_default="all"),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A smoke run: few rows, few methods, two seeds unless `--seeds` says more.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="How many processes.", show_default="one for each core")]
Engine = Annotated[str, typer.Option(help="Where to run: local, dask or ray.")]
Address = Annotated[
    str | None,
    typer.Option(help="Address of a running cluster, such as tcp://host:8786.", show_default="start one here"),
]


@app.command("paper")
def paper_command(
    out: Out = "runs/evidence-paper",
    seeds: SomeSeeds = None,
    method: Methods = None,
    surrogate: Surrogates = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Make Tables 1 to 4 of the paper, each number beside the paper's, and its figures.

    Every run is saved when it is done: stop at any time, and repeat the command to go on. The tables are printed, and
    written as text, Markdown and LaTeX into the directory, with the pictures.

    Example: `cboc evidence paper --quick`
    """
    directory = _directory(out)
    jobs = _jobs(QUICK if quick else paper.SCENARIOS, method, surrogate or list(SURROGATES), seeds, quick)
    report_paper(_run_rows(jobs, directory, engine, workers, address))


@app.command()
def honest(
    out: Out = "runs/evidence-honest",
    seeds: SomeSeeds = None,
    method: Methods = None,
    surrogate: Surrogates = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Run the tables with every common optimum at a random place, where the centre of the box is no hint.

    There are also rows that the paper does not have: sites whose optima are unrelated, an outlier, two groups, noise,
    other problems; late joiners, leavers, unequal budgets and failures, for the methods that can handle them. The
    surrogate is the default one, unless `--surrogate` says otherwise.

    Example: `cboc evidence honest --quick`
    """
    directory = _directory(out)
    scenarios = [row for row in honest_rows() if not quick or row.problem in ("levy-2", "branin")]
    jobs = _jobs(scenarios, method, surrogate or ["default"], seeds, quick)
    report_honest(_run_rows(jobs, directory, engine, workers, address))


@app.command("run")
def run_command(
    problem: Annotated[str, typer.Argument(help="Such as levy-4, ackley-5, branin, shekel-10, rosenbrock-4.")],
    sites: Annotated[int, typer.Option(min=1, help="K.")] = 10,
    kind: Annotated[Kind, typer.Option(help="How the sites' versions of the problem are related.")] = Kind.SHIFTED,
    displaced: Annotated[bool, typer.Option("--displaced", help="Put the common optimum at a random place.")] = False,
    noise: Annotated[float, typer.Option(min=0.0, help="In units of the problem's standard deviation.")] = 0.0,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="T, the number of rounds.", show_default="20 per dimension")
    ] = None,
    trouble: Annotated[Trouble | None, typer.Option(help="What happens to the study.", show_default="nothing")] = None,
    out: Out = "runs/evidence",
    seeds: Seeds = 10,
    method: Methods = None,
    surrogate: Surrogates = None,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Run any problem with any methods.

    Example: `cboc evidence run levy-4 --sites 5 --displaced --seeds 5 --method individual --method cboc-u-gated`
    """
    directory = _directory(out)
    scenario = Scenario(problem, sites, kind, displaced, noise, rounds, trouble)
    jobs = _jobs([scenario], method, surrogate or ["default"], seeds, quick=False)
    report_run(_run_rows(jobs, directory, engine, workers, address))


@app.command()
def tune(
    out: Out = "runs/evidence-tune", workers: Workers = None, engine: Engine = "local", address: Address = None
) -> None:
    """Run the small grid of every method that can be tuned, on seeds that no table reports.

    Example: `cboc evidence tune`
    """
    directory = _directory(out)
    report_tuning(_run_rows(tuning_jobs(), directory, engine, workers, address))


@app.command("theory")
def theory_command(
    out: Out = "runs/evidence-theory",
    seeds: Seeds = 10,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Check Theorem 1 in runs: how the cumulative regret grows, and whether Assumptions 2 and 3 hold.

    Example: `cboc evidence theory --seeds 2`
    """
    directory = _directory(out)
    jobs = [
        theory.Inquiry(scenario, method, seed)
        for seed in _seeds(seeds)
        for scenario in theory.SCENARIOS
        for method in theory.RULES
    ]
    results = _courses(directory)
    _run(theory.inquire, jobs, results, engine, workers, address)
    report_theory(results)


@app.command()
def biosensor(
    out: Out = "runs/evidence-biosensor",
    setup: Setups = None,
    seeds: SomeSeeds = None,
    method: Methods = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Run the paper's case study: biosensors designed by finite-element simulations, together and alone.

    `paper`: three sites with the paper's sensor and ten rounds, its Fig. 8; the optimum is a known corner of the box.
    `labs`: six labs, constructed, whose channels, chemistry, costs and stocks differ. `trouble`: the same with slow
    labs and simulations that fail. Each is run with the leader's rule, as in the paper's study, with the library's
    default, and alone. A simulation takes about a second, one of the labs' a third of that. There are 270 for
    `--quick`, which is the first of the three with two seeds, and 29,000 in all: three hours of CPU. A study of one
    method and seed is saved when it is done: stop at any time, and repeat the command to go on.

    Example: `cboc evidence biosensor --quick`
    """
    directory = _directory(out)
    setups = setup or (["paper"] if quick else list(casestudy.SETUPS))
    methods = method or casestudy.METHODS_SHOWN
    repeated = _seeds(seeds or (QUICK_SEEDS if quick else ALL_SEEDS))
    jobs = [casestudy.Attempt(name, one, seed) for seed in repeated for name in setups for one in methods]
    results = _accounts(directory)
    _run(casestudy.attempt, jobs, results, engine, workers, address)
    report_biosensor(results)


@app.command()
def show(directory: Annotated[Path, typer.Argument(help="A directory of results.")]) -> None:
    """Make tables and pictures of all results in a directory; runs nothing but the illustration of Sec. 5.2.

    Example: `cboc evidence show evidence`
    """
    rows, courses, accounts = _kept(directory)
    if courses.rows:
        report_theory(courses)
    if accounts.rows:
        report_biosensor(accounts)
    if rows.rows:
        for write in reports_of(rows):
            write(rows)


@app.command()
def verify(
    directory: Annotated[Path, typer.Argument(help="A directory of results.")],
    rows: Annotated[int, typer.Option(min=1, help="How many rows to run again.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Chooses them.")] = 0,
    workers: Workers = None,
) -> None:
    """Run some rows of a directory again and compare them bit for bit.

    Example: `cboc evidence verify evidence`
    """
    found, courses, accounts = _kept(directory)
    differing = [
        *_differing(work, found, rows, seed, workers),
        *_differing(theory.inquire, courses, rows, seed, workers),
        *_differing(casestudy.attempt, accounts, rows, seed, workers),
    ]
    for name in differing:
        typer.echo(f"differs: {name}")
    count = sum(min(rows, len(kept.rows)) for kept in (found, courses, accounts))
    typer.echo(f"{count - len(differing)} of {count} rows are the same bit for bit.")
    if differing and not found.is_at_home:
        notes.print(f"{directory} was begun with other versions of the libraries, which may round differently.")
    if differing:
        raise typer.Exit(1)


def _differing(work: Work[J], results: Results[J, R], count: int, seed: int, workers: int | None) -> list[str]:
    """Run a sample of `count` jobs again and return the names of those whose row differs."""
    kept = results.rows
    chosen = random.Random(seed).sample(sorted(kept), min(count, len(kept)))
    if not chosen:
        return []
    with bar(sum(job.size for job in chosen)) as advance:
        differing = []
        for job, (row, _) in engines.engine("local", workers)(work, chosen):
            advance(job.name, job.size)
            if row != kept[job].to_json():
                differing.append(job.name)
    return differing


def _directory(out: str) -> Path:
    if not out:
        raise CbocError("--out is a directory for the results, such as runs/mine; got an empty name.")
    return Path(out)


def _seeds(count: int) -> range:
    if count > MOST_SEEDS:
        raise CbocError(f"a benchmark has up to {MOST_SEEDS} seeds, but got {count}; give fewer.")
    return range(count)


def _jobs(
    scenarios: Sequence[Scenario], methods: list[str] | None, surrogates: Sequence[str], seeds: int | None, quick: bool
) -> list[Job]:
    chosen = methods or (QUICK_METHODS if quick else list(METHODS))
    repeated = _seeds(seeds or (QUICK_SEEDS if quick else ALL_SEEDS))
    able = [name for name in chosen if knows_trouble(name)]
    smooth = jobs_of([row for row in scenarios if row.trouble is None], chosen, surrogates, repeated)
    return smooth + jobs_of([row for row in scenarios if row.trouble is not None], able, surrogates, repeated)


def _run_rows(jobs: list[Job], out: Path, engine: str, workers: int | None, address: str | None) -> Rows:
    """Run these jobs and return all rows of the directory, including theirs."""
    results = _rows(out)
    _run(work, jobs, results, engine, workers, address)
    return results


def _run(
    work: Work[J],
    jobs: list[J],
    results: Results[J, R],
    engine: str,
    workers: int | None,
    address: str | None,
) -> None:
    where = engines.engine(engine, workers, address)
    todo = results.missing(jobs)
    every, left = (sum(job.size for job in some) for some in (jobs, todo))
    try:
        with bar(every, every - left) as advance:
            run(work, jobs, results, where, lambda job: advance(job.name, job.size))
    except KeyboardInterrupt:
        notes.print(f"Stopped; the finished runs are in {results.directory}. The same command goes on from there.")
        raise typer.Exit(130) from None


def _rows(directory: Path) -> Rows:
    return Results(directory, Row)


def _courses(directory: Path) -> Results[theory.Inquiry, theory.Course]:
    return Results(directory, theory.Course, "theory")


def _accounts(directory: Path) -> Results[casestudy.Attempt, casestudy.Account]:
    return Results(directory, casestudy.Account, "biosensor")


def _kept(
    directory: Path,
) -> tuple[Rows, Results[theory.Inquiry, theory.Course], Results[casestudy.Attempt, casestudy.Account]]:
    rows, courses, accounts = kept = _rows(directory), _courses(directory), _accounts(directory)
    if not any((rows.rows, courses.rows, accounts.rows)):
        raise CbocError(f"{directory} holds no results; `cboc evidence paper --out {directory}` makes some.")
    return kept
