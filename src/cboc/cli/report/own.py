"""What one site has done so far, from its own file, as sections: for its own people, with its outcomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cboc.advice.spending import spending
from cboc.cli import captions
from cboc.cli.lab import site_of
from cboc.cli.pictures import PICTURES, Kind, lack
from cboc.cli.report import learned
from cboc.cli.report.html import Html, element
from cboc.cli.report.page import facts, paragraph, picture, section, table
from cboc.cli.show import cell, many
from cboc.cli.view import View
from cboc.data.numbers import written
from cboc.data.spreadsheets import as_text
from cboc.plots.terrain import label
from cboc.runs.course import OwnCourse
from cboc.site.outcomes import best_in_words, best_outcomes, outcomes, wish
from cboc.site.site import Site
from cboc.site.table import table_of
from cboc.site.trial import TOLD, Status

SHOWN = {
    Kind.PROGRESS: ("Progress", "The best outcome so far against the site's experiments."),
    Kind.CALENDAR: ("By the calendar", "The same against time."),
    Kind.PATHS: ("Where the experiments went", ""),
    Kind.MOVES: (
        "From proposed to mixed",
        "From the site's own proposal to the mix that came back, and which of the two it ran.",
    ),
}
VOLUMES = (
    "The volume that the front reaches against the site's experiments: from the references, or from the worst of the "
    "initial results."
)
PRIVATE = "This page holds outcomes. It was made from the site's own file, and nothing of it was sent anywhere."


def content(place: Path, say: Callable[[str], None]) -> tuple[str, str, list[Html]]:
    """Return the title, lead and sections of the report."""
    site = site_of(place)
    course = OwnCourse(site, place)
    view = View(course)
    if not site.trials:
        raise course.emptiness
    drawn = []
    for kind, (title, words) in SHOWN.items():
        if not lack(view, kind):
            say(f"drawing: {kind}")
            words = words or captions.paths(view)
            words = VOLUMES if kind is Kind.PROGRESS and len(site.study.objectives) > 1 else words
            drawn.append(section(title, picture(PICTURES[kind](view), f"{title}. {words}", words)))
    sections = [
        section("Best design", *_best(site)),
        *learned.upcoming(view),
        *learned.front(view, say),
        *learned.sections(view, say),
        *drawn,
        *_failures(site),
        section("All experiments", _experiments(site)),
        section("How it was made", _made(site), paragraph(PRIVATE, class_="note")),
    ]
    return f"{site.name} in {site.study.name}: report", _lead(site), sections


def _lead(site: Site) -> str:
    told = sum(trial.status in TOLD for trial in site.trials)
    others = ", ".join(name for name in site.study.sites if name != site.name)
    start = f"{many(told, 'experiment')} so far, together with {others or 'nobody else'}."
    if not len(site.dataset):
        return f"{start} No outcome yet."
    if not site.goal.is_plain:
        wanted = "; ".join(f"{name} {wish(site.goal, name)}" for name in site.goal.measured)
        return f"{start} Wanted: {wanted}. The best: {best_in_words(site)}."
    what = site.study.objective
    return f"{start} The best {what.word}, to {site.direction}, is {what.of(written(site.best.y))}."


def _best(site: Site) -> list[Html]:
    if not len(site.dataset):
        return [paragraph("No experiment has an outcome yet.")]
    space, design = site.space, site.best_design
    rows = [[label(space, name), p.shown(design[name])] for name, p in space.parameters.items()]
    measured = [[each.column, cell(best_outcomes(site)[each.name])] for each in outcomes(site)]
    note = [] if site.results.is_allowed[site.best.index] else [paragraph("Every result so far breaks a limit.")]
    return [*note, table(["parameter", "value"], [*measured, *rows])]


def _failures(site: Site) -> list[Html]:
    """Which experiments failed, and why; nothing if none did."""
    failed = [trial for trial in site.trials if trial.status is Status.FAILED]
    rows = [[trial.number, trial.note or "no reason was given"] for trial in failed]
    return [section("What failed", table(["trial", "reason"], rows))] if failed else []


def _experiments(site: Site) -> Html:
    """All of them, as `cboc export` writes them."""
    exported = table_of(site)
    is_used = [any(row[k] is not None for row in exported.cells) for k in range(len(exported.columns))]
    columns = [name for name, used in zip(exported.columns, is_used, strict=True) if used]
    lines = [[value for value, used in zip(row, is_used, strict=True) if used] for row in exported.cells]
    return table(
        columns, [[cell(value) if isinstance(value, float) else as_text(value) for value in row] for row in lines]
    )


def _made(site: Site) -> Html:
    spent = spending(site)
    return facts(
        {
            "command": element("code", "cboc report"),
            "experiments, without the initial ones": f"{site.turns} of {site.study.budget(site.name)}",
            "initial experiments": site.initial,
            "results from before the study": len(site.data) + len(site.data.failures),
            "cost": f"{spent.spent:g}" if spent.costs else "not told",
            "digest of the study": site.study.digest[:12],
        }
    )
