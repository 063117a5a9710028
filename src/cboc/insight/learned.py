"""All that a site has learned so far, by its own surrogate; computed when it is asked for. None of it leaves the site.

learned = Learned.of(site)
str(learned.expected(site.to_run[0].x))      # '0.62 to 0.81'
learned.importance.sentence
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.data.numbers import written
from cboc.errors import CbocError
from cboc.insight.contours import Contours, contours
from cboc.insight.importance import Importance, importance
from cboc.insight.measured import Measured, measured
from cboc.insight.predicted import Predicted, predicted
from cboc.insight.slices import ParameterSlice, slices
from cboc.insight.surface import Expectation, Surface
from cboc.site.site import Site
from cboc.strategy.bayesian import Bayesian
from cboc.surrogate.gp import GP

FEWEST = 3  # outcomes from which something can be learned


@dataclass(frozen=True)
class Learned:
    """What a site's own surrogate says of its experiments, as plain data. Private to the site."""

    site: str
    outcome: str  # what is measured, and whether more of it is better: 'yield (%), to maximise'
    surface: Surface
    points: tuple[Measured, ...] = field(repr=False)
    next: Array | None  # the design to run, if there is one (D,)

    @classmethod
    def of(cls, site: Site) -> Learned:
        """What a site has learned; raises one sentence if there is too little to learn from."""
        if missing := lack(site):
            raise CbocError(missing)
        with one_thread():
            gp = surrogate(site)
            surface = Surface(site.space, site.dataset, gp)
            _ = surface.plausible
        following = next(iter(site.to_run), None)
        outcome = f"{site.study.objective.head}, to {site.direction}"
        return cls(site.name, outcome, surface, tuple(measured(site)), None if following is None else following.x)

    @property
    def best(self) -> Array:
        """The design with the best outcome, (D,)."""
        return self.surface.dataset.best.x

    @property
    def is_bound(self) -> bool:
        """Whether a constraint lets some parameters move only together."""
        return len(self.surface.space.linear[2]) > 0

    def expected(self, x: Array) -> Expectation:
        """The outcome that an experiment at x (D,) is expected to have, with an interval."""
        with one_thread():
            return self.surface.expected(x[None])[0]

    def slices(self, at: Array | None = None) -> tuple[ParameterSlice, ...]:
        """A slice along every parameter, through the best design or another one (D,)."""
        with one_thread():
            return slices(self.surface, self.best if at is None else at, self.points)

    def contours(self, at: Array | None = None) -> Contours | None:
        """The expected outcome over the two parameters that matter most; None if there are no two that can vary."""
        ranked = [share.name for share in self.importance.shares]
        base = self.best if at is None else at
        with one_thread():
            for pair in combinations(ranked, 2):
                found = contours(self.surface, base, pair, self.points)
                if found is not None and np.isfinite(found.middle).sum() > 1:
                    return found
        return None

    @cached_property
    def importance(self) -> Importance:
        """Which parameter matters."""
        with one_thread():
            return importance(self.surface)

    @cached_property
    def predicted(self) -> Predicted:
        """Each outcome, predicted from all others."""
        with one_thread():
            return predicted(self.surface, self.points)


def lack(site: Site) -> str:
    """What is missing before anything can be learned, in a sentence; empty if nothing is."""
    data = site.dataset
    if not len(data):
        if len(data.failures):
            return "All experiments so far have failed, so there is no outcome to learn from."
        return "There is no outcome yet to learn from."
    if len(data) < FEWEST:
        has = f"{len(data)} outcome{' is' if len(data) == 1 else 's are'}"
        return f"{has} too little to learn from; from {FEWEST} on there is something to say."
    if np.ptp(data.y) == 0.0:
        return f"All {len(data)} outcomes are {written(data.y[0])}: as long as they are equal, nothing can be learned."
    return ""


def surrogate(site: Site) -> GP:
    """The site's own surrogate of its outcomes and failures; the default one if its strategy has none of ours."""
    situation = replace(site.mind.situation(), pending=np.empty((0, 0)), memory=None)  # as at the start of thinking
    return site.policy.strategy.surrogate(situation) or Bayesian().surrogate(situation)
