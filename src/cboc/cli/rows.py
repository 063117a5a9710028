"""Rows of a run: every trial, and the best of each site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cboc.cli.show import Row
from cboc.errors import CbocError
from cboc.runs.history import History
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.site.trial import TOLD, Trial


def trial_rows(run: Run) -> list[Row]:
    """Return a row for every trial, those together first."""
    rows: list[Row] = [
        {"how": how, "seed": seed, **row}
        for how in (TOGETHER, ALONE)
        for seed in run.seeds(how)
        for row in run.history(how, seed).rows()
    ]
    return _not_empty(rows, run)


def best_rows(run: Run) -> list[Row]:
    """Return each site's best over all seeds, together and alone: a trial, or a result from before the study."""
    histories = [(how, seed, run.history(how, seed)) for how in (TOGETHER, ALONE) for seed in run.seeds(how)]
    rows: list[Row] = []
    for site in run.study.sites:
        for how in (TOGETHER, ALONE):
            of_this_way = [(seed, history) for way, seed, history in histories if way == how]
            found = [row for seed, history in of_this_way for row in _outcomes(run, site, how, seed, history)]
            if found:
                sign = of_this_way[0][1].goals[site].sign
                rows.append(max(found, key=lambda row: sign * row["y"]))
    if not rows and any(_has_run(trial) for *_, history in histories for trial in history.trials):
        raise CbocError(f"in {run.directory} no experiment has succeeded so far; cboc export shows them all.")
    return _not_empty(rows, run)


def _outcomes(run: Run, site: str, how: str, seed: int, history: History) -> Iterator[dict[str, Any]]:
    """The outcomes of a site; results from before the study come first, so a trial has to be better."""
    row: dict[str, Any] = {"site": site, "how": how}
    if site in history.earlier:
        origin: Row = {"seed": None, "turn": None, "design": "before the study"}
        yield {**row, "y": history.earlier[site], **origin, **run.record["earlier_designs"].get(site, {})}
    for trial in history.of(site):
        if trial.y is not None:
            turn = None if trial.turn is None else trial.turn.number
            origin = {"seed": seed, "turn": turn, "design": str(trial.kind)}
            yield {**row, "y": trial.y, **origin, **trial.design(history.space_of(trial.site))}


def _has_run(trial: Trial) -> bool:
    return trial.status in TOLD


def _not_empty(rows: list[Row], run: Run) -> list[Row]:
    if not rows:
        raise run.emptiness
    return rows
