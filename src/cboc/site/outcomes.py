"""What a site measures, in words: '62.5 ± 0.5 %', or of several outcomes 'yield 83 %, cost 12 EUR'.

A site of one outcome says it as it is, without its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from cboc.data.goal import NEAR, Aim, Goal
from cboc.data.numbers import written
from cboc.data.objective import Measurement
from cboc.errors import listed
from cboc.exchange.objective import Objective
from cboc.site.site import Site
from cboc.site.trial import Status, Trial


def outcomes(site: Site) -> tuple[Objective, ...]:
    """Everything that an experiment of the site measures: the objectives, and what only has limits."""
    return tuple(map(site.study.objective_called, site.goal.measured))


def measured_in_words(site: Site, measured: Mapping[str, Measurement | float]) -> str:
    """What was measured, with names if there are several."""
    texts = {each: each.of(_shown(measured[each.name])) for each in outcomes(site)}
    return ", ".join(text if len(texts) == 1 else f"{each.word} {text}" for each, text in texts.items())


def _shown(value: Measurement | float) -> str:
    return written(value) if isinstance(value, float) else str(value)


def best_in_words(site: Site) -> str:
    """The best result so far; by a site's own weights, if there are several objectives."""
    if site.goal.is_plain:
        return site.study.objective.of(written(site.best.y))
    if not site.results.is_allowed.any():
        return f"none, as no result keeps to {limits_in_words(site)}"
    said, count = measured_in_words(site, best_outcomes(site)), int(site.results.is_on_front.sum())
    if len(site.goal.aims) == 1 or count == 1:
        return said
    return f"{said} (1 more is as good in its way)" if count == 2 else f"{said} ({count - 1} more as good in their way)"


def best_outcomes(site: Site) -> dict[str, float]:
    """All outcomes of the best result."""
    return outcomes_of(site, site.best.index)


def outcomes_of(site: Site, row: int) -> dict[str, float]:
    """All outcomes of one of the site's results, by its row."""
    return dict(zip(site.goal.measured, site.results.Y[row].tolist(), strict=True))


def trial_of(site: Site, row: int) -> Trial | None:
    """The trial that one of the site's results is from, by its row; None if it is from before the study."""
    told = [trial for trial in site.trials if trial.status is Status.COMPLETE]
    before = len(site.results) - len(told)
    return None if row < before else told[row - before]


def aims_in_words(site: Site) -> str:
    """What the site wants of each objective: 'yield (%), to maximise; pH near 7'."""
    return "; ".join(_aim(site.study.objective_called(name), aim) for name, aim in site.goal.aims.items())


def _aim(objective: Objective, aim: Aim) -> str:
    way = f"{objective.label} {aim}" if aim.direction == NEAR else f"{objective.label}, to {aim}"
    beyond = "" if aim.reference is None else f", reference {aim.reference:g}"
    return f"{way}{beyond}{'' if aim.weight == 1.0 else f', weight {aim.weight:g}'}"


def wish(goal: Goal, name: str) -> str:
    """What a site wants of an outcome: 'to maximise', 'to be near 7', 'to keep <= 5'."""
    aim, limits = goal.aims.get(name), [limit for limit in goal.limits if limit.outcome == name]
    bounds = " and ".join(f"{limit.relation} {limit.bound:g}" for limit in limits)
    if aim is None:
        return f"to keep {bounds}"
    said = f"to be {aim}" if aim.direction == NEAR else f"to {aim}"
    return f"{said}, {bounds}" if bounds else said


def limits_in_words(site: Site) -> str:
    """The limits of the site: 'impurity <= 5 and waste <= 1'."""
    return listed(map(str, site.goal.limits))
