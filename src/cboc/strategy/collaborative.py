"""The two ready-made strategies: our default, and the paper's."""

from __future__ import annotations

from cboc.strategy.bayesian import Bayesian, paper
from cboc.strategy.gate import Gate, Gated, GateLike
from cboc.strategy.guide.decision import Guide, GuideLike
from cboc.strategy.guide.guided import Guided
from cboc.strategy.opinion import Strategy


def collaborative(
    strategy: Strategy | None = None, gate: GateLike | None = None, guide: GuideLike | None = None
) -> Gated:
    """Our default strategy: a guide draws it to the others' best designs, and a gate judges the mix.

    With no arguments: Matern-5/2, lengthscales along the diagonal, compressed outcomes, LogEI.
    """
    guided = Guided(Bayesian() if strategy is None else strategy, Guide() if guide is None else guide)
    return Gated(guided, Gate() if gate is None else gate)


def published() -> Gated:
    """The paper's strategy: its surrogate and utility, every mix is followed, and no guide.

    Whoever follows every mix trusts everybody: one site that lies costs the others dearly (docs/trust.md).
    """
    return Gated(paper(), Gate(0.0))
