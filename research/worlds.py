"""Worlds on which something is chosen: smooth problems, worlds with a dial, made-up recipes, idle parameters, noise.

Recipes are tables that this file makes: main effects and pairs of effects of the options, alike by a share r.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Direction
from cboc.evidence.real.lookup import Options, known
from cboc.evidence.scenario import Kind, Scenario
from cboc.problems.problem import Problem
from cboc.problems.worlds import WORLDS
from cboc.runs.metrics import gap
from cboc.space.choice import Choice
from cboc.space.space import Space

SIZES = (4, 12, 4, 3)  # options of the recipes


def problems_of(world: str, sites: int, seed: int) -> list[Problem]:
    """The problems of a world: "dial 0.9 4" (kind, amount, parameters), "recipes 0.9", "among branin 5", "levy-4"."""
    if world.split()[0] in WORLDS:
        kind, amount, dimension = world.split()
        return WORLDS[kind](float(amount), int(dimension), sites, seed)
    if world.startswith("recipes"):
        return recipes(float(world.split()[1]), sites, seed)
    if world.startswith("among"):  # a problem whose parameters are among others that do nothing
        _, name, dimension = world.split()
        return [among(p, int(dimension)) for p in Scenario(name, sites, is_displaced=True).problems(seed)]
    if world.endswith("noisy"):
        return Scenario(world.split()[0], sites, is_displaced=True, noise=0.05).problems(seed)
    if world.endswith("unrelated"):
        return Scenario("levy-4", sites, Kind.UNRELATED).problems(seed)
    return Scenario(world, sites, is_displaced=True).problems(seed)


@dataclass(frozen=True)
class Among:
    """A function of the first coordinates, in a space with further ones."""

    problem: Problem

    def __call__(self, X: Array) -> Array:
        d = len(self.problem.space.names)
        low, high = self.problem.box
        return self.problem.function(low + (high - low) * X[:, :d])


def among(problem: Problem, dimension: int) -> Problem:
    space = Space({f"x{d}": (0.0, 1.0) for d in range(dimension)})
    return Problem(problem.name, space, Among(problem), problem.direction, known_optimum=problem.optimum)


def recipes(r: float, sites: int, seed: int) -> list[Problem]:
    """Yields of all recipes: effects of options and of pairs, a share r of their variance common to all sites."""
    space = Space({f"p{d}": Choice([f"o{i}" for i in range(size)]) for d, size in enumerate(SIZES)})
    rng = np.random.default_rng([seed, 11])
    common = _effects(rng)
    found = []
    for k in range(sites):
        mixed = np.sqrt(r) * common + np.sqrt(1.0 - r) * _effects(rng) + 0.3 * rng.standard_normal(SIZES)
        table = Options(100.0 / (1.0 + np.exp(1.0 - 1.5 * mixed)))
        found.append(known(f"recipes {k}", space, Direction.MAXIMISE, table).problem)
    return found


def _effects(rng: np.random.Generator) -> Array:
    """Effects of single options and of pairs, with variance one in the mean."""
    total = np.zeros(SIZES)
    for d in range(len(SIZES)):
        total += rng.standard_normal([s if j == d else 1 for j, s in enumerate(SIZES)]) * 0.42
    for d, e in combinations(range(len(SIZES)), 2):
        total += rng.standard_normal([s if j in (d, e) else 1 for j, s in enumerate(SIZES)]) * 0.22
    return total


def lengths_of(world: str, problems: list[Problem]) -> tuple[int, int]:
    """Initial designs and all experiments of a site: 2 and 10 per parameter, or 4 and 40 on recipes."""
    D = len(problems[0].space.names)
    return (4, 40) if world.startswith("recipes") else (2 * D, 10 * D)


def curve(problem: Problem, X: Array) -> Array:
    """The Gap after every experiment, from the median."""
    is_table = isinstance(problem.function, Options)
    values = np.array([problem(problem.space.from_unit(x)) for x in X]) if is_table else problem.values(X)
    loss = np.minimum.accumulate(-problem.direction.sign * (values - problem.optimum))
    if is_table:
        return np.maximum(gap(loss, abs(problem.optimum - float(np.median(problem.function.outcomes)))), 0.0)
    return np.ones(len(loss)) if problem.is_flat else np.maximum(gap(loss, problem.depth), 0.0)
