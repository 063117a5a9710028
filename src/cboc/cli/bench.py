"""`cboc bench`: the evidence, by one command each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.bench import casestudy, engines, paper, report, sheet, theory, tuning
from cboc.bench.casesheet import case_sheets
from cboc.bench.illustration import illustrate
from cboc.bench.job import Job, Row, knows_trouble, work
from cboc.bench.methods import METHODS, SURROGATES
from cboc.bench.results import J, R, Results
from cboc.bench.runner import Work, jobs_of, run
from cboc.bench.scenario import Kind, Scenario, Trouble
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

Report = Callable[[Summary, Path], None]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The paper's experiments and their rivals: tables and pictures by one command.",
)

QUICK = (Scenario("levy-2", 5, Kind.SAME), Scenario("levy-2", 10), Scenario("branin", 10))
QUICK_METHODS = ("individual", "cboc", "cboc-u", "cboc-l", "cboc-u-gated", "fts-de", "random")
RESULT = ("cboc", "cboc-u", "fts-de")  # our default, the paper's rule, and its rival
QUICK_SEEDS, ALL_SEEDS, MOST_SEEDS = 2, 30, 10_000
HONEST = [row for rows in report.HONEST.values() for row in rows]

Out = Annotated[
    str,  # a Path would take an empty one for the current directory
    typer.Option(
        metavar="PATH",
        help="Directory of the results; what is there already is not run again, and stands in the tables.",
    ),
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
    str | None, typer.Option(help="Of a running cluster, such as tcp://host:8786.", show_default="start one here")
]


@app.command("paper")
def paper_command(
    out: Out = "runs/bench-paper",
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
    directory = _directory(out)
    jobs = _jobs(QUICK if quick else paper.SCENARIOS, method, surrogate or list(SURROGATES), seeds, quick)
    _report_paper(_run_rows(jobs, directory, engine, workers, address), directory)


@app.command()
def honest(
    out: Out = "runs/bench-honest",
    seeds: SomeSeeds = None,
    method: Methods = None,
    surrogate: Surrogates = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """The same with every common optimum at a random place, where the centre of the box is no hint.

    And rows that the paper does not have: sites whose optima are unrelated, an outlier, two groups, noise, other
    problems; late joiners, leavers, unequal budgets and failures, for the methods that know them. With the default
    surrogate, unless `--surrogate` says otherwise.

    Example: `cboc bench honest --quick`
    """
    directory = _directory(out)
    scenarios = [row for row in HONEST if not quick or row.problem in ("levy-2", "branin")]
    jobs = _jobs(scenarios, method, surrogate or ["default"], seeds, quick)
    _report_honest(_run_rows(jobs, directory, engine, workers, address), directory)


@app.command("run")
def run_command(
    problem: Annotated[str, typer.Argument(help="Such as levy-4, ackley-5, branin, shekel-10, rosenbrock-4.")],
    sites: Annotated[int, typer.Option(min=1, help="K.")] = 10,
    kind: Annotated[Kind, typer.Option(help="How the sites' versions of the problem are related.")] = Kind.SHIFTED,
    displaced: Annotated[bool, typer.Option("--displaced", help="The common optimum at a random place.")] = False,
    noise: Annotated[float, typer.Option(min=0.0, help="In units of the problem's standard deviation.")] = 0.0,
    rounds: Annotated[int | None, typer.Option(min=1, help="T.", show_default="20 per dimension")] = None,
    trouble: Annotated[Trouble | None, typer.Option(help="What happens to the study.", show_default="nothing")] = None,
    out: Out = "runs/bench",
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
    directory = _directory(out)
    scenario = Scenario(problem, sites, kind, displaced, noise, rounds, trouble)
    jobs = _jobs([scenario], method, surrogate or ["default"], seeds, quick=False)
    _report_run(_run_rows(jobs, directory, engine, workers, address), directory)


@app.command()
def tune(
    out: Out = "runs/bench-tune", workers: Workers = None, engine: Engine = "local", address: Address = None
) -> None:
    """The small grid of every method with a knob, on seeds that no table reports.

    Example: `cboc bench tune`
    """
    directory = _directory(out)
    rows = _run(work, _tuning_jobs(), _rows(directory), engine, workers, address)
    _report_tuning(Summary(rows), directory)


@app.command("theory")
def theory_command(
    out: Out = "runs/bench-theory",
    seeds: Seeds = 10,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Theorem 1 in runs: how the cumulative regret grows, and whether Assumptions 2 and 3 hold.

    Example: `cboc bench theory --seeds 2`
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
    _report_theory(results.rows.values(), directory)


@app.command()
def biosensor(
    out: Out = "runs/bench-biosensor",
    setup: Setups = None,
    seeds: SomeSeeds = None,
    method: Methods = None,
    quick: Quick = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """The paper's case study: biosensors designed by finite-element simulations, together and alone.

    `paper`: three sites with the paper's sensor and ten rounds, its Fig. 8; the optimum is a known corner of the box.
    `labs`: six labs, constructed, whose channels, chemistry, costs and stocks differ. `trouble`: the same with slow
    labs and simulations that fail. Each with the leader's rule, as in the paper's study, with the library's default,
    and alone. A simulation takes about a second; `--quick` is the first of the three with two seeds.

    Example: `cboc bench biosensor --quick`
    """
    directory = _directory(out)
    setups = setup or (["paper"] if quick else list(casestudy.SETUPS))
    methods = method or casestudy.METHODS_SHOWN
    repeated = _seeds(seeds or (QUICK_SEEDS if quick else ALL_SEEDS))
    jobs = [casestudy.Attempt(name, one, seed) for seed in repeated for name in setups for one in methods]
    results = _accounts(directory)
    _run(casestudy.attempt, jobs, results, engine, workers, address)
    _report_biosensor(results.rows.values(), directory)


@app.command()
def show(directory: Annotated[Path, typer.Argument(help="A directory of results.")]) -> None:
    """Tables and pictures of all that is there, running nothing but the illustration of Sec. 5.2.

    Example: `cboc bench show evidence`
    """
    rows, courses, accounts = _kept(directory)
    if courses.rows:
        _report_theory(courses.rows.values(), directory)
    if accounts.rows:
        _report_biosensor(accounts.rows.values(), directory)
    if rows.rows:
        summary = Summary(rows.rows.values())
        for write in _reports(rows.rows, summary):
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
        notes.print(f"{directory} was begun with other libraries than those here, which may round differently.")
    if differing:
        raise typer.Exit(1)


def _differing(work: Work[J], results: Results[J, R], count: int, seed: int, workers: int | None) -> list[str]:
    """The names of those, of so many jobs, that leave another row when they are run again."""
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
        raise CbocError("--out is a directory for the results, such as runs/mine; an empty name came.")
    return Path(out)


def _seeds(count: int) -> range:
    if count > MOST_SEEDS:
        raise CbocError(f"a benchmark has up to {MOST_SEEDS} seeds, but {count} came; give fewer.")
    return range(count)


def _tuning_jobs() -> list[Job]:
    return jobs_of(tuning.SCENARIOS, tuning.VARIANTS, ["default"], tuning.SEEDS)


def _jobs(
    scenarios: Sequence[Scenario], methods: list[str] | None, surrogates: Sequence[str], seeds: int | None, quick: bool
) -> list[Job]:
    chosen = methods or (QUICK_METHODS if quick else list(METHODS))
    repeated = _seeds(seeds or (QUICK_SEEDS if quick else ALL_SEEDS))
    able = [name for name in chosen if knows_trouble(name)]
    smooth = jobs_of([row for row in scenarios if row.trouble is None], chosen, surrogates, repeated)
    return smooth + jobs_of([row for row in scenarios if row.trouble is not None], able, surrogates, repeated)


def _run_rows(jobs: list[Job], out: Path, engine: str, workers: int | None, address: str | None) -> Summary:
    """All rows of the directory, those of these jobs among them."""
    results = _rows(out)
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


def _rows(directory: Path) -> Results[Job, Row]:
    return Results(directory, Row)


def _courses(directory: Path) -> Results[theory.Inquiry, theory.Course]:
    return Results(directory, theory.Course, "theory")


def _accounts(directory: Path) -> Results[casestudy.Attempt, casestudy.Account]:
    return Results(directory, casestudy.Account, "biosensor")


def _kept(
    directory: Path,
) -> tuple[Results[Job, Row], Results[theory.Inquiry, theory.Course], Results[casestudy.Attempt, casestudy.Account]]:
    rows, courses, accounts = kept = _rows(directory), _courses(directory), _accounts(directory)
    if not any((rows.rows, courses.rows, accounts.rows)):
        raise CbocError(f"{directory} holds no results; `cboc bench paper --out {directory}` makes some.")
    return kept


def _reports(jobs: Iterable[Job], summary: Summary) -> list[Report]:
    """Those that these rows are meant for."""
    if set(jobs) <= set(_tuning_jobs()):
        return [_report_tuning]
    reports: dict[Report, Sequence[Scenario]] = {_report_paper: paper.SCENARIOS, _report_honest: HONEST}
    return [write for write, rows in reports.items() if set(rows) & set(summary.scenarios)] or [_report_run]


def _report_tuning(summary: Summary, out: Path) -> None:
    _show(out, "tuning", [report.tuning_sheet(summary, "default")])


def _report_theory(courses: Iterable[theory.Course], out: Path) -> None:
    courses = theory.in_order(courses)
    _show(out, "theory", [report.theory_sheet(courses)])
    _draw({"theory": partial(evidence.theory, courses)}, out)


def _report_biosensor(accounts: Iterable[casestudy.Account], out: Path) -> None:
    accounts = sorted(accounts, key=lambda account: account.job)
    _show(out, "biosensor", case_sheets(accounts))
    _draw({"biosensor": partial(evidence.casestudy, accounts)}, out)


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
    if "cboc" in summary.methods and "default" in surrogates:
        results = _rows(out)
        costs = {job: results.costs[job.name] for job in results.rows if job.name in results.costs}
        pictures["result"] = partial(evidence.gains, summary, scenarios, "default", RESULT)
        pictures["savings"] = partial(evidence.savings, summary, scenarios, "default")
        pictures["price"] = partial(evidence.price, costs, scenarios)
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
    """The sheets on standard output, the details in their place if there are none, and all of them in files."""
    details = [detail for detail in details if detail.rows]
    every = [*sheets, *details]
    for writing in Writing:
        (out / f"{name}.{writing}").write_text(sheet.write(every, writing), encoding="utf-8")
    typer.echo(sheet.write(sheets or details, Writing.TEXT))
    notes.print(f"In full in {out}: {', '.join(f'{name}.{writing}' for writing in Writing)}.")


def _draw(pictures: Mapping[str, Picture], out: Path) -> None:
    """The pictures beside the tables; without matplotlib the tables have to do."""
    try:
        for name, picture in pictures.items():
            notes.print(f"Picture: {save(picture(), out / f'{name}.png')}")
    except CbocError as error:
        notes.print(f"No pictures: {error}")
