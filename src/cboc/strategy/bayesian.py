"""A surrogate and a utility on it: how a site turns its data into an opinion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.data.results import Results
from cboc.errors import CbocError
from cboc.strategy.beliefs import Beliefs
from cboc.strategy.opinion import Blind, ByUtility, Generator, Opinion, Strategy, by_utility
from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import PAPER, Model, Task, fit_all
from cboc.surrogate.gp import GP
from cboc.surrogate.looks import looks
from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.knowledge import KnowledgeGradient
from cboc.utility.noisy import NoisyEI
from cboc.utility.thompson import Thompson
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Bayesian(Strategy):
    """A Gaussian process and a utility on it.

    A failed experiment counts as an outcome as bad as the worst that worked (the floor padding of Wakabayashi et al.,
    npj Comput. Mater. 2022): the surrogate then avoids its surroundings without inventing a scale for failure.
    """

    utility: Callable[[GP, Generator], Utility] = LogEI.on
    model: Model = field(default_factory=Model)

    can_batch = True

    def __post_init__(self) -> None:
        is_class = isinstance(self.utility, type) and hasattr(self.utility, "on")
        if is_class or not callable(self.utility):
            hint = f" Write {self.utility.__name__}.on." if is_class else ""
            raise CbocError(f"a utility is a function of a surrogate, such as LogEI.on; {self.utility!r} is not.{hint}")
        if not isinstance(self.model, Model):
            raise CbocError(f"a surrogate's model is a Model(), such as PAPER; {self.model!r} is not.")

    def surrogate(self, situation: Situation) -> GP:
        """The fitted Gaussian process, with padded failures and predicted outcomes for experiments under way."""
        return self.surrogates([situation])[0]

    def surrogates(self, situations: Sequence[Situation]) -> list[GP]:
        """The surrogates of several sites on one space, fitted together if they have equally many data."""
        tasks = [_task(situation) for situation in situations]
        gps = fit_all(tasks, model=self.model, widths=situations[0].space.widths)
        return [gp.believe(situation.pending) for gp, situation in zip(gps, situations, strict=True)]

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return self.batch([situation], [rng])[0] if situation.has_data else Blind(situation, rng)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        """The opinions of several sites on one space that all have data; each is the same as alone."""
        results = [situation.results for situation in situations]
        if any(each is not None for each in results):
            return [self._of_several(*each) for each in zip(results, situations, rngs, strict=True)]
        return self.opinions(self.surrogates(situations), situations, rngs)

    def _of_several(self, results: Results | None, situation: Situation, rng: Generator) -> Opinion:
        """The opinion of a site where several outcomes count; of one where they do not, as alone."""
        if results is None:
            return self.batch([situation], [rng])[0]
        beliefs = Beliefs.of(results, situation, self.model)
        return ByUtility(beliefs.utility(), situation, rng, beliefs.memory, finish=beliefs.finish)

    def opinions(self, gps: Sequence[GP], situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        """The opinions that these surrogates lead to."""
        utilities = [self.utility(gp, rng) for gp, rng in zip(gps, rngs, strict=True)]
        return [*by_utility(utilities, situations, rngs, [tuple(gp.theta.tolist()) for gp in gps])]


def padded(data: Dataset) -> tuple[Array, Array]:  # (n + f, D), (n + f,)
    """Designs and scores, with every failure as bad as the worst that worked."""
    floor = data.score.min() if len(data) else 0.0
    return np.vstack([data.X, data.failures]), np.append(data.score, np.full(len(data.failures), floor))


def _task(situation: Situation) -> Task:
    data, memory = situation.dataset, situation.memory
    X, y = padded(data)
    sem = np.append(data.sem, np.full(len(data.failures), np.nan))
    return Task(X, y, sem, None if memory is None else np.array(memory), looks(len(y), memory is None))


def paper() -> Bayesian:
    """The surrogate and utility of the paper's experiments: 2023 defaults on raw inputs and outcomes, plain EI."""
    return Bayesian(utility=EI.on, model=PAPER)


UTILITIES: dict[str, Callable[[GP, Generator], Utility]] = {
    "log_ei": LogEI.on,
    "ei": EI.on,
    "pi": PI.on,
    "ucb": UCB.on,
    "thompson": Thompson.on,
    "knowledge_gradient": KnowledgeGradient.on,
    "noisy_ei": NoisyEI.on,
}
"""Utilities by the names that study files use."""

SURROGATES: dict[str, Callable[[], Bayesian]] = {"default": Bayesian, "paper": paper}
"""Surrogates by the names that study files use."""


def named(surrogate: str = "default", utility: str | None = None) -> Bayesian:
    """The strategy with these names; utility None is the surrogate's default: LogEI, or EI for the paper's."""
    strategy = SURROGATES[surrogate]()
    return strategy if utility is None else replace(strategy, utility=UTILITIES[utility])
