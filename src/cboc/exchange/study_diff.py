"""The differences between two agreements in words, for a site whose study is not the coordinator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS = {"parameters": "parameter", "budgets": "budget", "constraints": "constraints"}
ABSENT = object()


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """One line for each difference between two agreements (`Study.agreement`); empty if they are equal."""
    apart = _apart(here) | _apart(there)  # a changed horizon is one difference, not one per site
    return _differences(_with_budgets(here, apart), _with_budgets(there, apart))


def _apart(agreement: Mapping[str, Any]) -> set[str]:
    """The sites whose budget differs from the horizon."""
    budgets = agreement.get("budgets")
    if not isinstance(budgets, Mapping):
        return set()
    return {site for site, budget in budgets.items() if budget != agreement.get("horizon")}


def _with_budgets(agreement: Mapping[str, Any], sites: set[str]) -> dict[str, Any]:
    budgets = agreement.get("budgets")
    if not isinstance(budgets, Mapping):
        return dict(agreement)
    return {**agreement, "budgets": {site: budget for site, budget in budgets.items() if site in sites}}


def _differences(here: Any, there: Any, *path: str) -> list[str]:
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        names = dict.fromkeys([*here, *there])
        lines = [
            line
            for name in names
            for line in _differences(here.get(name, ABSENT), there.get(name, ABSENT), *path, name)
        ]
        if not lines and path[-1:] == ("parameters",) and list(here) != list(there):
            return [f"the parameters are {', '.join(here)} here and {', '.join(there)} there: their order matters"]
        return lines
    if here == there and type(here) is type(there):
        return []
    what = ", ".join(_words(path))
    if here is ABSENT or there is ABSENT:
        return [f"{what} is missing {'here' if here is ABSENT else 'there'}"]
    return [f"{what} is {_shown(here)} here and {_shown(there)} there"]


def _words(path: tuple[str, ...]) -> list[str]:
    """('space', 'parameters', 'T', 'high') is "parameter 'T'", "high"."""
    words = [part for part in path if part != "space"]
    if len(words) > 1 and words[0] in WORDS:
        return [f"{WORDS[words[0]]} '{words[1]}'", *words[2:]]
    return words


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_shown(part) for part in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
