"""All sites' outcomes in one Gaussian process: the benefit of sharing everything, which is the price of privacy.

The site is one more parameter, a choice: it adds 1/ℓ_i² + 1/ℓ_j² to the scaled distance of two designs of different
sites i and j. The ℓ of the sites are learned, so similar sites are treated as one and a different site is not. Every
site's outcomes are standardised separately: offsets and scales carry no information.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.data.dataset import Dataset
from cboc.evidence.case import POOLED, Case
from cboc.evidence.methods.agent import maximise_anew
from cboc.strategy.bayesian import padded
from cboc.surrogate.fitting import fit
from cboc.surrogate.gp import GP
from cboc.surrogate.transforms import raw
from cboc.utility.normal import log_h


@dataclass(frozen=True)
class Pooled:
    """One surrogate for all sites, and for each site the expected improvement over its own best.

    The cost is cubic in the number of outcomes, so each site gives only its best ones, at most its share of `limit`.
    """

    limit: int = 500

    def __call__(self, case: Case) -> Array:
        data, memory, designs = list(case.initial), None, []
        with one_thread():
            for t in range(case.horizon):
                gp = self._fit(case, data, memory)
                memory = gp.theta
                X = np.array([self._choose(case, gp, data[k], k, t) for k in range(case.sites)])
                data = [measured + case.measured(k, X[k][None]) for k, measured in enumerate(data)]
                designs.append(X)
        return np.array(designs).transpose(1, 0, 2)

    def _fit(self, case: Case, data: list[Dataset], memory: Array | None) -> GP:
        model, D = case.strategy.model, case.space.dimension
        share = self.limit // case.sites
        X, y = [], []
        for k, measured in enumerate(data):
            designs, scores = padded(measured)
            best = np.argsort(-scores, kind="stable")[:share]
            X.append(_labelled(designs[best], k, case.sites))
            y.append(model.transform(scores).forward(scores[best]))
        widths = np.append(case.space.widths, np.ones(case.sites))
        shared = replace(model, transform=raw, lengthscale=lambda _: model.lengthscale(D))
        return fit(np.vstack(X), np.concatenate(y), model=shared, widths=widths, warm_start=memory)

    def _choose(self, case: Case, gp: GP, data: Dataset, k: int, t: int) -> Array:
        designs, scores = padded(data)
        best = float(case.strategy.model.transform(scores).forward(scores).max())
        anchors = designs[np.argsort(-scores, kind="stable")]
        utility = _OneSite(gp, k, case.sites, best, anchors)
        return maximise_anew(utility, case.space, designs, case.rng(k, t, POOLED))


def _labelled(X: Array, site: int, sites: int) -> Array:
    """Designs (n, D) followed by the indicator of their site, (n, D + K)."""
    return np.hstack([X, np.tile(np.eye(sites)[site], (len(X), 1))])


@dataclass(frozen=True)
class _OneSite:
    """LogEI of one site's designs on the common surrogate."""

    gp: GP
    site: int
    sites: int
    best: float
    anchors: Array

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(_labelled(X, self.site, self.sites))
        value: Array = np.log(sd) + log_h((mean - self.best) / sd)[0]
        return value

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(_labelled(X, self.site, self.sites))
        D = X.shape[1]
        z = (mean - self.best) / sd
        value, rate = log_h(z)
        gradient = ((1.0 - rate * z) / sd)[:, None] * d_sd[:, :D] + (rate / sd)[:, None] * d_mean[:, :D]
        return np.log(sd) + value, gradient

    def log_worth(self, X: Array) -> Array:
        return self(X)
