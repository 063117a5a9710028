"""Every method of the tables, by name, with the settings that its own tuning chose (`cboc bench tune`)."""

from __future__ import annotations

from collections.abc import Callable

from cboc.baselines.case import Method
from cboc.baselines.consensus import Consensus
from cboc.baselines.controls import centre, random_search, strangers
from cboc.baselines.fts import FTS, FTSDE, Privacy
from cboc.baselines.pooled import Pooled
from cboc.bench.tuning import VARIANTS
from cboc.consensus.gate import Gate
from cboc.errors import CbocError, did_you_mean
from cboc.strategy import Bayesian, default, paper
from cboc.utility.thompson import Thompson

METHODS: dict[str, Method] = {
    "individual": Consensus("identity"),
    "individual-ts": Consensus("identity", utility=Thompson.on),
    "cboc-u": Consensus("uniform"),
    "cboc-l": Consensus("leader"),
    "cboc-u-gated": Consensus("uniform", Gate(0.5)),
    "cboc-l-gated": Consensus("leader", Gate(0.5)),
    "fts": FTS(),
    "fts-de": FTSDE(),
    "dp-fts-de": FTSDE(privacy=Privacy()),
    "random": random_search,
    "centre": centre,
    "strangers": strangers,
    "pooled": Pooled(),
}

SURROGATES: dict[str, Callable[[], Bayesian]] = {"default": default, "paper": paper}


def method(name: str) -> Method:
    """By name; a variant of a tuning grid is 'method: knobs'."""
    if name in METHODS:
        return METHODS[name]
    if name in VARIANTS:
        return VARIANTS[name]
    raise CbocError(f"'{name}' is no method of this library; {did_you_mean(name, METHODS)}")


def surrogate(name: str) -> Bayesian:
    if name not in SURROGATES:
        raise CbocError(f"'{name}' is no surrogate of this library; {did_you_mean(name, SURROGATES)}")
    return SURROGATES[name]()
