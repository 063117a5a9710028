"""Amending a study that runs: which changes are allowed, and what they are in words.

A study's agreement has versions. Sites are added at the end, so that everybody keeps its number; horizon and budgets
grow; a graph gets more edges; deadline, quorum and stewards may change. Everything else would make old turns and new
ones incomparable: for that, begin another study.

A coordinator may also take back what a site had accepted: a false change, or one that was made after the backup from
which the coordinator was restored. The site goes on then from a version of before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.exchange.study_diff import differences
from cboc.names import as_agreed, check_word

MAY_CHANGE = ("version", "sites", "horizon", "budgets", "graph", "quorum", "deadline", "stewards")


def successor(old: Study, given: Study) -> Study:
    """The next version of a study, as somebody has written it down; raises one sentence if it may not follow."""
    new = replace(given, version=old.version + 1)
    check_successor(old, new)
    if _unnumbered(new) == _unnumbered(old):
        raise CbocError(f"study '{old.name}' is agreed exactly so; there is nothing to change.")
    return new


def check_successor(old: Study, new: Study) -> None:
    """Raise one sentence, which names the change, if a study may not follow another one as its next version."""
    if new.version <= old.version:
        raise CbocError(f"version {new.version} of study '{old.name}' cannot follow version {old.version}.")
    if new.sites != old.sites and not isinstance(old.agreement()["rule"], str):
        raise CbocError("the rule is a fixed matrix, which fixes the number of sites; begin another study.")
    here, there = (_fixed(study.agreement()) for study in (old, new))
    if lines := differences(here, there):
        was = "; ".join(line.replace(" here", " now").replace(" there", " in the change") for line in lines)
        raise CbocError(f"this cannot change in a study that runs: {was}. Use the old terms, or begin another study.")
    if new.sites[: len(old.sites)] != old.sites:
        raise CbocError(
            f"sites are only added, at the end: {', '.join(old.sites)} stay as they are; the change has "
            f"{', '.join(new.sites)}."
        )
    for site in new.sites[len(old.sites) :]:
        check_word("a site's name", site)
    for site in old.sites:
        if new.budget(site) < old.budget(site):
            raise CbocError(
                f"a budget only grows: that of '{site}' is {old.budget(site)}, and would be {new.budget(site)}."
            )
    if old.graph != new.graph and (isinstance(old.graph, str) or isinstance(new.graph, str)):
        raise CbocError("a graph keeps its kind: a name stays that name, and a list of edges gets more of them.")
    parted = np.argwhere(np.triu(old.links & ~new.links[: len(old.sites), : len(old.sites)]))
    if len(parted):
        lost = ", ".join(f"{old.sites[i]}–{old.sites[j]}" for i, j in parted)
        raise CbocError(f"neighbours stay neighbours, and the change parts {lost}; a ring, for one, cannot grow.")


def check_accepted(versions: Sequence[Study], new: Study) -> None:
    """Raise one sentence if new terms can follow none of the versions that a site has accepted, the newest last."""
    if not any(new.digest == old.digest or is_later(old, new) for old in versions[:-1]):
        check_successor(versions[-1], new)


def in_force(accepted: Iterable[Study]) -> list[Study]:
    """The versions of a study, of all that a site has accepted in this order: without those that were taken back."""
    versions: list[Study] = []
    for study in accepted:
        while versions and not is_later(versions[-1], study):
            versions.pop()
        versions.append(study)
    return versions


def is_same(expected: Study, agreed: Study) -> bool:
    """Whether somebody expects what is agreed; a study file does not say how often the study was amended."""
    with as_agreed():
        return replace(expected, version=agreed.version).digest == agreed.digest


def is_later(known: Study, study: Study) -> bool:
    """Whether a study may be a later version of one that is known."""
    try:
        check_successor(known, study)
    except CbocError:
        return False
    return True


def changes(old: Study, new: Study) -> list[str]:
    """What changes from what a site knows of a study to what is agreed now, a line for each."""
    if _unnumbered(new) == _unnumbered(old):
        return [f"version {new.version} has the terms of version {old.version}"]
    if not is_later(old, new):
        lines = differences(_unnumbered(old), _unnumbered(new))
        return [line.replace(" here", " as accepted").replace(" there", " as the others know it") for line in lines]
    lines = [f"'{site}' is admitted" for site in new.sites[len(old.sites) :]]
    if new.horizon != old.horizon:
        lines.append(f"the horizon grows from {old.horizon} to {new.horizon}")
    for site in old.sites:
        budgets = old.budget(site), new.budget(site)
        if budgets[0] != budgets[1] and budgets != (old.horizon, new.horizon):
            lines.append(f"the budget of '{site}' grows from {budgets[0]} to {budgets[1]}")
    if not isinstance(new.graph, str):
        lines += [
            f"{' and '.join(sorted(edge))} become neighbours" for edge in sorted(_edges(new) - _edges(old), key=sorted)
        ]
    for name, before, after in (
        ("the deadline", _seconds(old.deadline), _seconds(new.deadline)),
        ("the quorum", old.quorum, new.quorum),
        ("who signs changes", _named(old.stewards), _named(new.stewards)),
    ):
        if before != after:
            lines.append(f"{name}: {after} instead of {before}")
    return lines


def _unnumbered(study: Study) -> dict[str, Any]:
    """The terms of a study, whatever its version."""
    return {**study.agreement(), "version": None}


def _fixed(agreement: Mapping[str, Any]) -> dict[str, Any]:
    """The terms that stay as they are in every version."""
    return {name: value for name, value in agreement.items() if name not in MAY_CHANGE}


def _edges(study: Study) -> set[frozenset[str]]:
    return set() if isinstance(study.graph, str) else {frozenset(edge) for edge in study.graph}


def _seconds(deadline: float | None) -> str:
    return "none" if deadline is None else f"{deadline:g} seconds"


def _named(stewards: tuple[str, ...]) -> str:
    return ", ".join(stewards) or "every site"
