"""A site's experiments as the table that a lab keeps: a line for each, in natural units.

Its lines can be read again as results from before another study: `cboc join --data`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from cboc.data.tables import Table
from cboc.site.outcomes import outcomes
from cboc.site.site import Site
from cboc.site.trial import Trial

BEFORE = "Measured before the study."
DIGITS = 12  # of a design: more than any experiment can tell apart, and 37 instead of 37.00000000001


def table_of(site: Site, zone: timezone | None = None) -> Table:
    """All results of a site: those from before the study, then every trial. Without a `zone`, times are local."""
    zone = local_zone() if zone is None else zone
    lines = [*_earlier(site), *(_line(site, trial, zone) for trial in site.trials)]
    headers = _headers(site, zone)
    return Table(list(headers.values()), [[line.get(name) for name in headers] for line in lines])


def local_zone() -> timezone:
    """This machine's time zone as it is today: one for all times of a table, also across a change of the clocks."""
    return timezone(datetime.now().astimezone().utcoffset() or timedelta(0))


def _headers(site: Site, zone: timezone) -> dict[str, str]:
    """The columns and their heads: a parameter has its unit, and a time its zone."""
    parameters = site.space.parameters
    designs = {f"x.{name}": f"{name} ({p.unit})" if p.unit else name for name, p in parameters.items()}
    several = _outcome_heads(site)
    others = {**several} or {"y": site.study.objective.column, "sem": "sem"}
    others |= {name: name for name in ("cost", "status", "decision", "note", "remark")}
    others |= {"began": f"begun ({zone})", "ended": f"told ({zone})"}
    own = {"trial": "trial", "well": "well"} | designs | others
    taken = {*parameters, *(site.goal.measured if several else ())}
    return {
        name: f"{head} of the trial" if head in taken and name not in {**designs, **several} else head
        for name, head in own.items()
    }


def _outcome_heads(site: Site) -> dict[str, str]:
    """The columns of several outcomes, each beside its standard error; none if there is one outcome."""
    if len(site.goal.measured) == 1:
        return {}
    heads: dict[str, str] = {}
    for each in outcomes(site):
        is_taken = each.name in site.space.names
        heads |= {f"y.{each.name}": f"outcome {each.column}" if is_taken else each.column}
        heads |= {f"sem.{each.name}": f"{each.name} sem"}
    return heads


def _earlier(site: Site) -> list[dict[str, Any]]:
    """The lines of results from before the study, which are not trials."""
    results, about = site.log.data, {"decision": BEFORE}
    told = []
    for x, Y, sems in zip(results.X, results.Y.tolist(), results.sems.tolist(), strict=True):
        errors = [None if sem != sem else sem for sem in sems]
        told.append(_design(site, x) | about | _told(site, Y, errors) | {"status": "complete"})
    return told + [_design(site, x) | about | {"status": "failed"} for x in results.failures]


def _told(site: Site, means: Sequence[float | None], sems: Sequence[float | None]) -> dict[str, Any]:
    """What was measured, by column."""
    names = site.goal.measured
    if len(names) == 1:
        return {"y": means[0], "sem": sems[0]}
    measured = {f"y.{name}": mean for name, mean in zip(names, means, strict=True)}
    return measured | {f"sem.{name}": sem for name, sem in zip(names, sems, strict=True)}


def _line(site: Site, trial: Trial, zone: timezone) -> Mapping[str, Any]:
    line: dict[str, Any] = {"trial": trial.number, "well": trial.place or None, "status": str(trial.status)}
    if trial.decision is not None:
        line |= _design(site, trial.x)
    if trial.outcomes:
        measured = [trial.outcomes[name] for name in site.goal.measured]
        line |= _told(site, [each.mean for each in measured], [each.sem for each in measured])
    line |= {"cost": trial.cost, "note": trial.note or None, "remark": trial.remark or None}
    line |= {"decision": trial.explain(site.study.sites)}
    times = {"began": trial.began, "ended": trial.ended}
    return line | {name: None if at is None else datetime.fromtimestamp(at, zone) for name, at in times.items()}


def _design(site: Site, x: Any) -> dict[str, Any]:
    design = site.space.from_unit(x)
    return {f"x.{name}": _sensible(value) for name, value in design.items()}


def _sensible(value: Any) -> Any:
    """A value without the digits that only arithmetic has brought in."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
