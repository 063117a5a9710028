"""A run of `cboc simulate` as sections: what the sites have from working together, and how they got there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cboc.bench.results import libraries
from cboc.cli.export import best_rows
from cboc.cli.pictures import PICTURES, Kind, lack
from cboc.cli.report.html import Html, element
from cboc.cli.report.page import facts, paragraph, picture, section, table
from cboc.cli.run import ALONE, TOGETHER, Run
from cboc.cli.show import Row, cell, columns, many
from cboc.cli.simulate import results
from cboc.plots.terrain import label

SHOWN = {
    Kind.PROGRESS: ("Progress", "The best so far against rounds, together in colour and alone in grey."),
    Kind.GAIN: ("Gains", "What each site has from working together: bars to the right are gains, to the left losses."),
    Kind.PATHS: ("Where the sites went", "The designs that each site ran, of the first seed."),
    Kind.MOVES: ("From proposed to agreed", "How far the group drew each site from its own proposal, first seed."),
    Kind.MATRIX: ("Who listened to whom", "The weights W(t) of the first seed, from sharing to independence."),
}


def content(directory: Path, say: Callable[[str], None]) -> tuple[str, str, list[Html]]:
    """Title, lead and sections."""
    run = Run(directory)
    rows = results(run)
    drawn = []
    for kind, (title, caption) in SHOWN.items():
        if not lack(run, kind):
            say(f"drawing: {kind}")
            drawn.append(section(title, picture(PICTURES[kind](run), f"{title}. {caption}", caption)))
    sections = [
        section("Together against alone", _rows(rows), paragraph(_meaning(run), class_="note")),
        section("Best designs", _best(run), paragraph("The best of all seeds.", class_="note")),
        *drawn,
        section("How it was made", _made(run)),
    ]
    return f"{run.study.name}: report", _lead(run, rows), sections


def _lead(run: Run, rows: Sequence[Row]) -> str:
    study, seeds = run.study, len(run.histories(TOGETHER))
    who = f"{many(len(study.sites), 'site')} with {many(study.horizon, 'round')}, {many(seeds, 'seed')}."
    gains = [row["gain"] for row in rows if "gain" in row]
    if not gains:
        return f"{who} Nobody worked alone, so there is nothing to compare with."
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return (
        f"{who} Every site optimised its own experiment; only designs were shared, never outcomes. "
        f"Of {many(len(gains), 'site')}, {better} ended better together than alone and {worse} worse, "
        f"in the mean over seeds."
    )


def _meaning(run: Run) -> str:
    if not run.histories(ALONE):
        return "The best outcome, and the rounds until it was found. Means over seeds."
    return (
        "Means over seeds. Gain: positive where together is better; ±: its standard error. Rounds: how many together "
        "needs to be where working alone ends, and how many alone needs for that."
    )


def _best(run: Run) -> Html:
    """The rows of `cboc best`, parameters with their units."""
    space = run.study.space
    return _rows([{_named(space, name): value for name, value in row.items()} for row in best_rows(run)])


def _named(space: Any, name: str) -> str:
    return label(space, name) if name in space.names else name


def _rows(rows: Sequence[Row]) -> Html:
    names = columns(rows)
    return table(names, [[cell(row.get(name)) for name in names] for row in rows])


def _made(run: Run) -> Html:
    study, record = run.study, run.record
    seeds = {how: run.seeds(how) for how in (TOGETHER, ALONE) if run.seeds(how)}
    agreed = study.agreement()
    return facts(
        {
            "command": element("code", f"cboc simulate STUDY.toml --seeds {len(seeds[TOGETHER])}"),
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
