"""Test problems by name: those of the paper's simulation study, and further ones that people in this field use."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean
from cboc.problems import functions, more_functions
from cboc.problems.heterogeneity import Heterogeneity
from cboc.problems.problem import Problem
from cboc.problems.sites import sites_of as sites_of  # its old import path
from cboc.space.space import Space


def _box(dimension: int, low: float, high: float) -> Space:
    return Space({f"x{d + 1}": (low, high) for d in range(dimension)})


def _everywhere(dimension: int, x: float) -> Array:
    """One optimiser with the same value in every dimension."""
    return np.full((1, dimension), x)


SHEKEL_OPTIMISER = (4.000746868270634, 3.999509480085774, 4.000746868270634, 3.999509480085774)
HARTMANN_OPTIMISER = (
    *(0.2016895110067054, 0.1500106918234580, 0.4768739742218970),
    *(0.2753324304940561, 0.3116516166001133, 0.6573005340656204),
)


# The paper's, with its distributions of a1, a2 and a3 (Sec. 5, Appendix 3)


def levy(dimension: int = 2) -> Problem:
    """Many ripples on a bowl; the optimum is at x = 1."""
    return Problem(
        f"levy-{dimension}",
        _box(dimension, -10.0, 10.0),
        functions.levy,
        known_optimum=0.0,
        optimisers=_everywhere(dimension, 1.0),
        is_global=True,
        heterogeneity=Heterogeneity(scale=(0.5, 1.0), offset=(0.0, 1.0), shift=(0.0, 1.0)),
    )


def ackley(dimension: int = 5) -> Problem:
    """Nearly flat, with one narrow well in the middle."""
    return Problem(
        f"ackley-{dimension}",
        _box(dimension, -32.768, 32.768),
        functions.ackley,
        known_optimum=0.0,
        optimisers=_everywhere(dimension, 0.0),
        is_global=True,
        heterogeneity=Heterogeneity(scale=(1.0, 2.0), offset=(0.5, 1.0), shift=(0.5, 1.0)),
    )


def branin() -> Problem:
    """A valley with three equal minima in the box, and more beyond: the valley where cos x1 = -1."""
    x1 = np.pi * (2 * np.array([0, -1, 1, -2, 2, -3, 3]) + 1)
    x2 = 5.1 / (4 * np.pi**2) * x1**2 - 5 / np.pi * x1 + 6
    return Problem(
        "branin",
        Space({"x1": (-5.0, 10.0), "x2": (0.0, 15.0)}),
        functions.branin,
        known_optimum=0.39788735772973816,
        optimisers=np.stack([x1, x2], axis=1),
        is_global=True,
        heterogeneity=Heterogeneity(scale=(0.5, 1.0), offset=(0.0, 1.0), shift=(0.0, 1.0)),
    )


def shekel() -> Problem:
    """Ten wells of different depth in four dimensions."""
    return Problem(
        "shekel-10",
        _box(4, 0.0, 10.0),
        functions.shekel,
        known_optimum=-10.536443153483528,
        optimisers=np.array([SHEKEL_OPTIMISER]),
        is_global=True,
        heterogeneity=Heterogeneity(scale=(0.5, 1.0), offset=(0.0, np.sqrt(2.0)), shift=(0.0, 1.0)),  # N(0, 2)
    )


def hartmann() -> Problem:
    """Four bumps in six dimensions."""
    return Problem(
        "hartmann-6",
        _box(6, 0.0, 1.0),
        functions.hartmann,
        known_optimum=-3.322368011415514,
        optimisers=np.array([HARTMANN_OPTIMISER]),
        is_global=True,
        heterogeneity=Heterogeneity(scale=(0.5, 2.0), offset=(0.0, 1.0), shift=(0.0, 1.0)),
    )


# Not the paper's; a1 ~ U(0.5, 1), a2 ~ N(0, 1), a3 ~ N(0, (5 % of the box)²) is our choice


def _ours(width: float) -> Heterogeneity:
    return Heterogeneity(scale=(0.5, 1.0), offset=(0.0, 1.0), shift=(0.0, 0.05 * width))


def rosenbrock(dimension: int = 4) -> Problem:
    """A long bent valley, nearly flat along its floor; the optimum is at x = 1."""
    if dimension < 2:
        raise CbocError(f"rosenbrock has at least 2 dimensions, but got {dimension}; try 'rosenbrock-2'.")
    return Problem(
        f"rosenbrock-{dimension}",
        _box(dimension, -5.0, 10.0),
        more_functions.rosenbrock,
        known_optimum=0.0,
        optimisers=_everywhere(dimension, 1.0),
        is_global=True,
        heterogeneity=_ours(15.0),
    )


def styblinski_tang(dimension: int = 4) -> Problem:
    """Two wells in every dimension, one of them deeper: 2^D minima."""
    return Problem(
        f"styblinski-tang-{dimension}",
        _box(dimension, -5.0, 5.0),
        more_functions.styblinski_tang,
        known_optimum=-39.16616570377141 * dimension,
        optimisers=_everywhere(dimension, -2.903534027771177),  # 4x³ - 32x + 5 = 0
        is_global=True,
        heterogeneity=_ours(10.0),
    )


def rastrigin(dimension: int = 4) -> Problem:
    """A regular egg box on a bowl; the optimum is in the middle."""
    return Problem(
        f"rastrigin-{dimension}",
        _box(dimension, -5.12, 5.12),
        more_functions.rastrigin,
        known_optimum=0.0,
        optimisers=_everywhere(dimension, 0.0),
        is_global=True,
        heterogeneity=_ours(10.24),
    )


def michalewicz(dimension: int = 4) -> Problem:
    """Steep narrow valleys that cross in D! places; beyond the box they go on, some of them deeper."""
    optimiser = _michalewicz_optimiser(dimension)
    return Problem(
        f"michalewicz-{dimension}",
        _box(dimension, 0.0, np.pi),
        more_functions.michalewicz,
        known_optimum=float(more_functions.michalewicz(optimiser)[0]),
        optimisers=optimiser,
        heterogeneity=_ours(np.pi),
    )


@lru_cache
def _michalewicz_optimiser(dimension: int) -> Array:  # (1, D)
    """The optimiser, one dimension at a time: the best of a grid finer than the valleys, then of finer grids."""
    best, grid = np.full((1, dimension), np.pi / 2), np.linspace(-1.0, 1.0, 400 * dimension + 1)[:, None]
    for reach in np.pi / 2 * np.array([1.0, 1e-2, 1e-4, 1e-6, 1e-8]):
        X = best + reach * grid
        best = np.take_along_axis(X, more_functions.michalewicz_terms(X).argmin(axis=0)[None], axis=0)
    return best


MOST = 100  # most dimensions of a family
SINGLES = {"branin": branin, "shekel-10": shekel, "hartmann-6": hartmann}
FAMILIES = {
    "levy": levy,
    "ackley": ackley,
    "rosenbrock": rosenbrock,
    "styblinski-tang": styblinski_tang,
    "rastrigin": rastrigin,
    "michalewicz": michalewicz,
}


def problem(name: str) -> Problem:
    """The problem of a name: 'branin', 'shekel-10', 'hartmann-6', or a family with its dimension, such as 'levy-4'."""
    if name in SINGLES:
        return SINGLES[name]()
    family, _, dimension = name.rpartition("-")
    if family in FAMILIES:
        return FAMILIES[family](_dimension(family, dimension))
    known = [*SINGLES, *(f"{family}-{d}" for family in FAMILIES for d in (2, 4, 5, 8))]
    raise CbocError(f"'{name}' is not a problem of this library; {did_you_mean(name, known)}")


def _dimension(family: str, written: str) -> int:
    is_number = written.isascii() and written.isdigit() and len(written) <= len(str(MOST))
    if is_number and 1 <= int(written) <= MOST:
        return int(written)
    fewest = 2 if family == "rosenbrock" else 1
    raise CbocError(f"{family} has {fewest} to {MOST} dimensions, but got '{written}'; try '{family}-2'.")
