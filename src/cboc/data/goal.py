"""What a site wants of its outcomes: which way each is better, when it is good enough, what it may not exceed.

A goal is the site's own. The sites of a study agree on the names of the objectives; none of what stands here travels.

    Goal.of({"yield": "max", "cost": Aim("min", reference=50)}, limits=["impurity <= 5"])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import inf, isfinite
from typing import Any

import numpy as np

from cboc.arrays import Array, is_number
from cboc.data.dataset import Direction
from cboc.data.numbers import as_number
from cboc.errors import CbocError, did_you_mean, listed, short
from cboc.names import check_name

WRITTEN = re.compile(r"^(?P<outcome>.+?)\s*(?P<relation><=|>=|<|>|≤|≥)\s*(?P<bound>\S+)$")
RELATIONS = {"<": "<=", ">": ">=", "≤": "<=", "≥": ">="}  # how people write them
NEAR = "near"  # the direction of an outcome that is to be near its target
MOST_LIMITS = 20


@dataclass(frozen=True)
class Aim:
    """What a site wants of one objective.

    `reference` is the least that is worth anything, `target` what is good enough: nothing is gained beyond it. With
    the direction "near" outcomes are to be as near to the target as possible. `weight` says how much the objective
    counts beside the others when one best design is named.
    """

    direction: str = Direction.MAXIMISE
    reference: float | None = None
    target: float | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.direction != NEAR:
            object.__setattr__(self, "direction", Direction.of(self.direction))
        for name in ("reference", "target"):
            value = getattr(self, name)
            if value is not None and (not is_number(value) or not isfinite(value)):
                raise CbocError(f"an aim's {name} is a finite number, or left out; this is {short(value)}.")
        if not is_number(self.weight) or not 0.0 <= self.weight < inf:
            raise CbocError(f"an aim's weight is a number from 0; this is {short(self.weight)}.")
        if self.direction == NEAR and self.target is None:
            raise CbocError("an outcome that is to be near a value needs that value: Aim('near', target=7).")
        if self.ceiling is not None and self.floor is not None and not self.floor < self.ceiling:
            raise CbocError(
                f"the target {self.target:g} is to be better than the reference {self.reference:g}, and for outcomes "
                f"to {self.direction} it is not; exchange them, or change the direction."
            )

    @classmethod
    def of(cls, given: object) -> Aim:
        """The aim that a user gave: an aim, a direction, or a mapping of its parts."""
        if isinstance(given, Mapping):
            known = [each.name for each in fields(cls)]
            for key in given:
                if key not in known:
                    raise CbocError(f"unknown part {short(key)} of an aim; {did_you_mean(str(key), known)}")
            return cls(**given)
        return given if isinstance(given, Aim) else cls(given)  # type: ignore[arg-type]  # an aim checks it

    def score(self, y: Array) -> Array:
        """Values of which more is better, for outcomes y; none is above the target's."""
        graded = self._graded(y)
        return graded if self.ceiling is None else np.minimum(graded, self.ceiling)

    @property
    def floor(self) -> float | None:
        """The score of the reference."""
        return None if self.reference is None else float(self._graded(np.array(self.reference)))

    @property
    def ceiling(self) -> float | None:
        """The score of the target."""
        return None if self.target is None else float(self._graded(np.array(self.target)))

    def _graded(self, y: Array) -> Array:
        if self.direction == NEAR and self.target is not None:
            return -np.abs(y - self.target)
        return Direction(self.direction).sign * y

    def to_dict(self) -> dict[str, Any]:
        """The aim as plain data, without what was left out."""
        parts = {
            each.name: getattr(self, each.name) for each in fields(self)[1:] if getattr(self, each.name) != each.default
        }
        return {"direction": str(self.direction), **parts}

    def __str__(self) -> str:
        end = (
            "" if self.target is None else f" {self.target:g}" if self.direction == NEAR else f" up to {self.target:g}"
        )
        return f"{self.direction}{end}"


@dataclass(frozen=True)
class Limit:
    """What an outcome may not exceed, or has to reach: impurity <= 5."""

    outcome: str
    relation: str  # "<=" or ">="
    bound: float

    @classmethod
    def of(cls, given: object) -> Limit:
        """The limit that a person wrote."""
        if isinstance(given, Limit):
            return given
        found = WRITTEN.match(given.strip()) if isinstance(given, str) else None
        bound = None if found is None else as_number(found["bound"])
        if found is None or bound is None or not isfinite(bound):
            raise CbocError(f"a limit is written as 'impurity <= 5', with a number at the end; this is {short(given)}.")
        relation = found["relation"]
        name = found["outcome"].strip()
        check_name("the name of an outcome", name)
        return cls(name, RELATIONS.get(relation, relation), bound)

    def margin(self, y: Array) -> Array:
        """How far outcomes stay within the limit; negative where they do not."""
        return self.bound - y if self.relation == "<=" else y - self.bound

    def __str__(self) -> str:
        return f"{self.outcome} {self.relation} {self.bound:g}"


