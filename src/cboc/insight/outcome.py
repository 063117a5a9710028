"""One outcome of a site as if it were all that counts: its data in its own units, and which way it is better.

Of an outcome that is only limited, what the limit allows is better; of one that is to be near a value, more: that
decides how a surrogate's scale is bent, and nothing else.
"""

from __future__ import annotations

from cboc.data.dataset import Dataset, Direction
from cboc.data.goal import NEAR, Goal
from cboc.site.site import Site


def direction_of(goal: Goal, name: str) -> Direction:
    """Which way an outcome is better."""
    if name in goal.aims:
        direction = goal.aims[name].direction
        return Direction.MAXIMISE if direction == NEAR else Direction(direction)
    relations = {limit.relation for limit in goal.limits if limit.outcome == name}
    return Direction.MINIMISE if relations == {"<="} else Direction.MAXIMISE


def is_ranked(goal: Goal, name: str) -> bool:
    """Whether an outcome is the better the further it is one way."""
    if name in goal.aims:
        return goal.aims[name].direction != NEAR
    return len({limit.relation for limit in goal.limits if limit.outcome == name}) == 1


def dataset_of(site: Site, name: str) -> Dataset:
    """All results of one outcome; and the failures, as bad as the worst, if it is known which way is bad."""
    if site.goal.is_plain:
        return site.dataset
    results, direction = site.results, direction_of(site.goal, name)
    failures = results.failures if is_ranked(site.goal, name) else None
    return Dataset(results.X, results.outcome(name), results.sem(name), failures, direction=direction)
