"""The commands of `cboc evidence`: which jobs to run, where, and which are already done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.evidence.dial import dial
from cboc.cli.evidence.options import (
    ALL_SEEDS,
    QUICK_SEEDS,
    Address,
    Engine,
    Methods,
    Out,
    Quick,
    Seeds,
    SomeSeeds,
    Surrogates,
    Workers,
    directory_of,
    seeds_of,
)
from cboc.cli.evidence.real import real
from cboc.cli.evidence.reports import (
    honest_rows,
    report_honest,
    report_paper,
    report_run,
    report_tuning,
    tuning_jobs,
)
from cboc.cli.evidence.shelves import BIOSENSOR, ROWS, THEORY, Place, shelves
from cboc.cli.notes import notes
from cboc.evidence import casestudy, paper, theory
from cboc.evidence.job import Job, knows_trouble
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.real.campaign import Progress
from cboc.evidence.real.provenance import check_tables
from cboc.evidence.runner import jobs_of
from cboc.evidence.scenario import Kind, Scenario, Trouble
from cboc.strategy.bayesian import SURROGATES

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The paper's experiments and their rivals: tables and pictures from one command.",
)

QUICK = (Scenario("levy-2", 5, Kind.SAME), Scenario("levy-2", 10), Scenario("branin", 10))
QUICK_METHODS = ("individual", "cboc", "cboc-u", "cboc-l", "cboc-u-gated", "fts-de", "random")

Setups = Annotated[
    list[str] | None,
    typer.Option("--setup", help=f"Only this one; may be repeated. {', '.join(casestudy.SETUPS)}", show_default="all"),
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
    directory = directory_of(out)
    jobs = _jobs(QUICK if quick else paper.SCENARIOS, method, surrogate or list(SURROGATES), seeds, quick)
    report_paper(ROWS.run(jobs, directory, Place(engine, workers, address)))


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
    directory = directory_of(out)
    scenarios = [row for row in honest_rows() if not quick or row.problem in ("levy-2", "branin")]
    jobs = _jobs(scenarios, method, surrogate or ["default"], seeds, quick)
    report_honest(ROWS.run(jobs, directory, Place(engine, workers, address)))


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
    directory = directory_of(out)
    scenario = Scenario(problem, sites, kind, displaced, noise, rounds, trouble)
    jobs = _jobs([scenario], method, surrogate or ["default"], seeds, quick=False)
    report_run(ROWS.run(jobs, directory, Place(engine, workers, address)))


@app.command()
def tune(
    out: Out = "runs/evidence-tune", workers: Workers = None, engine: Engine = "local", address: Address = None
) -> None:
    """Run the small grid of every method that can be tuned, on seeds that no table reports.

    Example: `cboc evidence tune`
    """
    directory = directory_of(out)
    report_tuning(ROWS.run(tuning_jobs(), directory, Place(engine, workers, address)))


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
    directory = directory_of(out)
    jobs = [
        theory.Inquiry(scenario, method, seed)
        for seed in seeds_of(seeds)
        for scenario in theory.SCENARIOS
        for method in theory.RULES
    ]
    THEORY.report(THEORY.run(jobs, directory, Place(engine, workers, address)))


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
    directory = directory_of(out)
    setups = setup or (["paper"] if quick else list(casestudy.SETUPS))
    methods = method or casestudy.METHODS_SHOWN
    repeated = seeds_of(seeds or (QUICK_SEEDS if quick else ALL_SEEDS))
    jobs = [casestudy.Attempt(name, one, seed) for seed in repeated for name in setups for one in methods]
    BIOSENSOR.report(BIOSENSOR.run(jobs, directory, Place(engine, workers, address)))


app.command()(dial)
app.command()(real)


@app.command()
def show(directory: Annotated[Path, typer.Argument(help="A directory of results.")]) -> None:
    """Make tables and pictures of all results in a directory; runs nothing but the illustration of Sec. 5.2.

    Example: `cboc evidence show evidence`
    """
    for shelf, kept in shelves(directory):
        shelf.report(kept)


@app.command()
def verify(
    directory: Annotated[Path, typer.Argument(help="A directory of results.")],
    rows: Annotated[int, typer.Option(min=1, help="How many rows to run again.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Chooses them.")] = 0,
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Directory of the public tables, for runs on real ones.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Run some rows of a directory again and compare them bit for bit.

    Example: `cboc evidence verify evidence`
    """
    found = shelves(directory, data)
    for _, kept in found:
        if kept.kind is Progress and data is not None:
            check_tables(directory, data, dict.fromkeys(job.family for job in kept.rows))
    if data is not None and not any(kept.kind is Progress for _, kept in found):
        notes.print("There is no run on real tables here; --data has no effect.")
    differing = [name for shelf, kept in found for name in shelf.differing(kept, rows, seed, workers)]
    for name in differing:
        typer.echo(f"differs: {name}")
    count = sum(min(rows, len(kept.rows)) for _, kept in found)
    typer.echo(f"{count - len(differing)} of {count} rows are the same bit for bit.")
    if differing and not found[0][1].is_at_home:
        notes.print(f"{directory} was begun with other versions of the libraries, which may round differently.")
    if differing:
        raise typer.Exit(1)


def _jobs(
    scenarios: Sequence[Scenario], methods: list[str] | None, surrogates: Sequence[str], seeds: int | None, quick: bool
) -> list[Job]:
    chosen = methods or (QUICK_METHODS if quick else list(METHODS))
    repeated = seeds_of(seeds or (QUICK_SEEDS if quick else ALL_SEEDS))
    able = [name for name in chosen if knows_trouble(name)]
    smooth = jobs_of([row for row in scenarios if row.trouble is None], chosen, surrogates, repeated)
    return smooth + jobs_of([row for row in scenarios if row.trouble is not None], able, surrogates, repeated)
