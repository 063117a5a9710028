"""What a site wants of an outcome, in words."""

from __future__ import annotations

from cboc.data.goal import NEAR, Goal


def wish(goal: Goal, name: str) -> str:
    """What a site wants of an outcome: 'to maximise', 'to be near 7', 'to keep <= 5'."""
    aim, limits = goal.aims.get(name), [limit for limit in goal.limits if limit.outcome == name]
    bounds = " and ".join(f"{limit.relation} {limit.bound:g}" for limit in limits)
    if aim is None:
        return f"to keep {bounds}"
    ends = "" if aim.target is None else f" {aim.target:g}" if aim.direction == NEAR else f" up to {aim.target:g}"
    said = f"to be near{ends}" if aim.direction == NEAR else f"to {aim.direction}{ends}"
    return f"{said}, {bounds}" if bounds else said
