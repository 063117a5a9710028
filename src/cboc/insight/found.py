"""The results of a site where several outcomes count: which are on the front, which break a limit, how far behind.

    behind   d_i = (b_i - s_i)/(b_i - a_i)      in every objective, 0 is the best       (`cboc.data.results`)

By weights w a result is the better the smaller max_i w_i d_i + ρ Σ_i w_i d_i is, with ρ = `AUGMENTED`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.data.goal import Limit
from cboc.data.results import AUGMENTED
from cboc.insight.measured import Measured, measured
from cboc.site.outcomes import outcomes_of
from cboc.site.site import Site


@dataclass(frozen=True)
class Found:
    """One result: where, what, and what it is worth among the others."""

    measured: Measured
    outcomes: Mapping[str, float]  # by name
    is_on_front: bool
    broken: tuple[Limit, ...]  # the limits that it breaks
    behind: tuple[float, ...]  # of every objective; empty if there is one

    @property
    def number(self) -> int | None:
        """The number of its trial; None: from before the study."""
        return self.measured.number

    @property
    def name(self) -> str:
        """What it is called in a picture."""
        return self.measured.name


def found(site: Site) -> list[Found]:
    """All results of a site in the order of `site.results`; the failures are none."""
    results, goal = site.results, site.goal
    points = measured(site)[: len(results)]
    is_on_front, keeps = results.is_on_front, results.margins >= 0.0
    return [
        Found(
            point,
            outcomes_of(site, k),
            bool(is_on_front[k]),
            tuple(limit for limit, kept in zip(goal.limits, keeps[k], strict=True) if not kept),
            tuple(behind),
        )
        for k, (point, behind) in enumerate(zip(points, _behind(site), strict=True))
    ]


def _behind(site: Site) -> list[list[float]]:  # (n, m)
    """How far every result stays behind the best, by each objective alone; nothing where there is one."""
    results, m = site.results, len(site.goal.aims)
    if m == 1:
        return [[] for _ in range(len(results))]
    merits = np.array([results.merit(alone) for alone in np.eye(m)]).reshape(m, len(results))
    behind: list[list[float]] = (-merits.T / (1.0 + AUGMENTED)).tolist()
    return behind


def by_weights(front: Sequence[Found], weights: Sequence[float]) -> Found:
    """The result that is best by these weights of the objectives; of equals, the first."""
    return min(front, key=lambda each: _apart(each.behind, weights))


def _apart(behind: Sequence[float], weights: Sequence[float]) -> float:
    weighted = [weight * each for weight, each in zip(weights, behind, strict=True)]
    return max(weighted) + AUGMENTED * sum(weighted)
