"""`cboc bench`: the evidence, by one command each."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.bench import engines, paper, report, sheet, theory, tuning
from cboc.bench.illustration import illustrate
from cboc.bench.job import Job, Row, work
from cboc.bench.methods import METHODS, SURROGATES
from cboc.bench.results import J, R, Results
from cboc.bench.runner import Work, jobs_of, run
from cboc.bench.scenario import Kind, Scenario
from cboc.bench.sheet import Sheet, Writing
from cboc.bench.summary import Summary
from cboc.cli.bar import bar
from cboc.cli.notes import notes
from cboc.cli.pictures import save
from cboc.errors import CbocError
from cboc.plots import evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Picture = Callable[[], Figure]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The paper's experiments and their rivals: tables and pictures by one command.",
)

QUICK = (Scenario("levy-2", 5, Kind.SAME), Scenario("levy-2", 10), Scenario("branin", 10))
QUICK_METHODS = ("individual", "cboc-u", "cboc-l", "cboc-u-gated", "fts-de", "random")
QUICK_SEEDS, ALL_SEEDS = 2, 30
HONEST = [row for rows in report.HONEST.values() for row in rows]

Out = Annotated[
    Path,
    typer.Option(help="Directory of the results; what is there already is not run again, and stands in the tables."),
]
Seeds = Annotated[int, typer.Option(min=1, help="How many repetitions, with seeds counted from 0.")]
SomeSeeds = Annotated[
    int | None,
    typer.Option(min=1, help="How many repetitions, with seeds counted from 0.", show_default="30, quick 2"),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help=f"Only this one; may be repeated. {', '.join(METHODS)}", show_default="all"),
]
Surrogates = Annotated[
    list[str] | None,
    typer.Option("--surrogate", help=f"Only this one; may be repeated. {', '.join(SURROGATES)}"),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A smoke run: few rows, few methods, two seeds unless `--seeds` says more.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="How many processes.", show_default="one for each core")]
Engine = Annotated[str, typer.Option(help="Where to run: local, dask or ray.")]
Address = Annotated[
    str | None, typer.Option(help="Of a running cluster, such as tcp://host:8786.", show_default="start one here")
]


@app.command("paper")
def paper_command(
    out: Out = Path("runs/bench-paper"),
    seeds: SomeSeeds = None,
    method: Methods = None,
    surrogate: Surrogates = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Tables 1 to 4 of the paper, each number beside the paper's, and its figures.

    Every run is on disk when it is done: stop at any time, and give the same command again to go on. The tables are
    printed, and written as text, Markdown and LaTeX into the directory, with the pictures.

    Example: `cboc bench paper --quick`
    """
    jobs = _jobs(QUICK if quick else paper.SCENARIOS, method, surrogate or list(SURROGATES), seeds, quick)
    _report_paper(_run_rows(jobs, out, engine, workers, address), out)


