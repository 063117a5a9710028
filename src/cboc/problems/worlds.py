"""Worlds with a dial: problems of K sites that have as much in common as one asks for.

    dial     f_k = √r g + √(1-r) h_k: the sites share g, and r is the share of the variance that is common
    shifted  f_k(x) = g(x + s_k): every site's optimum lies elsewhere, by a small vector of its own
    rotated  f_k(x) = g(c + R_k (x - c)): every site has turned the box a little, about its centre c
    mixed    the dial, with a choice among the parameters
    groups   the dial, with a g for the even and another g for the odd sites

g and h_k are draws of a Gaussian process (draw.py) over the unit cube, to be minimised. Every world is a function of
(amount, dimension, sites, seed), and the seed decides everything: with the same seed there is the same g, and site k is
the same in a study of two or of ten sites.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cboc.arrays import Array, is_number
from cboc.errors import CbocError, whole
from cboc.problems.draw import Draw
from cboc.problems.problem import Problem
from cboc.problems.version import Function, Version
from cboc.space.choice import Choice
from cboc.space.space import Space

LENGTHSCALE = 0.25  # of g and h, in units of √D, the length of the cube's diagonal: no dimension is much harder
MOST_DIMENSIONS = 8
OPTIONS = ("A", "B", "C", "D")  # of the choice of a mixed world
APART = 0.5  # how far apart two options are, in units of √D

WORLD = 190_019  # sets the streams of worlds apart from all others of the same seed
COMMON, OWN, CHANGE = 1, 2, 3

Maker = Callable[[float, int, int, int], list[Problem]]  # amount, dimension, sites, seed


class Smooth(Protocol):
    """A function with a slope, the gradient by which its optimum is found."""

    def __call__(self, X: Array, /) -> Array: ...  # (n, d) -> (n,)
    def slope(self, X: Array, /) -> Array: ...  # (n, d) -> (n, d)


@dataclass(frozen=True)
class Blend:
    """f = √r g + √(1-r) h, whose variance is that of g and h, whatever r."""

    common: Smooth  # g
    own: Smooth  # h
    share: float  # r

    def __call__(self, X: Array) -> Array:
        return self._blended(lambda part: part(X))

    def slope(self, X: Array) -> Array:
        return self._blended(lambda part: part.slope(X))

    def _blended(self, of: Callable[[Smooth], Array]) -> Array:
        if self.share == 1.0:
            return of(self.common)
        if self.share == 0.0:
            return of(self.own)
        return np.sqrt(self.share) * of(self.common) + np.sqrt(1.0 - self.share) * of(self.own)


@dataclass(frozen=True)
class Turned:
    """f(c + R (x - c)) with c the centre of the unit cube."""

    common: Smooth
    rotation: tuple[tuple[float, ...], ...]  # R, (D, D)

    def __call__(self, X: Array) -> Array:
        return self.common(self._turned(X))

    def slope(self, X: Array) -> Array:
        return self.common.slope(self._turned(X)) @ np.array(self.rotation)

    def _turned(self, X: Array) -> Array:
        return 0.5 + (X - 0.5) @ np.array(self.rotation).T


@dataclass(frozen=True)
class WithOptions:
    """A function of numbers whose last parameter is an option: f at a corner of its own for every option."""

    common: Smooth  # of the numbers and as many further coordinates as there are options
    apart: float  # the distance of two corners

    def __call__(self, X: Array) -> Array:  # (n, d), the last one the number of an option
        return self.common(self._at_corners(X))

    def slope(self, X: Array) -> Array:
        """By the numbers; 0 by the option, which is held."""
        numbers = X.shape[1] - 1
        return np.pad(self.common.slope(self._at_corners(X))[:, :numbers], [(0, 0), (0, 1)])

    def _at_corners(self, X: Array) -> Array:
        corners = self.apart / np.sqrt(2.0) * np.eye(len(OPTIONS))
        return np.hstack([X[:, :-1], corners[X[:, -1].astype(int)]])


def dial(r: float, dimension: int, sites: int, seed: int) -> list[Problem]:
    """K functions that share r of their variance: 0 is nothing in common, 1 the same function."""
    _check(dimension, sites, seed)
    functions = _blends(r, dimension, dimension, sites, seed, groups=1)
    return _named(f"dial {r:g}", _cube(dimension), functions)


def groups(r: float, dimension: int, sites: int, seed: int) -> list[Problem]:
    """Two groups, of the even and of the odd sites: inside a group the dial, nothing in common between them."""
    _check(dimension, sites, seed)
    functions = _blends(r, dimension, dimension, sites, seed, groups=2)
    return _named(f"groups {r:g}", _cube(dimension), functions)


def mixed(r: float, dimension: int, sites: int, seed: int) -> list[Problem]:
    """The dial over D - 1 numbers and a choice of four options, which interact; r is common to both."""
    _check(dimension, sites, seed, least=2)
    inner = _blends(r, dimension, dimension - 1 + len(OPTIONS), sites, seed, groups=1)
    space = Space({**{f"x{d + 1}": (0.0, 1.0) for d in range(dimension - 1)}, "option": Choice(OPTIONS)})
    return _named(f"mixed {r:g}", space, [WithOptions(f, APART * np.sqrt(dimension)) for f in inner])


def shifted(sd: float, dimension: int, sites: int, seed: int) -> list[Problem]:
    """One function, moved by N(0, sd²) along every axis, for every site anew."""
    _check(dimension, sites, seed)
    _check_amount("the standard deviation of shifts", sd, 1.0)
    g = _draw(dimension, dimension, seed, COMMON, 0)
    shifts = [sd * _rng(seed, dimension, CHANGE, k).standard_normal(dimension) for k in range(sites)]
    return _named(f"shifted {sd:g}", _cube(dimension), [Version(g, shift=tuple(s.tolist())) for s in shifts])


def rotated(degrees: float, dimension: int, sites: int, seed: int) -> list[Problem]:
    """One function, turned about the centre of the box by so many degrees in a random plane, for every site anew."""
    _check(dimension, sites, seed, least=2)
    _check_amount("the angle in degrees", degrees, 180.0)
    g = _draw(dimension, dimension, seed, COMMON, 0)
    turns = [_rotation(degrees, dimension, _rng(seed, dimension, CHANGE, k)) for k in range(sites)]
    return _named(f"rotated {degrees:g}", _cube(dimension), [Turned(g, tuple(map(tuple, R.tolist()))) for R in turns])


WORLDS: dict[str, Maker] = {"dial": dial, "shifted": shifted, "rotated": rotated, "mixed": mixed, "groups": groups}


def _blends(r: float, dimension: int, coordinates: int, sites: int, seed: int, groups: int) -> list[Smooth]:
    """√r g + √(1-r) h_k of every site, where site k has the g of its group, k modulo their number."""
    _check_amount("r, the share that sites have in common,", r, 1.0)
    common = [_draw(dimension, coordinates, seed, COMMON, j) for j in range(groups)]
    return [Blend(common[k % groups], _draw(dimension, coordinates, seed, OWN, k), float(r)) for k in range(sites)]


def _draw(dimension: int, coordinates: int, seed: int, stream: int, number: int) -> Draw:
    return Draw(_stream(seed, dimension, stream, number), coordinates, LENGTHSCALE * float(np.sqrt(dimension)))


def _rotation(degrees: float, dimension: int, rng: np.random.Generator) -> Array:  # (D, D)
    """I + sin a (v uᵀ - u vᵀ) + (cos a - 1)(u uᵀ + v vᵀ), with u and v orthonormal: a turn from u towards v."""
    u, v = np.linalg.qr(rng.standard_normal((dimension, 2)))[0].T
    a = np.radians(degrees)
    R: Array = np.eye(dimension) + np.sin(a) * (np.outer(v, u) - np.outer(u, v))
    R += (np.cos(a) - 1) * (np.outer(u, u) + np.outer(v, v))
    return R


def _stream(seed: int, dimension: int, stream: int, number: int) -> tuple[int, ...]:
    return int(seed), WORLD, dimension, number, stream  # none ends in 0: NumPy takes [1, 2] and [1, 2, 0] for the same


def _rng(seed: int, dimension: int, stream: int, number: int) -> np.random.Generator:
    return np.random.default_rng(_stream(seed, dimension, stream, number))


def _cube(dimension: int) -> Space:
    return Space({f"x{d + 1}": (0.0, 1.0) for d in range(dimension)})


def _named(kind: str, space: Space, functions: Sequence[Function]) -> list[Problem]:
    return [Problem(f"{kind} {len(space.names)}-D#{k}", space, function) for k, function in enumerate(functions)]


def _check(dimension: int, sites: int, seed: int, least: int = 1) -> None:
    whole("the number of parameters of this world", dimension, least=least, most=MOST_DIMENSIONS)
    whole("the number of sites", sites)
    whole("a seed", seed, least=0)


def _check_amount(what: str, amount: float, most: float) -> None:
    if not is_number(amount) or not 0.0 <= amount <= most:
        raise CbocError(f"{what} is a number from 0 to {most:g}; this is {amount!r}.")
