"""What the sites of a study file measure, and what each of them wants of it.

[study]   objectives = ["yield", "cost"]     units = ["%", "EUR"]
[[site]]  direction = {yield = "max", cost = {direction = "min", reference = 50}}     limits = ["impurity <= 5"]
"""

from __future__ import annotations

from cboc.data.goal import Goal
from cboc.errors import CbocError, at
from cboc.exchange.objective import USUAL
from cboc.studyfile.section import TEXT, TEXTS, Kind, Section

EITHER = Kind('"maximise" or "minimise"', lambda value: isinstance(value, str | dict))
EACH = Kind(
    'a direction for each objective, such as {yield = "max", cost = "min"}', lambda value: isinstance(value, dict)
)
UNITS = Kind(
    "a list of strings in quotes",
    lambda value: isinstance(value, list) and all(isinstance(unit, str) for unit in value),
)


def objectives(settings: Section) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the objectives, and their units."""
    for one, several in (("objective", "objectives"), ("unit", "units")):
        if one in settings.values and several in settings.values:
            raise CbocError(
                f"{settings.place}: {one} is for one objective, {several} for several; leave one of them out."
            )
    names = tuple(settings.get("objectives", TEXTS, [settings.get("objective", TEXT, USUAL)]))
    units = tuple(settings.get("units", UNITS, [settings.get("unit", TEXT, "")]))
    if names and "units" in settings.values and len(units) != len(names):
        raise CbocError(
            f'{settings.place}: units has {len(units)} entries for {len(names)} objectives; write "" for one without.'
        )
    return names, units


def goal(section: Section, named: tuple[str, ...], default: Goal | None = None) -> Goal:
    """What a site wants of these objectives; without a default it has to say so."""
    kind = EITHER if len(named) == 1 else EACH
    given = section.need("direction", kind) if default is None else section.get("direction", kind, default)
    limits = section.get("limits", TEXTS, ())
    with at(section.place):
        return Goal.of(given, named, limits if given is not default else ())


def check_same(section: Section, own: Goal, said: Goal) -> None:
    """Raise one sentence if a study file has other directions than those with which a site has joined."""
    for name, aim in own.aims.items():
        if said.aims[name].direction != aim.direction:
            which = "" if len(own.aims) == 1 else f" '{name}'"
            to = aim.direction if len(own.aims) == 1 and own.is_plain else str(aim)
            raise CbocError(f"{section.place}: the site has joined to {to}{which}; correct its direction here.")
