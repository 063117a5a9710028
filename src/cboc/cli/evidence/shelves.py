"""The shelves of a directory of results, one for each kind of job: how it is filled, verified and shown."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic

import typer

from cboc.cli.evidence import reports
from cboc.cli.notes import notes
from cboc.cli.progress_bar import bar
from cboc.errors import CbocError
from cboc.evidence import casestudy, dial, engines, theory
from cboc.evidence.job import Row, work
from cboc.evidence.real import campaign
from cboc.evidence.results import J, R, Results
from cboc.evidence.runner import Work, run


@dataclass(frozen=True)
class Place:
    """Where jobs run."""

    engine: str = "local"
    workers: int | None = None
    address: str | None = None


@dataclass(frozen=True)
class Shelf(Generic[J, R]):
    """The place of one kind of job."""

    file: str  # that holds its rows
    row: type[R]
    work: Work[J]
    report: Callable[[Results[J, R]], None]

    def kept(self, directory: Path) -> Results[J, R]:
        """Its results in a directory."""
        return Results(directory, self.row, self.file)

    def run(self, jobs: list[J], directory: Path, place: Place) -> Results[J, R]:
        """Run these jobs where they are missing, and return all results of the directory, including theirs."""
        results, where = self.kept(directory), engines.engine(place.engine, place.workers, place.address)
        every, left = (sum(job.size for job in some) for some in (jobs, results.missing(jobs)))
        try:
            with bar(every, every - left) as advance:
                run(self.work, jobs, results, where, lambda job: advance(job.name, job.size))
        except KeyboardInterrupt:
            notes.print(f"Stopped; the finished runs are in {directory}. The same command goes on from there.")
            raise typer.Exit(130) from None
        return results

    def differing(self, kept: Results[J, R], count: int, seed: int, workers: int | None) -> list[str]:
        """Run a sample of `count` jobs again and return the names of those whose row differs."""
        kept.check_edition()
        chosen = random.Random(seed).sample(sorted(kept.rows), min(count, len(kept.rows)))
        if not chosen:
            return []
        with bar(sum(job.size for job in chosen)) as advance:
            differing = []
            for job, (row, _) in engines.engine("local", workers)(self.work, chosen):
                advance(job.name, job.size)
                if row != kept.rows[job].to_json():
                    differing.append(job.name)
        return differing


def on_tables(data: Path | None) -> Shelf[campaign.Campaign, campaign.Progress]:
    """The shelf of the campaigns on the real tables of a directory, without which none can be run."""
    return Shelf("real", campaign.Progress, partial(campaign.carry_out, data), reports.report_real)


ROWS = Shelf("results", Row, work, reports.report_rows)
THEORY = Shelf("theory", theory.Course, theory.inquire, reports.report_theory)
DIAL = Shelf("dial", dial.Reading, dial.explore, reports.report_dial)
BIOSENSOR = Shelf("biosensor", casestudy.Account, casestudy.attempt, reports.report_biosensor)


def shelves(directory: Path, data: Path | None = None) -> list[tuple[Shelf[Any, Any], Results[Any, Any]]]:
    """The shelves of a directory that are not empty, each with its results."""
    every: Sequence[Shelf[Any, Any]] = (THEORY, BIOSENSOR, DIAL, on_tables(data), ROWS)
    found = [(shelf, kept) for shelf in every if (kept := shelf.kept(directory)).rows]
    if not found:
        raise CbocError(f"{directory} holds no results; `cboc evidence paper --out {directory}` makes some.")
    return found
