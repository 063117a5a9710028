"""What each site of a run gains by working together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.data.goal import NEAR
from cboc.errors import CbocError
from cboc.runs.history import History
from cboc.runs.metrics import best_curves, lead, paired, rounds_to, time_to
from cboc.runs.run import ALONE, TOGETHER, Run

Row = Mapping[str, Any]


def results(run: Run) -> list[Row]:
    """What each site gains by working together; only what it found, if the run has nobody working alone."""
    together, alone = run.histories(TOGETHER), run.histories(ALONE)
    if not together:
        raise CbocError(f"{run.directory} holds no results yet; cboc simulate with --resume continues it.")
    return compare(together, alone, has_times=run.has_times) if alone else _found(together)


def compare(together: Sequence[History], alone: Sequence[History], *, has_times: bool = False) -> list[Row]:
    """Means over seeds. A gain is positive if together is better; counts and times are those to alone's final best.

    Experiments are counted without the initial ones: in rounds there is one in each, unless plates are run.
    """
    ours, theirs = _scores(together), _scores(alone)
    length = min(ours.shape[-1], theirs.shape[-1])
    ours, theirs = ours[..., :length], theirs[..., :length]
    counts = dict(zip(("experiments to match alone", "experiments alone took"), lead(ours, theirs), strict=True))
    rows: list[Row] = []
    what = reached(together[0])
    for k, site in enumerate(together[0].study.sites):
        gain = paired(ours[:, k, -1], theirs[:, k, -1])
        sign = together[0].goals[site].sign
        row: dict[str, object] = {"site": site, f"{what} alone": float(sign * theirs[:, k, -1].mean())}
        row |= {f"{what} together": float(sign * ours[:, k, -1].mean()), "gain": gain.difference}
        row |= {"±": gain.error} if len(together) > 1 else {}
        row |= {name: _median(values[:, k]) for name, values in counts.items()}
        rows.append(row | (_times(together, alone, site) if has_times else {}))
    return rows


def reached(history: History) -> str:
    """What a search reaches, in a word: the best outcome; of several objectives the volume below the front."""
    goals = list(history.goals.values())
    if len(history.study.objectives) > 1:
        return "volume"
    return "distance" if all(aim.direction == NEAR for goal in goals for aim in goal.aims.values()) else "best"


def _times(together: Sequence[History], alone: Sequence[History], site: str) -> dict[str, object]:
    """When alone's final best was reached: medians over seeds, of those that both have."""
    sign, both = together[0].goals[site].sign, list(zip(together, alone, strict=False))
    found = []
    for pair in both:
        (ours, best), (theirs, its) = (history.course(site) for history in pair)
        level = sign * its[-1] if len(its) else np.nan
        found.append((time_to(ours, sign * best, level), time_to(theirs, sign * its, level)))
    names = ("time to match alone", "time alone took")
    return {name: _median(times) for name, times in zip(names, np.array(found).T, strict=True)}


def _found(histories: Sequence[History]) -> list[Row]:
    scores = _scores(histories)
    return [
        {
            "site": site,
            reached(histories[0]): float(histories[0].goals[site].sign * scores[:, k, -1].mean()),
            "experiments": _median(rounds_to(scores[:, k], scores[:, k, -1])),
        }
        for k, site in enumerate(histories[0].study.sites)
    ]


def _scores(histories: Sequence[History]) -> Array:
    """The best so far, (seeds, K, T + 1); larger is better."""
    signs = np.array([histories[0].goals[site].sign for site in histories[0].study.sites])
    return signs[:, None] * best_curves(histories)


def _median(counts: Array) -> float | None:
    """The median over seeds; None if half of them never got there."""
    middle = float(np.median(np.where(np.isnan(counts), np.inf, counts)))
    return middle if np.isfinite(middle) else None
