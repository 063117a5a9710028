"""Tables and pictures of a directory of results: printed, and written beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cboc.cli.notes import notes
from cboc.cli.pictures import save
from cboc.errors import CbocError
from cboc.evidence import figures, paper, theory
from cboc.evidence.casestudy import Account, Attempt
from cboc.evidence.dial import Probe, Reading
from cboc.evidence.illustration import illustrate
from cboc.evidence.job import Job, Row
from cboc.evidence.methods import tuning
from cboc.evidence.real.campaign import Campaign, Progress
from cboc.evidence.real.provenance import unpublished
from cboc.evidence.results import EDITION, J, R, Results
from cboc.evidence.runner import jobs_of
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables import simulation
from cboc.evidence.tables.casestudy import case_tables
from cboc.evidence.tables.dial import Readings, dial_details, dial_tables
from cboc.evidence.tables.real import Campaigns, real_details, real_tables
from cboc.evidence.tables.summary import Summary
from cboc.evidence.tables.table import Table, Writing, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Picture = Callable[[], Figure]

Rows = Results[Job, Row]
Report = Callable[[Rows], None]

RESULT = ("cboc", "cboc-u", "fts-de")  # our default, the paper's rule, and its rival


def honest_rows() -> list[Scenario]:
    """Return all scenarios of `cboc evidence honest`."""
    return [row for rows in simulation.HONEST.values() for row in rows]


def tuning_jobs() -> list[Job]:
    """Return all jobs of `cboc evidence tune`."""
    return jobs_of(tuning.SCENARIOS, tuning.VARIANTS, ["default"], tuning.SEEDS)


def reports_of(results: Rows) -> list[Report]:
    """Return the reports that these rows are meant for."""
    if set(results.rows) <= set(tuning_jobs()):
        return [report_tuning]
    there = {job.scenario for job in results.rows}
    reports: dict[Report, Sequence[Scenario]] = {report_paper: paper.SCENARIOS, report_honest: honest_rows()}
    return [write for write, rows in reports.items() if there & set(rows)] or [report_run]


def report_rows(results: Rows) -> None:
    for report in reports_of(results):
        report(results)


def report_paper(results: Rows) -> None:
    summary = _summary(results).only(paper.SCENARIOS)
    surrogates = summary.surrogates
    _show(results, "paper", simulation.paper_tables(summary, surrogates), simulation.paper_details(summary, surrogates))
    scenarios = [scenario for scenario in paper.SCENARIOS if scenario in summary.scenarios]
    has_shekel = any(scenario.problem == "shekel-10" for scenario in scenarios)
    pictures: dict[str, Picture] = {
        "path": lambda: figures.path(illustrate(0, tuple(surrogates))),
        "published": partial(figures.published, summary, surrogates),
        **({"sites": partial(figures.sites, summary, surrogates)} if has_shekel else {}),
        **{f"gains-{name}": partial(figures.gains, summary, scenarios, name) for name in surrogates},
    }
    if "cboc" in summary.methods and "default" in surrogates:
        costs = {job: results.costs[job.name] for job in results.rows if job.name in results.costs}
        pictures["result"] = partial(figures.gains, summary, scenarios, "default", RESULT)
        pictures["savings"] = partial(figures.savings, summary, scenarios, "default")
        if has_shekel:
            every = _summary(results).only([*paper.SCENARIOS, *paper.SIZES])
            pictures["crowd"] = partial(figures.crowd, every, "default")
        pictures["price"] = partial(figures.price, costs, scenarios)
    _draw(pictures, results.directory)


def report_honest(results: Rows) -> None:
    honest = honest_rows()
    summary = _summary(results).only(honest)
    surrogates = summary.surrogates
    _show(
        results, "honest", simulation.honest_tables(summary, surrogates), simulation.honest_details(summary, surrogates)
    )
    scenarios = [scenario for scenario in honest if scenario in summary.scenarios]
    pictures = {f"honest-{name}": partial(figures.gains, summary, scenarios, name) for name in surrogates}
    _draw(pictures, results.directory)


def report_run(results: Rows) -> None:
    summary = _summary(results)
    tables = [
        simulation.detail_table(summary, summary.scenarios, name, f"{name} surrogate") for name in summary.surrogates
    ]
    _show(results, "run", tables)


def report_tuning(results: Rows) -> None:
    _show(results, "tuning", [simulation.tuning_table(_summary(results), "default")])


def report_theory(results: Results[theory.Inquiry, theory.Course]) -> None:
    courses = theory.in_order(results.rows.values())
    _show(results, "theory", [simulation.theory_table(courses)])
    _draw({"theory": partial(figures.theory, courses)}, results.directory)


def report_biosensor(results: Results[Attempt, Account]) -> None:
    accounts = sorted(results.rows.values(), key=lambda account: account.job)
    _show(results, "biosensor", case_tables(accounts))
    _draw({"biosensor": partial(figures.casestudy, accounts)}, results.directory)


def report_dial(results: Results[Probe, Reading]) -> None:
    rows = [results.rows[job] for job in sorted(results.rows)]
    _show(results, "dial", dial_tables(rows), dial_details(rows))
    readings = Readings(rows)
    pictures: dict[str, Picture] = {}
    if readings.sites(*readings.dials):
        pictures["when"] = partial(figures.when, readings)
    if readings.sites(*readings.variants):
        pictures["variants"] = partial(figures.variants, readings)
    if readings.is_mixed:
        notes.print(f"{results.directory} holds reported seeds, too: the tables show these, and not those for tuning.")
    _draw(pictures, results.directory)


def report_real(results: Results[Campaign, Progress]) -> None:
    rows = [results.rows[job] for job in sorted(results.rows)]
    _show(results, "real", real_tables(rows), real_details(rows))
    campaigns = Campaigns(rows)
    for sentence in unpublished(results.directory, dict.fromkeys(row.job.family for row in rows)):
        notes.print(sentence)
    pictures: dict[str, Picture] = {}
    for initial, pace in campaigns.groups:
        pictures[f"progress-{initial}-{pace}"] = partial(figures.progress, campaigns, initial, pace)
        pictures[f"arrivals-{initial}-{pace}"] = partial(figures.arrivals, campaigns, initial, pace)
    _draw(pictures, results.directory)


def _summary(results: Rows) -> Summary:
    return Summary(results.rows.values())


def _show(results: Results[J, R], name: str, tables: list[Table], details: Sequence[Table] = ()) -> None:
    """Print the tables, or the details if there are no tables, and write all of them to files."""
    out = results.directory
    details = [detail for detail in details if detail.rows]
    every = [*tables, *details]
    typer.echo(write(tables or details, Writing.TEXT))
    if not every:
        notes.print(f"There is nothing to compare in {out} yet: no method has rows beside those of working alone.")
    if results.edition != EDITION:
        notes.print(f"These are numbers of edition {results.edition}, an earlier version; today's are {EDITION}'s.")
    for writing in Writing:
        (out / f"{name}.{writing}").write_text(write(every, writing), encoding="utf-8")
    notes.print(f"In full in {out}: {', '.join(f'{name}.{writing}' for writing in Writing)}.")


def _draw(pictures: Mapping[str, Picture], out: Path) -> None:
    """Write the pictures beside the tables; without matplotlib there are only the tables."""
    try:
        for name, picture in pictures.items():
            notes.print(f"Picture: {save(picture(), out / f'{name}.png')}")
    except CbocError as error:
        notes.print(f"No pictures: {error}")
