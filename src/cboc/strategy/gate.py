"""The gate: a site's own decision to run the agreed design or its own.

    run the agreed design if  U(agreed) >= ρ U(own),  else its own proposal

ρ = 0 is the paper (always follow), ρ > 1 is working alone. Nothing is shared by it. The executed design is then a
ρ-approximate maximiser of U, whatever the others do. (Lemma 4 asks for a utility of at least κ at the executed design,
which averaging alone does not ensure.) Where a guide adds a bonus of up to c nats, U has it, and the site's own utility
keeps at least ρ e^-c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log

from cboc.arrays import is_number
from cboc.errors import CbocError

GateLike = Callable[[float, float], bool]  # log worth of the agreed design, of the own one -> follow?


@dataclass(frozen=True)
class Gate:
    """Follow the group where it costs at most a share 1 - ρ of the own utility."""

    ratio: float = 0.1  # ρ

    def __post_init__(self) -> None:
        if not is_number(self.ratio) or not (isfinite(self.ratio) and self.ratio >= 0.0):
            raise CbocError(
                f"a gate's ratio is 0 (always follow) or more (above 1: never); this one is {self.ratio!r}."
            )

    def __call__(self, agreed: float, own: float) -> bool:
        if self.ratio == 0.0 or self.ratio > 1.0:
            return self.ratio == 0.0
        return agreed >= own + log(self.ratio)


def always_follow() -> Gate:
    """The paper's behaviour."""
    return Gate(0.0)
