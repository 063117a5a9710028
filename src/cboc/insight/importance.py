"""Which parameter matters: the shares of the differences between outcomes that are due to each (Sobol', 1993).

    alone_i  = Var E[f | x_i] / Var f            what remains if only x_i is known (first order)
    total_i  = ½ E (f(x) - f(x'))² / Var f       x' differs from x in x_i alone (Jansen, 1999)

f is a function that the outcomes leave possible, in their own units: a draw from one of the plausible surrogates. There
is a share for every draw, so that few outcomes give a wide interval. Designs are drawn as the space draws them: levels,
options, log scales and constraints are what they are. Lengthscales alone would mislead: a parameter with a short one
may change the outcome little, they know nothing of the range that the others leave, of options or of the transform, and
with few outcomes a fit puts them nearly anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from cboc.arrays import Array, Owners
from cboc.insight.moved import coordinates, moved
from cboc.insight.surface import Surface
from cboc.space.space import Space
from cboc.utility.thompson import Thompson

DESIGNS = 512
FEATURES = 192  # of a draw
BINS = 16  # of a parameter's values, for the first order
TRIES = 16  # to find a feasible design that differs in one parameter
SURE = 0.9  # of the draws in which a parameter is the first, or its share below HARDLY
HARDLY = 0.05
INTERVAL = (0.05, 0.95)  # of the draws


@dataclass(frozen=True)
class Share:
    """How much one parameter matters: shares of the variance, from 0 to 1, with 90 % intervals."""

    name: str
    alone: float  # by itself
    total: float  # with what it does together with others
    alone_interval: tuple[float, float]
    total_interval: tuple[float, float]

    @property
    def is_small(self) -> bool:
        """Whether it hardly matters, as far as can be told."""
        return self.total_interval[1] < HARDLY


@dataclass(frozen=True)
class Importance:
    """The parameters, the most important one first, and what can be said of them."""

    shares: tuple[Share, ...]
    sentence: str
    is_told: bool  # whether there are experiments enough to say which matters most


def importance(surface: Surface) -> Importance:
    """Which parameter matters, by the outcomes so far."""
    functions = _functions(surface)
    alone, total = sobol_indices(surface.space, functions)
    order = np.argsort(-total.mean(axis=0), kind="stable")
    shares = tuple(_share(surface.space.names[k], alone[:, k], total[:, k]) for k in order)
    return Importance(shares, *_said(shares, total[:, order]))


def _functions(surface: Surface) -> list[_Function]:
    rng = np.random.default_rng(0)  # the same for everybody: the importance is a function of the data
    return [_Function(surface, Thompson.on(gp, rng, FEATURES)) for gp in surface.plausible.gps]


@dataclass(frozen=True)
class _Function:
    """A function that the outcomes leave possible, in their units."""

    surface: Surface
    path: Thompson

    def __call__(self, X: Array) -> Array:
        return self.surface.of_scores(self.surface.gp.transform.backward(self.path(X)))


def sobol_indices(
    space: Space, functions: Sequence[Callable[[Array], Array]], designs: int = DESIGNS
) -> tuple[Array, Array]:
    """First-order and total shares (functions, parameters) of functions of designs, in the order of the space."""
    rng = np.random.default_rng(0)
    X, others = _pairs(space, designs, rng)
    other = [_redrawn(space, X, name, units, rng) for name, units in zip(space.names, others, strict=True)]
    stacked = np.vstack([X, *other])
    groups = [_groups(space, X, name) for name in space.names]
    alone, total = np.empty((2, len(functions), len(space.names)))
    for row, function in enumerate(functions):
        values = function(stacked).reshape(-1, designs)
        f, variance = values[0], max(float(values[0].var(ddof=1)), np.finfo(float).tiny)
        alone[row] = [_explained(f, labels, variance) for labels in groups]
        total[row] = [_differing(f, changed) for changed in values[1:]]
    return alone, total.clip(0.0, 1.0)


def _pairs(space: Space, designs: int, rng: np.random.Generator) -> tuple[Array, list[Array]]:
    """Designs (n, D), and another value of each parameter for every design, of one evenly spread sequence."""
    free = (name for name in map("other{}".format, count()) if name not in space.parameters)
    copies = Space(dict(zip(free, space.parameters.values(), strict=False)))
    X = (space + copies).sample(designs, rng)
    blocks = [coordinates(copies, name) + space.dimension for name in copies.names]
    return X[:, : space.dimension], [X[:, block] for block in blocks]


def _redrawn(space: Space, X: Array, name: str, units: Array, rng: np.random.Generator) -> Array:
    """Designs that differ from X in one parameter alone, uniform over what is feasible; `units` are tried first."""
    found, missing = X.copy(), np.arange(len(X))
    for _ in range(TRIES):
        tried, is_feasible = moved(space, X[missing], (name,), units)
        found[missing[is_feasible]] = tried[is_feasible]
        missing = missing[~is_feasible]
        units = space.parameters[name].spread(rng.random(len(missing)))
    return found


def _differing(f: Array, changed: Array) -> float:
    """½ E (f(x) - f(x'))² / Var f, with the variance of both samples: so their errors mostly cancel."""
    variance = float(np.concatenate([f, changed]).var())
    return 0.5 * float(((f - changed) ** 2).mean()) / max(variance, np.finfo(float).tiny)


def _groups(space: Space, X: Array, name: str) -> Owners:
    """The number of the group that each design is in, by its value of a parameter: an option, a level or a bin."""
    values = space.parameters[name].natural(X[:, coordinates(space, name)]).reshape(-1)
    levels, place = np.unique(values, return_inverse=True)
    if len(levels) <= BINS:
        return place
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return ranks * BINS // len(values)


def _explained(f: Array, labels: Owners, variance: float) -> float:
    """The share of the variance between groups, without what chance puts there (Kelley's epsilon squared)."""
    counts = np.bincount(labels)
    means = np.bincount(labels, f) / np.maximum(counts, 1)
    groups = int((counts > 0).sum())
    within = float(((f - means[labels]) ** 2).sum()) / (len(f) - groups)
    return float(np.clip(1.0 - within / variance, 0.0, 1.0))


def _share(name: str, alone: Array, total: Array) -> Share:
    return Share(name, float(alone.mean()), float(total.mean()), _interval(alone), _interval(total))


def _interval(values: Array) -> tuple[float, float]:
    low, high = np.quantile(values, INTERVAL).tolist()
    return low, high


def _said(shares: Sequence[Share], total: Array) -> tuple[str, bool]:
    """What can be said in a sentence, and whether the first parameter is known. `total` (draws, parameters)."""
    if len(shares) == 1:
        return f"{shares[0].name} is the only parameter.", True
    first = np.bincount(total.argmax(axis=1), minlength=len(shares)) / len(total)
    hardly = [share.name for share in shares if share.is_small]
    more = f" {_listed(hardly)} hardly matter{'s' if len(hardly) == 1 else ''}." if hardly else ""
    if first[0] >= SURE:
        low, high = (f"{100 * end:.0f}" for end in shares[0].total_interval)
        share = f"{100 * shares[0].total:.0f} % of the differences between outcomes are due to it ({low} to {high} %)"
        return f"{shares[0].name} matters most: {share}.{more}", True
    if first[0] + first[1] >= SURE and len(shares) > 2:
        either = f"{shares[0].name} or {shares[1].name}"
        return f"{either} matters most; there are too few experiments to say which of the two.{more}", False
    return f"There are too few experiments to say which parameter matters most.{more}", False


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
