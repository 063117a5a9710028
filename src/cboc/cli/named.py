"""Values with names, as they are typed: yield=83, yield=max, cost=min,reference=50, pH=near:7, yield=2,cost=1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cboc.data.dataset import Direction
from cboc.data.goal import NEAR, Aim
from cboc.data.numbers import read_number
from cboc.errors import CbocError, at, did_you_mean, listed

PART = r",\s*(?P<part>[a-z]+)=(?P<number>[^,=]*)"
AIM = re.compile(r"(?P<way>[A-Za-z]*)(?::(?P<target>[^,=]*))?(?P<parts>(?:,\s*[a-z]+=[^,=]*)*)")
NAMED = re.compile(rf"(?P<name>.+?)=(?P<aim>{AIM.pattern})")
NO_LIMITS = "none"


def split(text: str, known: Sequence[str], option: str = "") -> tuple[str, str]:
    """The name and the value of NAME=VALUE; the name is a known one, and may have an = of its own."""
    with at(option) if option else at(f"'{text}'"):
        for name in sorted(known, key=len, reverse=True):
            if text.startswith(f"{name}="):
                return name, text[len(name) + 1 :].strip()
        name, equals, _ = text.rpartition("=")
        if not equals:
            raise CbocError(f"expected NAME=VALUE, with a name of {listed(known)}, but got '{text}'.")
        raise CbocError(f"there is no outcome '{name}'; {did_you_mean(name, known)}")


def by_name(texts: Iterable[str], known: Sequence[str], read: Callable[[str], Any], option: str = "") -> dict[str, Any]:
    """The values of several NAME=VALUE; raises one sentence if a name is there twice."""
    found: dict[str, Any] = {}
    for text in texts:
        name, value = split(text, known, option)
        if name in found:
            raise CbocError(f"{f'{option}: ' if option else ''}'{name}' is given twice; keep one of them.")
        with at(option or f"'{text}'"):
            found[name] = read(value)
    return found


def as_number(text: str) -> float:
    """The number that a value is."""
    number = read_number(text)
    if number is None:
        raise CbocError(f"expected a number, but got '{text}'.")
    return number


def directions(given: Sequence[str] | None) -> Any:
    """What is wanted, as --direction says it: one direction, or aims by the name of their objective."""
    if not given:
        return None
    with at("--direction"):
        if len(given) == 1 and "=" not in given[0]:
            if ":" in given[0]:
                raise CbocError(f"say of which objective, such as y={given[0]}; 'y' is one without a name.")
            return Direction.of(given[0])
        aims: dict[str, Any] = {}
        for text in given:
            match = NAMED.fullmatch(text.strip())
            if match is None:
                raise CbocError(
                    "with several objectives it is NAME=max or NAME=min, NAME=near:7, or such as "
                    f"NAME=min,reference=50; got '{text}'."
                )
            if match["name"] in aims:
                raise CbocError(f"'{match['name']}' has two directions; keep one of them.")
            with at(f"'{match['name']}'"):
                aims[match["name"]] = aim(match["aim"])
        return aims


def aim(text: str) -> Aim:
    """What is wanted of one objective: max, min, near:7, or with more parts min,reference=50,weight=2."""
    match = AIM.fullmatch(text.strip())
    if match is None:
        raise CbocError(f"expected max, min or near:7, or such as min,reference=50; got '{text}'.")
    way = match["way"].lower()
    parts: dict[str, Any] = {"direction": NEAR if way == NEAR else Direction.of(match["way"])}
    if match["target"] is not None:
        parts["target"] = as_number(match["target"])
    for each in re.finditer(PART, match["parts"]):
        if each["part"] in parts:
            raise CbocError(f"'{each['part']}' is given twice; keep one of them.")
        with at(each["part"]):
            parts[each["part"]] = as_number(each["number"])
    return Aim.of(parts)


def limits(given: Sequence[str] | None) -> list[str] | None:
    """The limits that --limit gives; none at all for the word none."""
    return None if not given else [] if list(given) == [NO_LIMITS] else list(given)


def weights(given: Sequence[str], objectives: Sequence[str]) -> dict[str, float]:
    """The weights of the objectives that --weights gives: yield=2,cost=1, or one at a time; others are 0."""
    names = "|".join(re.escape(name) for name in sorted(objectives, key=len, reverse=True))
    texts = [part for text in given for part in re.split(rf",\s*(?=(?:{names})=)", text)]
    found: dict[str, float] = by_name(texts, objectives, as_number, "--weights")
    for name, weight in found.items():
        if weight < 0.0:
            raise CbocError(f"--weights: a weight is a number from 0; that of '{name}' is {weight:g}.")
    if not any(found.values()):
        raise CbocError("--weights: all of them are 0; give at least one objective a weight above 0.")
    return {name: found.get(name, 0.0) for name in objectives}
