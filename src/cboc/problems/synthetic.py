"""The problems of the paper's simulation study, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cboc.errors import CbocError, did_you_mean
from cboc.problems import functions
from cboc.problems.problem import Problem, heterogeneous
from cboc.space import Space


def _box(dimension: int, low: float, high: float) -> Space:
    return Space({f"x{d + 1}": (low, high) for d in range(dimension)})


def levy(dimension: int = 2) -> Problem:
    """Many ripples on a bowl; the optimum is at x = 1."""
    return Problem(f"levy-{dimension}", _box(dimension, -10.0, 10.0), functions.levy, known_optimum=0.0)


def ackley(dimension: int = 5) -> Problem:
    """Nearly flat, with one narrow well in the middle."""
    return Problem(f"ackley-{dimension}", _box(dimension, -32.768, 32.768), functions.ackley, known_optimum=0.0)


def branin() -> Problem:
    """A valley with three equal minima."""
    space = Space({"x1": (-5.0, 10.0), "x2": (0.0, 15.0)})
    return Problem("branin", space, functions.branin, known_optimum=0.39788735772973816)


def shekel() -> Problem:
    """Ten wells of different depth in four dimensions."""
    return Problem("shekel-10", _box(4, 0.0, 10.0), functions.shekel, known_optimum=-10.536443153483528)


def hartmann() -> Problem:
    """Four bumps in six dimensions."""
    return Problem("hartmann-6", _box(6, 0.0, 1.0), functions.hartmann, known_optimum=-3.322368011415514)


FAMILIES = {"levy": levy, "ackley": ackley}
SINGLES = {"branin": branin, "shekel-10": shekel, "hartmann-6": hartmann}


def problem(name: str) -> Problem:
    """'levy-4', 'ackley-5', 'branin', 'shekel-10', 'hartmann-6'."""
    if name in SINGLES:
        return SINGLES[name]()
    family, _, dimension = name.rpartition("-")
    if family in FAMILIES and dimension.isdigit() and 1 <= int(dimension) <= 100:
        return FAMILIES[family](int(dimension))
    known = [*SINGLES, *(f"{family}-{d}" for family in FAMILIES for d in (2, 4, 5, 8))]
    raise CbocError(f"'{name}' is no problem of this library; {did_you_mean(name, known)}")


def sites_of(common: Problem, sites: int, rng: np.random.Generator) -> list[Problem]:
    """Heterogeneous versions of one problem: a1 ~ U(0.5, 1), a2 and a3 ~ N(0, 1)  (Sec. 5.1)."""
    draws = zip(rng.uniform(0.5, 1.0, sites), rng.standard_normal(sites), rng.standard_normal(sites), strict=True)
    return [
        replace(heterogeneous(common, *map(float, draw)), name=f"{common.name}#{k}") for k, draw in enumerate(draws)
    ]
