"""What a site wants of its outcomes, as its file keeps it: before the study is known, and for its objectives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cboc.data.dataset import Direction
from cboc.data.goal import Aim, Goal
from cboc.errors import CbocError, short
from cboc.exchange.study import Study
from cboc.storage.sitefile import SiteFile


def as_kept(direction: Any, limits: Iterable[str] | None) -> dict[str, Any]:
    """The facts to keep of what a user wants; raises one sentence if it is not a direction, aims or limits."""
    if isinstance(direction, Goal):
        direction, limits = direction.aims, (*(map(str, direction.limits)), *(limits or ()))
    news: dict[str, Any] = {}
    if isinstance(direction, Mapping):
        goal = Goal.of({str(name): given for name, given in direction.items()}, tuple(map(str, direction)))
        news["direction"] = {name: _plain(aim) for name, aim in goal.aims.items()}
    elif direction is not None:
        if isinstance(direction, Aim):
            raise CbocError(f"an aim is given by the name of its objective, such as {{'yield': {short(direction)}}}.")
        news["direction"] = str(Direction.of(direction))
    if limits is not None:
        news["limits"] = [str(limit) for limit in Goal.of("max", ("y",), limits).limits]
    return news


def _plain(aim: Aim) -> Any:
    parts = aim.to_dict()
    return parts["direction"] if len(parts) == 1 else parts


def goal_in(about: Mapping[str, Any], objectives: tuple[str, ...]) -> Goal:
    """The goal that a site's file keeps, for the objectives of its study."""
    return Goal.of(about["direction"], objectives, about.get("limits", ()))


def is_understood(about: Mapping[str, Any]) -> bool:
    """Whether a site's file says what we write of what the site wants."""
    direction = about.get("direction")
    try:
        goal_in(about, tuple(direction) if isinstance(direction, Mapping) else ("y",))
    except (CbocError, TypeError, KeyError):
        return False
    return True


def check_change(file: SiteFile, news: Mapping[str, Any], study: Study) -> None:
    """Raise one sentence if what is wanted now cannot follow on what was, once the site has begun.

    Which way is better and what is measured stay; how good is good enough, and what is too much, may change.
    """
    if not file.is_begun or not news:
        return
    before, now = (goal_in(about, study.objectives) for about in (file.about, {**file.about, **news}))
    directions = [[aim.direction for aim in goal.aims.values()] for goal in (before, now)]
    if directions[0] != directions[1]:
        was, wants = (", ".join(map(str, each)) for each in directions)
        raise CbocError(f"{file.path} began with direction = '{was}', which cannot change to '{wants}'.")
    if before.measured != now.measured:
        raise CbocError(
            f"{file.path} began with outcomes of {', '.join(before.measured)}; a limit of something else cannot be "
            "added now, as it was not measured until here."
        )