@dataclass(frozen=True)
class Goal:
    """The aims of all objectives of a study, in its order, and the limits of a site's own."""

    aims: Mapping[str, Aim]
    limits: tuple[Limit, ...] = ()

    @classmethod
    def of(cls, given: object, objectives: tuple[str, ...] = ("y",), limits: Iterable[object] = ()) -> Goal:
        """The goal that a user gave for these objectives: a direction if there is one, else an aim for each by name."""
        if isinstance(limits, str) or not isinstance(limits, Iterable):
            raise CbocError(f"limits are a list such as ['impurity <= 5']; this is {short(limits)}.")
        if isinstance(given, Goal):
            return cls.of(given.aims, objectives, (*given.limits, *limits))
        if not isinstance(given, Mapping) or (len(objectives) == 1 and set(given) != set(objectives)):
            if len(objectives) > 1:
                raise CbocError(
                    f"the study has the objectives {listed(objectives)}; say of each which way is better, such as "
                    f"{{'{objectives[0]}': 'maximise', ...}}."
                )
            given = {objectives[0]: given}
        for name in given:
            if name not in objectives:
                raise CbocError(f"{short(name)} is no objective of the study; {did_you_mean(str(name), objectives)}")
        if missing := [name for name in objectives if name not in given]:
            raise CbocError(f"every objective needs a direction; {listed(missing)} has none.")
        goal = cls({name: Aim.of(given[name]) for name in objectives}, tuple(map(Limit.of, limits)))
        goal._check()
        return goal

    def _check(self) -> None:
        if not any(aim.weight > 0.0 for aim in self.aims.values()):
            raise CbocError("the weights of all objectives are 0; give at least one of them a weight above 0.")
        if len(self.limits) > MOST_LIMITS:
            raise CbocError(f"a site has at most {MOST_LIMITS} limits; these are {len(self.limits)}.")
        for k, limit in enumerate(self.limits):
            same = [each for each in self.limits[:k] if each.outcome == limit.outcome]
            if any(each.relation == limit.relation for each in same):
                raise CbocError(f"'{limit.outcome}' has two limits of one kind; keep the narrower one.")
            for each in same:
                low, high = sorted((each, limit), key=lambda one: one.relation, reverse=True)
                if low.bound > high.bound:
                    raise CbocError(f"no outcome can meet '{low}' and '{high}' together; change one of them.")

    @property
    def is_plain(self) -> bool:
        """Whether there is one objective, to be maximised or minimised without end, and no limit."""
        first = next(iter(self.aims.values()))
        return len(self.aims) == 1 and not self.limits and first.target is None and first.direction != NEAR

    @property
    def direction(self) -> Direction:
        """The direction of the first objective, as far as it has one."""
        first = next(iter(self.aims.values())).direction
        return Direction.MAXIMISE if first == NEAR else Direction(first)

    @property
    def sign(self) -> float:
        """The factor that turns the progress of a search into something of which more is better."""
        first = next(iter(self.aims.values())).direction
        return 1.0 if len(self.aims) > 1 else -1.0 if first == NEAR else Direction(first).sign

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of everything that an experiment has to measure: the objectives, and what only has limits."""
        return tuple(dict.fromkeys((*self.aims, *(limit.outcome for limit in self.limits))))

    @property
    def weights(self) -> Array:
        """How much each objective counts, as shares (m,)."""
        given = np.array([aim.weight for aim in self.aims.values()])
        return given / given.sum()

    def weighing(self, tradeoff: Array) -> Array:  # (m,)
        """The weights of a trade-off between the objectives, by how much each counts here."""
        weights: Array = tradeoff * self.weights
        return weights / weights.sum() if weights.sum() > 0.0 else self.weights

    def to_plain(self) -> Any:
        """The goal as plain data: its direction if that is all."""
        return str(self.direction) if self.is_plain else self.to_dict()

    @classmethod
    def from_plain(cls, plain: Any, objectives: tuple[str, ...]) -> Goal:
        """The goal of a `to_plain`."""
        return cls.of(plain, objectives) if isinstance(plain, str) else cls.from_dict(plain)

    def to_dict(self) -> dict[str, Any]:
        """The goal as plain data."""
        aims = {name: aim.to_dict() for name, aim in self.aims.items()}
        return {"aims": aims} | ({"limits": [str(limit) for limit in self.limits]} if self.limits else {})

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Goal:
        """The goal of a `to_dict`."""
        return cls.of(plain["aims"], tuple(plain["aims"]), plain.get("limits", ()))
