"""Read what a site wants, from the form that joins: which way each outcome is better, and the limits.

Of one objective the field is `direction`, of several `direction.0`, `direction.1`; `target.0` is the value that an
outcome is to be near. `limits` has one limit a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cboc.data.dataset import Direction
from cboc.data.goal import NEAR, Aim, Goal
from cboc.data.numbers import read_number
from cboc.errors import CbocError, at
from cboc.sitepage.form import Fields, field_of

DIRECTION, TARGET, LIMITS = "direction", "target", "limits"


def read_goal(fields: Fields, objectives: tuple[str, ...]) -> Goal:
    """Read the goal of a form; raises one sentence if something of it is missing or cannot be."""
    aims = {name: _aim(fields, name, k, objectives) for k, name in enumerate(objectives)}
    return Goal.of(aims, objectives, read_limits(fields))


def read_limits(fields: Fields) -> Sequence[str]:
    """Read the limits, of which each has a line."""
    return [line.strip() for line in fields.get(LIMITS, "").splitlines() if line.strip()]


def _aim(fields: Mapping[str, str], name: str, place: int, objectives: Sequence[str]) -> Aim:
    direction = fields.get(field_of(DIRECTION, place, objectives), "")
    if len(objectives) == 1:
        return Aim(Direction.of(direction))
    if not direction:
        raise CbocError(f"say what is better for {name}: large, small, or near a value.")
    if direction != NEAR:
        return Aim(Direction.of(direction))
    text = fields.get(field_of(TARGET, place, objectives), "")
    with at(name):
        target = read_number(text) if text.strip() else None
        if target is None:
            raise CbocError(f"an outcome that is to be near a value needs that value, such as 7; got {text[:20]!r}.")
        return Aim(NEAR, target=target)
