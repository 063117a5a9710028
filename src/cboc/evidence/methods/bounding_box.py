"""Bounding box: search only where the best designs of all sites lie.

After Perrone et al., "Learning search spaces for Bayesian optimization" (NeurIPS 2019), who learn the box from tasks
that are finished; here it is spanned anew in every round.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from cboc.arrays import Array, Mask, one_thread
from cboc.evidence.case import OWN, Case
from cboc.evidence.methods.agent import Agent, executed, surrogates
from cboc.search.landscape import Landscape
from cboc.search.maximise import maximise
from cboc.space.choice import Choice
from cboc.space.space import Space
from cboc.surrogate.gp import GP

MARGIN = 0.01  # of a number's range, to either side: a box of one design is not a point


def bounding_box(case: Case) -> Array:  # (K, T, D)
    """Every site maximises its own utility over the box; all designs are run before the box is spanned again."""
    agents = [Agent(case, site) for site in range(case.sites)]
    with one_thread():
        for t in range(case.horizon):
            bests = np.array([best for agent in agents if (best := agent.best) is not None])
            gps = surrogates(agents, case.strategy)
            designs = [_choose(agent, gp, bests, t) for agent, gp in zip(agents, gps, strict=True)]
            for agent, x in zip(agents, designs, strict=True):
                agent.run(x)
    return executed(agents)


def _choose(agent: Agent, gp: GP, bests: Array, t: int) -> Array:
    rng = agent.case.rng(agent.site, t, OWN)
    utility, space = agent.case.strategy.utility(gp, rng), agent.case.space
    box = Box(space, bests) if len(bests) else None
    if box is None or box.is_spent(agent.tried):
        return maximise(utility, space, rng)[0]
    return maximise(Inside(utility, box.options), box.numbers, rng)[0]


@dataclass(frozen=True)
class Box:
    """The box spanned by some designs: ranges of numbers, and of every choice the options that occur."""

    space: Space
    designs: Array  # (m, D), unit cube

    @cached_property
    def options(self) -> Mask:  # (D,)
        """Which coordinates may be 1; all that are no options may."""
        is_option = np.zeros(self.space.dimension, dtype=bool)
        for block in self.space.blocks:
            is_option[block] = True
        return ~is_option | (self.designs > 0.5).any(axis=0)

    @cached_property
    def numbers(self) -> Space:
        """The space with the ranges of numbers as constraints; it has the coordinates of the whole."""
        low = np.maximum(self.designs.min(axis=0) - MARGIN, 0.0)
        high = np.minimum(self.designs.max(axis=0) + MARGIN, 1.0)
        bounds, place = [], 0
        for name, parameter in self.space.parameters.items():
            if not isinstance(parameter, Choice):
                least, most = parameter.axis.low, parameter.axis.high
                ends = (least + u[place] * (most - least) for u in (low, high))
                bounds += [
                    f"{name} {relation} {float(end)!r}" for relation, end in zip((">=", "<="), ends, strict=True)
                ]
            place += parameter.size
        return Space(self.space.parameters, (*self.space.constraints, *bounds))

    def is_spent(self, tried: Array) -> bool:
        """Whether all designs of the box have been run; a range of numbers never ends."""
        if any(not parameter.is_choice for parameter in self.space.parameters.values()):
            return False
        inside = np.unique(tried[~_is_outside(tried, self.options)], axis=0)
        return len(inside) == prod(int(self.options[block].sum()) for block in self.space.blocks)


@dataclass(frozen=True)
class Inside:
    """A landscape that is minus infinity wherever an option does not occur in the box."""

    landscape: Landscape
    options: Mask  # (D,)

    @property
    def anchors(self) -> Array:
        return self.landscape.anchors

    def __call__(self, X: Array) -> Array:
        return np.where(_is_outside(X, self.options), -np.inf, self.landscape(X))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        values, gradients = self.landscape.with_gradient(X)
        return np.where(_is_outside(X, self.options), -np.inf, values), gradients


def _is_outside(X: Array, options: Mask) -> Mask:  # (n,)
    return np.asarray((X[:, ~options] > 0.5).any(axis=1))
