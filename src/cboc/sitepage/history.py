"""The site's own trials: the kind of each, and all of them as a picture (an ECharts option, plain data).

Colours are the style sheet's, in the order of the series; a kind has a colour and a shape. Tooltips are drawn, not
written as HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any

from cboc.data.goal import Limit
from cboc.data.numbers import written
from cboc.site.site import Site
from cboc.site.trial import Status, Trial

Option = dict[str, Any]
CROSS = "path://M0,2 L2,0 L5,3 L8,0 L10,2 L7,5 L10,8 L8,10 L5,7 L2,10 L0,8 L3,5 Z"
LABEL = {"position": "insideEndTop"}  # of a line across a picture
SHAPES = ("triangle", "diamond", "circle", "none", CROSS)


class Kind(StrEnum):
    """Where a design came from (`Trial.kind`), or that it gave no result. In the order of the colours."""

    SHARED = "shared"
    OWN = "own"
    INITIAL = "initial"
    BEST = "best so far"
    FAILED = "failed"
    ABANDONED = "abandoned"


def kind(trial: Trial) -> Kind:
    """Return the kind of a trial."""
    if trial.status in (Status.FAILED, Status.ABANDONED):
        return Kind(trial.status)
    return Kind(trial.kind)


def past(site: Site) -> list[Trial]:
    """Return the trials that were run or given up, the latest first."""
    over = (Status.COMPLETE, Status.FAILED, Status.ABANDONED)
    return [trial for trial in reversed(site.trials) if trial.status in over]


def version(site: Site) -> str:
    """Return a version that changes with the trials."""
    return sha256(repr(site.trials).encode()).hexdigest()[:12]


def picture(site: Site, name: str | None = None) -> Option:
    """Draw an outcome, the first one without a name, against the number of the trial; failed trials lie at the bottom.

    Where several outcomes count there is no line of the best: what is best is not seen in one of them.
    """
    name = name or site.goal.measured[0]
    points: dict[Kind, list[Option]] = {each: [] for each in Kind}
    is_plain = site.goal.is_plain
    best = site.data.best.y if is_plain and len(site.data) else None
    for trial in reversed(past(site)):
        told = trial.outcomes.get(name)
        y = 0.0 if told is None else told.mean
        said = written(y) if trial.status == Status.COMPLETE else str(trial.status)
        points[kind(trial)].append({"name": f"trial {trial.number}: {said}", "value": [trial.number, y]})
        if trial.status == Status.COMPLETE and is_plain:
            sign = site.direction.sign
            best = y if best is None else sign * max(sign * best, sign * y)
        if best is not None:
            points[Kind.BEST].append({"name": f"best so far: {written(best)}", "value": [trial.number, best]})
    limits = [limit for limit in site.goal.limits if limit.outcome == name]
    return {
        "animation": False,
        "grid": {
            "left": 4,
            "right": 16,
            "top": 12,
            "bottom": 4,
            "outerBoundsMode": "same",
            "outerBoundsContain": "all",
        },
        "tooltip": {"renderMode": "richText", "formatter": "{b}"},
        "xAxis": {"type": "category", "data": list(range(len(site.trials)))},
        "yAxis": [
            {"type": "value", "scale": True, **_named(site.study.objective_called(name).label)},
            {"type": "value", "show": False, "min": 0, "max": 1},
        ],
        "series": [
            *(_series(each, shape, points[each]) for each, shape in zip(Kind, SHAPES, strict=False)),
            *([_bounds(limits)] if limits else []),
        ],
    }


def _bounds(limits: Sequence[Limit]) -> Option:
    """Lines that an outcome is not to cross."""
    lines = [{"yAxis": limit.bound, "name": str(limit), "label": {"formatter": str(limit)}} for limit in limits]
    look = {"silent": True, "symbol": "none", "lineStyle": {"type": "dashed", "width": 1.5}}
    return {"type": "scatter", "name": "limits", "data": [], "markLine": {**look, "label": LABEL, "data": lines}}


def _named(label: str) -> Option:
    """The name of an axis, above it."""
    return {"name": label, "nameTextStyle": {"align": "left"}}


def _series(name: Kind, shape: str, points: list[Option]) -> Option:
    if name == Kind.BEST:
        return {"type": "line", "name": name, "data": points, "step": "end", "symbol": shape, "z": 1}
    return {
        "type": "scatter",
        "name": name,
        "data": points,
        "symbol": shape,
        "symbolSize": 11,
        "yAxisIndex": int(name == Kind.FAILED),
    }
