"""Rows of a run: every trial, and the best of each site."""

from __future__ import annotations

from typing import Any

from cboc.cli.run import ALONE, TOGETHER, Run
from cboc.cli.show import Row
from cboc.errors import CbocError
from cboc.history import History
from cboc.trial import Status, Trial


def trial_rows(run: Run) -> list[Row]:
    """All trials, together first."""
    rows: list[Row] = [
        {"how": how, "seed": seed, **row}
        for how in (TOGETHER, ALONE)
        for seed in run.seeds(how)
        for row in run.history(how, seed).rows()
    ]
    return _not_empty(rows, run)


def best_rows(run: Run) -> list[Row]:
    """The best trial of each site over all seeds, together and alone."""
    histories = [(how, seed, run.history(how, seed)) for how in (TOGETHER, ALONE) for seed in run.seeds(how)]
    rows: list[Row] = []
    for site in run.study.sites:
        for how in (TOGETHER, ALONE):
            found = [
                (trial, seed, history)
                for way, seed, history in histories
                if way == how
                for trial in history.of(site)
                if trial.status == Status.COMPLETE
            ]
            if found:
                rows.append(_best(site, how, found))
    return _not_empty(rows, run)


def _best(site: str, how: str, found: list[tuple[Trial, int, History]]) -> dict[str, Any]:
    sign = 1.0 if found[0][2].directions[site] == "minimise" else -1.0
    trial, seed, history = min(found, key=lambda each: sign * (each[0].y or 0.0))
    row = {"site": site, "how": how, "y": trial.y, "seed": seed, "round": 0 if trial.round is None else trial.round + 1}
    return row | trial.design(history.study.space)


def _not_empty(rows: list[Row], run: Run) -> list[Row]:
    if not rows:
        raise CbocError(f"{run.directory} holds no trials yet; cboc simulate with --resume continues it.")
    return rows
