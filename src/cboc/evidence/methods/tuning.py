"""Tuning, for rivals too: every method with a knob has a small grid, judged on seeds that no table reports.

The largest mean area under the Gap curve over the tuning scenarios is chosen; `METHODS` holds the choices.
"""

from __future__ import annotations

from itertools import product

from cboc.evidence.case import Method
from cboc.evidence.methods.consensus import Consensus
from cboc.evidence.methods.fts import FTS, FTSDE, Decay, Privacy, Sharing
from cboc.evidence.scenario import Scenario
from cboc.strategy.gate import Gate

SEEDS = range(1000, 1006)
SCENARIOS = (
    Scenario("levy-2", 5, is_displaced=True),
    Scenario("branin", 5),
    Scenario("shekel-10", 5, rounds=40),
)

EXPONENTS, FACTORS, NOISES = (0.5, 1.0, 2.0), (0.1, 0.25), (1e-2, 1e-1)
RATIOS = (0.1, 0.5, 0.9)
CLIPS = (5.0, 22.0)
BOXES = (1, None)
SHARINGS = [Sharing(factor=factor, noise=noise) for factor, noise in product(FACTORS, NOISES)]


def _shared(sharing: Sharing) -> str:
    return f"lengthscale {sharing.factor:g}, noise {sharing.noise:g}"


def _boxes(count: int | None) -> str:
    return "one box" if count == 1 else "several boxes"


GRIDS: dict[str, dict[str, Method]] = {
    "cboc-u-gated": {f"ratio {ratio:g}": Consensus("uniform", Gate(ratio)) for ratio in RATIOS},
    "cboc-l-gated": {f"ratio {ratio:g}": Consensus("leader", Gate(ratio)) for ratio in RATIOS},
    "fts": {
        f"exponent {p:g}, {_shared(sharing)}": FTS(Decay(p), sharing) for p, sharing in product(EXPONENTS, SHARINGS)
    },
    "fts-de": {
        f"exponent {p:g}, {_shared(sharing)}, {_boxes(boxes)}": FTSDE(Decay(p), sharing, boxes)
        for p, sharing, boxes in product(EXPONENTS[:2], SHARINGS, BOXES)
    },
    "dp-fts-de": {
        f"exponent {p:g}, clip {clip:g}": FTSDE(Decay(p), privacy=Privacy(clip=clip))
        for p, clip in product(EXPONENTS, CLIPS)
    },
}
VARIANTS: dict[str, Method] = {
    f"{method}: {knobs}": variant for method, grid in GRIDS.items() for knobs, variant in grid.items()
}
