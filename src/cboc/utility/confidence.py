"""Upper confidence bound:  UCB(x) = μ(x) + √β σ(x)   (Srinivas et al. 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cboc.arrays import Array
from cboc.surrogate.gp import GP
from cboc.utility.gp_based import Surrogated, log_gain


@dataclass(frozen=True)
class UCB(Surrogated):
    """Optimism: the best that is still plausible. Its worth is how far it exceeds the best mean so far."""

    gp: GP
    beta: float = 4.0

    @cached_property
    def best(self) -> float:
        """The largest posterior mean at the data."""
        return float(self.gp.moments(self.gp.X)[0].max())

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        value: Array = mean + np.sqrt(self.beta) * sd
        return value

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        root = np.sqrt(self.beta)
        return mean + root * sd, d_mean + root * d_sd

    def log_worth(self, X: Array) -> Array:
        return log_gain(self(X) - self.best)
