"""The problems of K sites, made from one: related, unrelated, in groups, or the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cboc.errors import CbocError
from cboc.problems.problem import Problem, heterogeneous

INNER = 0.8  # the part of the box, in every dimension, in which a displaced optimum may lie
PREFIX = "displaced "


def sites_of(common: Problem, sites: int, rng: np.random.Generator) -> list[Problem]:
    """Related problems: a1 f(x + a3) + a2 with the problem's own heterogeneity  (Sec. 5.1)."""
    draws = common.heterogeneity.draw(sites, rng).tolist()
    return _numbered([heterogeneous(common, *draw) for draw in draws])


def displaced(problem: Problem, rng: np.random.Generator) -> Problem:
    """f(x + d), with the first optimiser at a random place in the inner 80 % of the box, so the centre is no hint."""
    if len(problem.optimisers) == 0:
        raise CbocError(f"to displace '{problem.name}' one of its optimisers must be known; give it optimisers=.")
    low, high = problem.box
    place = low + (high - low) * (0.5 + INNER * (rng.random(len(low)) - 0.5))
    moved = heterogeneous(problem, 1.0, 0.0, problem.optimisers[0] - place)
    return replace(moved, name=PREFIX + problem.name.removeprefix(PREFIX))


def unrelated(problem: Problem, sites: int, rng: np.random.Generator) -> list[Problem]:
    """Problems of one kind whose optima have nothing in common: a1 f(x + d) + a2, each with its own d."""
    scales, offsets, _ = problem.heterogeneity.draw(sites, rng).T.tolist()
    draws = zip(scales, offsets, strict=True)
    return _numbered([heterogeneous(displaced(problem, rng), a1, a2, 0.0) for a1, a2 in draws])


def with_outlier(problem: Problem, sites: int, rng: np.random.Generator) -> list[Problem]:
    """Related problems, except the last, whose optimum is at a random place."""
    return _numbered([*sites_of(problem, sites - 1, rng), *unrelated(problem, 1, rng)])


def two_groups(problem: Problem, sites: int, rng: np.random.Generator) -> list[Problem]:
    """Related problems in two groups that have nothing in common: the first, third, ... and the others."""
    groups = [sites_of(displaced(problem, rng), count, rng) for count in ((sites + 1) // 2, sites // 2)]
    return _numbered([groups[k % 2][k // 2] for k in range(sites)])


def same(problem: Problem, sites: int) -> list[Problem]:
    """The homogeneous case, a1 = 1 and a2 = a3 = 0; if the problem is noisy, every site has its own noise."""
    return _numbered([problem] * sites)


def _numbered(problems: list[Problem]) -> list[Problem]:
    return [replace(problem, name=f"{problem.name.split('#')[0]}#{k}") for k, problem in enumerate(problems)]
