"""A run of `cboc simulate` as sections: what the sites gain from working together, and how they got there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cboc.cli import captions
from cboc.cli.pictures import COURSES, PICTURES, Kind, lack
from cboc.cli.report import learned
from cboc.cli.report.html import Html, element
from cboc.cli.report.page import facts, paragraph, picture, section, table
from cboc.cli.rows import best_rows
from cboc.cli.show import Row, cell, columns, many
from cboc.cli.view import View
from cboc.evidence.results import libraries
from cboc.plots.terrain import label
from cboc.runs.compare import results
from cboc.runs.history import History
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.site.trial import Status

SHOWN = {
    Kind.PROGRESS: ("Progress", "The best outcome so far of each site against its experiments."),
    Kind.CALENDAR: ("By the calendar", "The same against the time that experiments take."),
    Kind.GAIN: ("Gains", "What each site gains by working together: bars to the right are gains, to the left losses."),
    Kind.PATHS: ("Where the sites went", ""),
    Kind.MOVES: (
        "From proposed to mixed",
        "From each site's own proposal to the mix that came back, and which of the two it ran, first seed.",
    ),
    Kind.MATRIX: (
        "The weights of the mixes",
        "W(t) of the first seed, a row for each site. A site that worked alone or declined the mix did not "
        "use its row: it ran its own proposal, whose weight is then 1.",
    ),
}
GAPS = (
    "The mean Gap against experiments: 0 is the best initial outcome, 1 the optimum."  # progress, if optima are known
)
VOLUMES = (
    "The volume that each site's front reaches against its experiments: from its references, or from the worst of its "
    "initial results."
)
BEST = "The best of all seeds. Turn 0: before the first turn. (cboc best and cboc export count turns from 0.)"
MOST_REASONS = 20  # of failures, in the table
COLOURS = "Together in colour, alone in grey."

Ways = Mapping[str, Sequence[History]]  # together, and alone if that was run


def content(directory: Path, say: Callable[[str], None]) -> tuple[str, str, list[Html]]:
    """Return the title, lead and sections of the report."""
    run = Run(directory)
    view = View(run)
    rows = results(run)
    ways = {how: histories for how in (TOGETHER, ALONE) if (histories := run.histories(how))}
    drawn = []
    for kind, (title, words) in SHOWN.items():
        if not lack(view, kind):
            say(f"drawing: {kind}")
            words = f"First seed. {captions.paths(view)}" if kind == Kind.PATHS else words
            words = GAPS if kind == Kind.PROGRESS and run.optima is not None else words
            words = VOLUMES if kind == Kind.PROGRESS and len(run.study.objectives) > 1 else words
            has_both = ALONE in ways and kind in (*COURSES, Kind.PATHS)
            caption = f"{words} {COLOURS}" if has_both else words
            drawn.append(section(title, picture(PICTURES[kind](view), f"{title}. {caption}", caption)))
    sections = [
        section(
            "Together against alone" if ALONE in ways else "Results",
            _rows(_with_failures(rows, ways)),
            paragraph(_meaning(ways), class_="note"),
        ),
        section("Best designs", _best(run), paragraph(BEST, class_="note")),
        *drawn,
        learned.in_short(view),
        *learned.front(view, say),
        *learned.sections(view, say, is_one_of_many=len(view.sites) > 1),
        *_reasons(ways),
        section("How it was made", _made(run, ways)),
    ]
    return f"{run.study.name}: report", _lead(run, rows), sections


def _lead(run: Run, rows: Sequence[Row]) -> str:
    study, seeds = run.study, len(run.histories(TOGETHER))
    who = f"{many(len(study.sites), 'site')} with {many(study.horizon, 'experiment')} each, {many(seeds, 'seed')}."
    gains = [row["gain"] for row in rows if "gain" in row]
    if not gains:
        return f"{who} Nobody worked alone, so there is nothing to compare with."
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return (
        f"{who} Every site optimised its own experiment; only designs were shared, never outcomes. "
        f"Of {many(len(gains), 'site')}, {better} ended better together than alone and {worse} worse, "
        f"on average over seeds."
    )


def _with_failures(rows: Sequence[Row], ways: Ways) -> Sequence[Row]:
    """Add how many of each site's experiments failed, for each way of working; left out if none did."""
    if not _failures(ways)[0]:
        return rows
    heads = {how: f"failed {how}" if ALONE in ways else "failed" for how in ways}
    return [
        {**row, **{heads[how]: "{} of {}".format(*_failures({how: ways[how]}, row["site"])) for how in ways}}
        for row in rows
    ]


