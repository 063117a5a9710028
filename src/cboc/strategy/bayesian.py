"""How a site turns what it knows into a utility: the seam for other people's surrogates and acquisitions.

A strategy is any function `(Situation, rng) -> Utility`. One that also has `together`, from several situations to their
utilities, is asked once for all sites of a process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import PAPER, Model, Task, fit_all
from cboc.surrogate.gp import GP
from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.knowledge import KnowledgeGradient
from cboc.utility.noisy import NoisyEI
from cboc.utility.thompson import Thompson
from cboc.utility.utility import Utility

FRESH_LOOK = 8  # every so many points, or eighth of them, the hyper-parameters are searched from another start as well
LOOKS = 2


@dataclass(frozen=True)
class Bayesian:
    """A Gaussian process and a utility on it.

    A failed experiment counts as an outcome as bad as the worst that worked (the floor padding of Wakabayashi et al.,
    npj Comput. Mater. 2022): the surrogate then avoids its surroundings without inventing a scale for failure.
    """

    utility: Callable[[GP, np.random.Generator], Utility] = LogEI.on
    model: Model = field(default_factory=Model)

    def surrogate(self, situation: Situation) -> GP:
        """The fitted Gaussian process, with failures padded and experiments under way believed."""
        return self.surrogates([situation])[0]

    def surrogates(self, situations: Sequence[Situation]) -> list[GP]:
        """The same for several sites on one space, fitted together where they have as many data."""
        tasks = [_task(situation) for situation in situations]
        gps = fit_all(tasks, model=self.model, widths=situations[0].space.widths)
        return [gp.believe(situation.pending) for gp, situation in zip(gps, situations, strict=True)]

    def __call__(self, situation: Situation, rng: np.random.Generator) -> Utility:
        return self.batch([situation], [rng])[0]

    def batch(self, situations: Sequence[Situation], rngs: Sequence[np.random.Generator]) -> list[Utility]:
        """The utilities of several sites on one space, each the same as alone."""
        return [self.utility(gp, rng) for gp, rng in zip(self.surrogates(situations), rngs, strict=True)]


def _task(situation: Situation) -> Task:
    data, warm = situation.dataset, situation.warm_start
    floor = data.score.min() if len(data) else 0.0
    X = np.vstack([data.X, data.failures])
    y = np.append(data.score, np.full(len(data.failures), floor))
    sem = np.append(data.sem, np.full(len(data.failures), np.nan))
    interval = max(FRESH_LOOK, len(y) // FRESH_LOOK)
    looks = LOOKS if warm is None or len(y) % interval == 0 else 1
    return Task(X, y, sem, None if warm is None else np.array(warm), looks)


UTILITIES: dict[str, Callable[[GP, np.random.Generator], Utility]] = {
    "log_ei": LogEI.on,
    "ei": EI.on,
    "pi": PI.on,
    "ucb": UCB.on,
    "thompson": Thompson.on,
    "knowledge_gradient": KnowledgeGradient.on,
    "noisy_ei": NoisyEI.on,
}
"""By the names that study files use."""


def default() -> Bayesian:
    """Matern-5/2, dimension-scaled prior, compressed outcomes, LogEI."""
    return Bayesian()


def paper() -> Bayesian:
    """The surrogate and utility of the paper's experiments: 2023 defaults on raw inputs and outcomes, plain EI."""
    return Bayesian(utility=EI.on, model=PAPER)


SURROGATES: dict[str, Callable[[], Bayesian]] = {"default": default, "paper": paper}
"""Likewise."""


def named(surrogate: str, utility: str | None = None) -> Bayesian:
    """By these names; None: the surrogate's own utility, LogEI or, for the paper's, EI."""
    strategy = SURROGATES[surrogate]()
    return strategy if utility is None else replace(strategy, utility=UTILITIES[utility])
