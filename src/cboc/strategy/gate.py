"""The gate: a site's own decision to run the mixed design or its own.

    run the mix if  U(mix) >= ρ U(own),  else the site's own proposal

ρ = 0 is the paper (always follow), ρ > 1 is working alone. The gate shares nothing. The executed design is then a
ρ-approximate maximiser of U, whatever the others do. (Lemma 4 asks for a utility of at least κ at the executed design,
which averaging alone does not ensure.) If a guide adds a bonus of up to c nats, U includes it, and the site's own
utility keeps at least ρ e^-c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, log

import numpy as np

from cboc.arrays import is_number
from cboc.errors import CbocError
from cboc.strategy.opinion import Generator, Heard, Opinion, PassedOn, Strategy, as_strategy
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Verdict, as_verdict
from cboc.surrogate.gp import GP

GateLike = Callable[[float, float], bool]  # log worth of the mix, log worth of the own design -> follow?


@dataclass(frozen=True)
class Gate:
    """Follow the group if that costs at most a share 1 - ρ of the site's own utility."""

    ratio: float = 0.1  # ρ

    def __post_init__(self) -> None:
        if not is_number(self.ratio) or not (isfinite(self.ratio) and self.ratio >= 0.0):
            raise CbocError(
                f"a gate's ratio is 0 (always follow) or more (above 1: never); this one is {self.ratio!r}."
            )

    def __call__(self, mix: float, own: float) -> bool:
        if self.ratio == 0.0 or self.ratio > 1.0:
            return self.ratio == 0.0
        return mix >= own + log(self.ratio)


@dataclass(frozen=True)
class Gated(Strategy):
    """A strategy whose verdicts pass a gate."""

    strategy: Strategy  # or a function with the same signature
    gate: GateLike = field(default_factory=Gate)

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategy", as_strategy(self.strategy))
        if isinstance(self.gate, type) or not callable(self.gate):
            hint = f" Write Gate({self.gate!r})." if is_number(self.gate) else ""
            raise CbocError(f"a gate is a function, such as Gate(0.5); {self.gate!r} is not.{hint}")

    @property
    def can_batch(self) -> bool:
        return self.strategy.can_batch

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return GatedOpinion(self.strategy(situation, rng), self.gate)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        return [GatedOpinion(opinion, self.gate) for opinion in self.strategy.batch(situations, rngs)]

    def surrogate(self, situation: Situation) -> GP | None:
        return self.strategy.surrogate(situation)


@dataclass(frozen=True)
class GatedOpinion(PassedOn):
    """An opinion whose verdict passes a gate; the gate compares utilities with the pull of the others included."""

    gate: GateLike

    def judge(self, heard: Heard) -> Verdict:
        verdict, note = as_verdict(self.opinion.judge(heard)), heard.note
        mix, own = verdict.log_worth + verdict.pull, note.log_worth + note.pull
        if not verdict.follows or self._opens(mix, own):
            return verdict
        return replace(verdict, follows=False, reason="your gate declines it")

    def _opens(self, mix: float, own: float) -> bool:
        answer = self.gate(mix, own)
        if not isinstance(answer, bool | np.bool_):  # the gate may be a user's own
            raise CbocError(f"a gate answers True (follow the mix) or False; this one answered {answer!r}.")
        return bool(answer)
