"""Every method of the tables, by name, with the settings that its own tuning chose (`cboc evidence tune`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from cboc.errors import CbocError, did_you_mean
from cboc.evidence.case import Method
from cboc.evidence.methods.bounding_box import bounding_box
from cboc.evidence.methods.consensus import Consensus
from cboc.evidence.methods.controls import centre, random_search, strangers
from cboc.evidence.methods.others_best import OthersBest
from cboc.evidence.methods.pooled import Pooled
from cboc.evidence.methods.rgpe import rgpe
from cboc.evidence.methods.starts import Again, WarmStart
from cboc.evidence.methods.tuning import GRIDS, VARIANTS
from cboc.strategy.bayesian import SURROGATES, Bayesian
from cboc.strategy.gate import Gate
from cboc.strategy.guide.decision import Guide
from cboc.utility.thompson import Thompson

METHODS: dict[str, Method] = {
    "individual": Consensus("identity"),
    "individual-ts": Consensus("identity", utility=Thompson.on),
    "cboc": Consensus("uniform", Gate(0.1), guide=Guide()),
    "cboc-u": Consensus("uniform"),
    "cboc-l": Consensus("leader"),
    "cboc-u-gated": GRIDS["cboc-u-gated"]["ratio 0.1"],
    "cboc-l-gated": GRIDS["cboc-l-gated"]["ratio 0.1"],
    "fts": GRIDS["fts"]["exponent 2, lengthscale 0.25, noise 0.01"],
    "fts-de": GRIDS["fts-de"]["exponent 0.5, lengthscale 0.1, noise 0.01, one box"],
    "dp-fts-de": GRIDS["dp-fts-de"]["exponent 2, clip 22"],
    "random": random_search,
    "centre": centre,
    "strangers": strangers,
    "centre-gated": partial(centre, gate=Gate(0.1)),
    "strangers-gated": partial(strangers, gate=Gate(0.1)),
    "pooled": Pooled(),
}
RIVALS: dict[str, Method] = {
    "others-best-first": OthersBest(),
    "bounding-box": bounding_box,
    "warm-start": WarmStart(),
    "rgpe": rgpe,
    "individual-again": Again(),
}
"""Methods for real tables, by default in no other."""
OF_THIS_LIBRARY = ("strangers", "strangers-gated")


def method_anywhere(name: str) -> Method:
    """A method by its name that needs nothing but a case, not also other sites of a problem of this library."""
    if name in OF_THIS_LIBRARY:
        raise CbocError(f"'{name}' takes its strangers from a problem of this library; here there is none to take.")
    return method(name)


def in_order(names: Collection[str], first: Iterable[str]) -> list[str]:
    """Methods in the order of a table that shows some first; variants of a tuning grid are last."""
    known = list(dict.fromkeys((*first, *METHODS, *RIVALS)))
    return [*(name for name in known if name in names), *sorted(set(names) - set(known))]


def method(name: str) -> Method:
    """A method by its name; a variant of a tuning grid is 'method: knobs'."""
    for known in (METHODS, RIVALS, VARIANTS):
        if name in known:
            return known[name]
    raise CbocError(f"'{name}' is not a method of this library; {did_you_mean(name, [*METHODS, *RIVALS])}")


def surrogate(name: str) -> Bayesian:
    """A surrogate by its name."""
    if name not in SURROGATES:
        raise CbocError(f"'{name}' is not a surrogate of this library; {did_you_mean(name, SURROGATES)}")
    return SURROGATES[name]()