def _failures(ways: Ways, site: str | None = None) -> tuple[int, int]:
    """Count the experiments that failed and those that were run, at one site or at all."""
    trials = (trial for histories in ways.values() for history in histories for trial in history.trials)
    count = Counter(trial.status for trial in trials if site in (None, trial.site))
    return count[Status.FAILED], count[Status.FAILED] + count[Status.COMPLETE]


def _reasons(ways: Ways) -> list[Html]:
    """Why experiments failed: each reason with its count at each site, the most frequent first."""
    trials = (trial for histories in ways.values() for history in histories for trial in history.trials)
    count = Counter((t.site, t.note or "no reason was given") for t in trials if t.status is Status.FAILED)
    lines = [[site, times, reason] for (site, reason), times in count.most_common(MOST_REASONS)]
    left = len(count) - len(lines)
    more = [paragraph(f"And {many(left, 'more reason')}; cboc export has the reason of every failure.")] if left else []
    return [section("What failed", table(["site", "failures", "reason"], lines), *more)] if lines else []


def _meaning(ways: Ways) -> str:
    failed = " Failed: experiments without an outcome, over all seeds." if _failures(ways)[0] else ""
    if ALONE not in ways:
        return f"The best outcome, mean over seeds, and the experiments until it was found, median.{failed}"
    return (
        "Means over seeds; of experiments, medians. Gain: positive where together is better; ±: its standard error. "
        "Experiments, without the initial ones: how many it takes together to reach what alone reaches at its end, "
        "and how many alone; "
        f"-: not reached.{failed}"
    )


def _best(run: Run) -> Html:
    """The rows of `cboc best`, with units for parameters, and turns counted as in the pictures."""
    space = run.study.space
    rows = [{**row, "turn": _number(row["turn"])} for row in best_rows(run)]
    return _rows([{_named(space, name): value for name, value in row.items()} for row in rows])


def _number(turn: int | None) -> int:
    """Count a turn from 1; 0 is anything before the first turn."""
    return 0 if turn is None else turn + 1


def _named(space: Any, name: str) -> str:
    return label(space, name) if name in space.names else name


def _rows(rows: Sequence[Row]) -> Html:
    names = columns(rows)
    return table(names, [[cell(row.get(name)) for name in names] for row in rows])


def _made(run: Run, ways: Ways) -> Html:
    study, record = run.study, run.record
    seeds = {how: run.seeds(how) for how in (TOGETHER, ALONE) if run.seeds(how)}
    agreed, (failed, ran) = study.agreement(), _failures(ways)
    alone = "" if ALONE in seeds else " --no-alone"
    return facts(
        {
            "command": element("code", f"cboc simulate STUDY.toml --seeds {len(seeds[TOGETHER])}{alone}"),
            "experiments": f"{ran}, of which {failed or 'none'} failed",
            "rule": agreed["rule"] if isinstance(agreed["rule"], str) else "a fixed matrix",
            "best designs shared": "yes" if study.shares_best else "no",
            **{f"seeds, {how}": ", ".join(map(str, some)) for how, some in seeds.items()},
            "gate": record.get("gate"),
            "surrogate": record.get("surrogate"),
            "utility": record.get("utility") or "default",
            "digest of the study": study.digest[:12],
            "page written with": ", ".join(f"{name} {version}" for name, version in libraries().items()),
        }
    )
