"""Lengthscales in common: every surrogate is rebuilt with the mean of everybody's log hyper-parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cboc.strategy.bayesian import Bayesian, padded
from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import build
from cboc.surrogate.gp import GP


@dataclass(frozen=True)
class Pooled(Bayesian):
    """A strategy whose sites, which have to think together, tell each other their lengthscales and noise."""

    def surrogates(self, situations: Sequence[Situation]) -> list[GP]:
        gps = super().surrogates(situations)
        theta = np.mean([gp.theta for gp in gps], axis=0)
        data = [padded(situation.dataset) for situation in situations]
        return [build(X, y, theta, self.model) for X, y in data]
