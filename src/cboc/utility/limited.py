"""A utility where outcomes have limits: what an experiment would bring, times the probability that it keeps to them.

    U(x) = log V(x) + Σ_j log Φ(μ_j(x)/σ_j(x))        of the margins that the limits leave (Gardner et al. 2014)

As long as nothing that keeps to all limits is known, there is no V, and a design is sought that keeps to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from cboc.arrays import Array
from cboc.search.landscape import units_of
from cboc.surrogate.gp import GP, Stack
from cboc.utility.normal import HALF_LOG_TAU
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Limited:
    """The logarithm of a utility, plus that of the probability that all limits are kept."""

    utility: Utility | None  # V, a logarithm; None: nothing that keeps to the limits is known
    margins: Sequence[GP]  # one for each limit, on the same designs
    least: Array  # (l,) the margin of 0, on the scale of each surrogate

    is_log = True

    @cached_property
    def stack(self) -> Stack:
        """The surrogates of the margins as one."""
        return Stack(self.margins)

    @cached_property
    def anchors(self) -> Array:
        """Those of the utility; else the data, those that keep to the limits best first."""
        if self.utility is not None:
            return self.utility.anchors
        kept = np.sum(
            [np.minimum(gp.y - least, 0.0) for gp, least in zip(self.margins, self.least, strict=True)], axis=0
        )
        return self.margins[0].X[np.argsort(-kept, kind="stable")]

    @property
    def units(self) -> Array:
        """The shortest lengths over which it changes, (D,)."""
        lengths = [gp.lengthscales for gp in self.margins]
        if self.utility is not None:
            lengths.append(units_of(self.utility, len(lengths[0])))
        return np.min(lengths, axis=0)

    def __call__(self, X: Array) -> Array:
        means, sds = self.stack.moments(np.broadcast_to(X, (len(self.margins), *X.shape)))
        kept: Array = log_ndtr((means - self.least[:, None]) / sds).sum(axis=0)
        return kept if self.utility is None else kept + self.utility(X)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        count, (q, D) = len(self.margins), X.shape
        owners = np.repeat(np.arange(count), q)
        mean, sd, d_mean, d_sd = self.stack.moments_with_gradient(np.tile(X, (count, 1)), owners)
        z = (mean - self.least[owners]) / sd
        value = log_ndtr(z)
        rate = np.exp(-0.5 * z * z - HALF_LOG_TAU - value) / sd  # φ/Φ
        slope = rate[:, None] * (d_mean - z[:, None] * d_sd)
        kept, along = value.reshape(count, q).sum(axis=0), slope.reshape(count, q, D).sum(axis=0)
        if self.utility is None:
            return kept, along
        worth, slope = self.utility.with_gradient(X)
        return kept + worth, along + slope

    def log_worth(self, X: Array) -> Array:
        return self(X)
