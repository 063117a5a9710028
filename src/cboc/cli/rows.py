"""Rows of a run: every trial, and the best of each site."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cboc.arrays import Array
from cboc.cli.best import chosen, wanted_weights, with_design
from cboc.cli.notes import notes
from cboc.cli.show import Row
from cboc.data.goal import Goal
from cboc.errors import CbocError, listed
from cboc.runs.history import History
from cboc.runs.run import ALONE, TOGETHER, Run
from cboc.site.trial import TOLD, Trial, results_of


def trial_rows(run: Run) -> list[Row]:
    """Return a row for every trial, those together first."""
    rows: list[Row] = [
        {"how": how, "seed": seed, **row}
        for how in (TOGETHER, ALONE)
        for seed in run.seeds(how)
        for row in run.history(how, seed).rows()
    ]
    return _not_empty(rows, run)


def best_rows(run: Run, weights: Sequence[str] | None = None) -> list[Row]:
    """Return each site's best over all seeds, together and alone: a trial, or a result from before the study.

    Of several objectives all that no other result beats, or one by these weights.
    """
    histories = [(how, seed, run.history(how, seed)) for how in (TOGETHER, ALONE) for seed in run.seeds(how)]
    by = wanted_weights(weights, run.study.objectives)
    rows: list[Row] = []
    for site in run.study.sites:
        for how in (TOGETHER, ALONE):
            of_this_way = [(seed, history) for way, seed, history in histories if way == how]
            goal = of_this_way[0][1].goals[site] if of_this_way else None
            if goal is not None and not goal.is_plain:
                rows += _best_of_several(site, how, goal, of_this_way, by)
                continue
            found = [row for seed, history in of_this_way for row in _outcomes(run, site, how, seed, history)]
            if found and goal is not None:
                rows.append(max(found, key=lambda row: goal.sign * row["y"]))
    if not rows and any(_has_run(trial) for *_, history in histories for trial in history.trials):
        raise CbocError(f"in {run.directory} no experiment has succeeded so far; cboc export shows them all.")
    return _not_empty(rows, run)


def _best_of_several(
    site: str, how: str, goal: Goal, histories: Sequence[tuple[int, History]], by: Array | None
) -> Iterator[Row]:
    """The best results of a site over all seeds, by a goal that has more than a direction."""
    told = [(seed, trial) for seed, history in histories for trial in history.of(site) if trial.outcomes]
    if not told:
        return
    space = histories[0][1].space_of(site)
    results = results_of(goal, space.dimension, [trial for _, trial in told])
    if not results.is_allowed.any():
        notes.print(f"{site}, {how}: no result keeps to {listed(map(str, goal.limits))}; this one is nearest to that.")
    for row in chosen(results, by):
        seed, trial = told[row]
        measured = {name: each.mean for name, each in trial.outcomes.items()}
        turn = None if trial.turn is None else trial.turn.number
        origin: Row = {"seed": seed, "turn": turn, "design": str(trial.kind)}
        yield {"site": site, "how": how, **origin, **with_design(measured, trial.design(space))}


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
