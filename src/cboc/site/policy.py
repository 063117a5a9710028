"""A site's settings: how it thinks, how it begins, when it stops."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from cboc.arrays import is_number
from cboc.errors import CbocError, whole
from cboc.exchange.identity import identify
from cboc.strategy.collaborative import collaborative
from cboc.strategy.opinion import Strategy, as_strategy

INITIAL = 2  # space-filling designs per parameter, by measurement (docs/decisions/initial-designs.md); the paper has 5
MOST_INITIAL = 100_000


@dataclass(frozen=True)
class Policy:
    """How a site behaves, whatever the study.

    With fewer than `initial` results the site starts with its own space-filling designs (default: 2 per parameter).
    Whoever knows a site's `seed` can compute these; without one, joining a study draws it, and within one process it
    is 0.
    `stop_below` ends the site's part when its largest utility falls below it (the theory's kappa; 0: never).
    `most_cost` ends it when the costs that were told, or that experiments have reported, add up to that. With
    `goes_on_alone` it runs its own proposals while nobody answers, instead of raising `Unreachable`.
    """

    strategy: Strategy = field(default_factory=collaborative)
    initial: int | None = None
    seed: int | None = None
    stop_below: float = 0.0
    goes_on_alone: bool = True
    most_cost: float | None = None  # in the unit in which costs are told; None: the study's budget alone counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategy", as_strategy(self.strategy))
        if self.seed is not None:
            object.__setattr__(self, "seed", whole("seed", self.seed, least=0))
        if self.initial is not None:
            object.__setattr__(self, "initial", whole("initial", self.initial, least=0, most=MOST_INITIAL))
        if not is_number(self.stop_below) or not self.stop_below >= 0.0:
            raise CbocError(f"stop_below is a number from 0; this is {self.stop_below!r}.")
        if self.most_cost is not None and (not is_number(self.most_cost) or not 0.0 < self.most_cost < inf):
            raise CbocError(f"most_cost is a number above 0, or None; this is {self.most_cost!r}.")
        if not isinstance(self.goes_on_alone, bool | np.bool_):
            raise CbocError(f"goes_on_alone is True or False; this is {self.goes_on_alone!r}.")
        object.__setattr__(self, "goes_on_alone", bool(self.goes_on_alone))

    def begins_with(self, parameters: int) -> int:
        """How many results a site wants before its first turn."""
        return INITIAL * parameters if self.initial is None else self.initial

    @property
    def known_seed(self) -> int:
        """The seed; 0 if none was given or drawn."""
        return 0 if self.seed is None else self.seed

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain data, with the strategy as an identifying text."""
        settings = {
            "strategy": identify(self.strategy),
            "initial": self.initial,
            "seed": self.known_seed,
            "stop_below": self.stop_below,
            "goes_on_alone": self.goes_on_alone,
        }
        return settings if self.most_cost is None else settings | {"most_cost": self.most_cost}