@app.command()
def honest(
    out: Out = Path("runs/bench-honest"),
    seeds: SomeSeeds = None,
    method: Methods = None,
    surrogate: Surrogates = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """The same with every common optimum at a random place, where the centre of the box is no hint.

    And rows that the paper does not have: sites whose optima are unrelated, noise, other problems. With the default
    surrogate, unless `--surrogate` says otherwise.

    Example: `cboc bench honest --quick`
    """
    scenarios = [row for row in HONEST if not quick or row.problem in ("levy-2", "branin")]
    jobs = _jobs(scenarios, method, surrogate or ["default"], seeds, quick)
    _report_honest(_run_rows(jobs, out, engine, workers, address), out)


@app.command("run")
def run_command(
    problem: Annotated[str, typer.Argument(help="Such as levy-4, ackley-5, branin, shekel-10, rosenbrock-4.")],
    sites: Annotated[int, typer.Option(min=1, help="K.")] = 10,
    kind: Annotated[Kind, typer.Option(help="How the sites' versions of the problem are related.")] = Kind.SHIFTED,
    displaced: Annotated[bool, typer.Option("--displaced", help="The common optimum at a random place.")] = False,
    noise: Annotated[float, typer.Option(min=0.0, help="In units of the problem's standard deviation.")] = 0.0,
    rounds: Annotated[int | None, typer.Option(min=1, help="T.", show_default="20 per dimension")] = None,
    out: Out = Path("runs/bench"),
    seeds: Seeds = 10,
    method: Methods = None,
    surrogate: Surrogates = None,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Any problem with any methods.

    Example: `cboc bench run levy-4 --sites 5 --displaced --seeds 5 --method individual --method cboc-u-gated`
    """
    scenario = Scenario(problem, sites, kind, displaced, noise, rounds)
    jobs = _jobs([scenario], method, surrogate or ["default"], seeds, quick=False)
    _report_run(_run_rows(jobs, out, engine, workers, address), out)


@app.command()
def tune(
    out: Out = Path("runs/bench-tune"), workers: Workers = None, engine: Engine = "local", address: Address = None
) -> None:
    """The small grid of every method with a knob, on seeds that no table reports.

    Example: `cboc bench tune`
    """
    jobs = jobs_of(tuning.SCENARIOS, tuning.VARIANTS, ["default"], tuning.SEEDS)
    rows = _run(work, jobs, Results(out, Row), engine, workers, address)
    _show(out, "tuning", [report.tuning_sheet(Summary(rows), "default")])


@app.command("theory")
def theory_command(
    out: Out = Path("runs/bench-theory"),
    seeds: Seeds = 10,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Theorem 1 in runs: how the cumulative regret grows, and whether Assumptions 2 and 3 hold.

    Example: `cboc bench theory --seeds 2`
    """
    jobs = [
        theory.Inquiry(scenario, method, seed)
        for seed in range(seeds)
        for scenario in theory.SCENARIOS
        for method in theory.RULES
    ]
    courses = _run(theory.inquire, jobs, Results(out, theory.Course, "theory"), engine, workers, address)
    _show(out, "theory", [report.theory_sheet(courses)])
    _draw({"theory": partial(evidence.theory, courses)}, out)


@app.command()
def show(directory: Annotated[Path, typer.Argument(help="A directory of results.")]) -> None:
    """Tables and pictures of all that is there, running nothing but the illustration of Sec. 5.2.

    Example: `cboc bench show evidence`
    """
    summary = Summary(_kept(directory).rows.values())
    reports = {_report_paper: paper.SCENARIOS, _report_honest: HONEST}
    chosen = [write for write, rows in reports.items() if set(rows) & set(summary.scenarios)]
    for write in chosen or [_report_run]:
        write(summary, directory)


@app.command()
def verify(
    directory: Annotated[Path, typer.Argument(help="A directory of results.")],
    rows: Annotated[int, typer.Option(min=1, help="How many rows to run again.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Chooses them.")] = 0,
    workers: Workers = None,
) -> None:
    """Run some rows of a directory again and compare them bit for bit.

    Example: `cboc bench verify evidence`
    """
    results = _kept(directory)
    kept = results.rows
    chosen = random.Random(seed).sample(sorted(kept), min(rows, len(kept)))
    differing = []
    with bar(sum(job.size for job in chosen)) as advance:
        for job, (row, _) in engines.engine("local", workers)(work, chosen):
            advance(job.name, job.size)
            if row != kept[job].to_json():
                differing.append(job.name)
    for name in differing:
        typer.echo(f"differs: {name}")
    typer.echo(f"{len(chosen) - len(differing)} of {len(chosen)} rows are the same bit for bit.")
    if differing and not results.is_at_home:
        notes.print(f"{directory} was begun with other libraries than those here, which may round differently.")
    if differing:
        raise typer.Exit(1)


def _jobs(
    scenarios: Sequence[Scenario], methods: list[str] | None, surrogates: Sequence[str], seeds: int | None, quick: bool
) -> list[Job]:
    chosen = methods or (QUICK_METHODS if quick else list(METHODS))
    return jobs_of(scenarios, chosen, surrogates, range(seeds or (QUICK_SEEDS if quick else ALL_SEEDS)))


def _run_rows(jobs: list[Job], out: Path, engine: str, workers: int | None, address: str | None) -> Summary:
    """All rows of the directory, those of these jobs among them."""
    results: Results[Job, Row] = Results(out, Row)
    _run(work, jobs, results, engine, workers, address)
    return Summary(results.rows.values())


def _run(
    work: Work[J],
    jobs: list[J],
    results: Results[J, R],
    engine: str,
    workers: int | None,
    address: str | None,
) -> list[R]:
    where = engines.engine(engine, workers, address)
    todo = results.missing(jobs)
    every, left = (sum(job.size for job in some) for some in (jobs, todo))
    try:
        with bar(every, every - left) as advance:
            return run(work, jobs, results, where, lambda job: advance(job.name, job.size))
    except KeyboardInterrupt:
        notes.print(f"Stopped; what was done is in {results.directory}. The same command goes on from there.")
        raise typer.Exit(130) from None


def _kept(directory: Path) -> Results[Job, Row]:
    results: Results[Job, Row] = Results(directory, Row)
    if not results.rows:
        raise CbocError(f"{directory} holds no results; `cboc bench paper --out {directory}` makes some.")
    return results


def _report_paper(summary: Summary, out: Path) -> None:
    summary = summary.only(paper.SCENARIOS)
    surrogates = summary.surrogates
    _show(out, "paper", report.paper_sheets(summary, surrogates), report.paper_details(summary, surrogates))
    scenarios = [scenario for scenario in paper.SCENARIOS if scenario in summary.scenarios]
    has_shekel = any(scenario.problem == "shekel-10" for scenario in scenarios)
    pictures: dict[str, Picture] = {
        "path": lambda: evidence.path(illustrate(0, tuple(surrogates))),
        "published": partial(evidence.published, summary, surrogates),
        **({"sites": partial(evidence.sites, summary, surrogates)} if has_shekel else {}),
        **{f"gains-{name}": partial(evidence.gains, summary, scenarios, name) for name in surrogates},
    }
    _draw(pictures, out)


def _report_honest(summary: Summary, out: Path) -> None:
    summary = summary.only(HONEST)
    surrogates = summary.surrogates
    _show(out, "honest", report.honest_sheets(summary, surrogates), report.honest_details(summary, surrogates))
    scenarios = [scenario for scenario in HONEST if scenario in summary.scenarios]
    _draw({f"honest-{name}": partial(evidence.gains, summary, scenarios, name) for name in surrogates}, out)


def _report_run(summary: Summary, out: Path) -> None:
    sheets = [report.detail_sheet(summary, summary.scenarios, name, f"{name} surrogate") for name in summary.surrogates]
    _show(out, "run", sheets)


def _show(out: Path, name: str, sheets: list[Sheet], details: Sequence[Sheet] = ()) -> None:
    """The sheets on standard output, and all of them in files."""
    every = [*sheets, *(detail for detail in details if detail.rows)]
    for writing in Writing:
        (out / f"{name}.{writing}").write_text(sheet.write(every, writing), encoding="utf-8")
    typer.echo(sheet.write(sheets, Writing.TEXT))
    notes.print(f"In full in {out}: {', '.join(f'{name}.{writing}' for writing in Writing)}.")


def _draw(pictures: Mapping[str, Picture], out: Path) -> None:
    """The pictures beside the tables; without matplotlib the tables have to do."""
    try:
        for name, picture in pictures.items():
            notes.print(f"Picture: {save(picture(), out / f'{name}.png')}")
    except CbocError as error:
        notes.print(f"No pictures: {error}")
