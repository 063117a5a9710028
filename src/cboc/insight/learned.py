"""All that a site has learned so far, by its own surrogate; computed when it is asked for. None of it leaves the site.

learned = Learned.of(site)                   # of the first outcome; Learned.of(site, "cost") of another
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
from cboc.errors import CbocError, did_you_mean, short
from cboc.exchange.objective import Objective
from cboc.insight.contours import Contours, contours
from cboc.insight.importance import Importance, importance
from cboc.insight.measured import Measured, measured
from cboc.insight.outcome import dataset_of, is_ranked
from cboc.insight.predicted import Predicted, predicted
from cboc.insight.slices import ParameterSlice, slices
from cboc.insight.surface import Expectation, Surface
from cboc.site.outcomes import wish
from cboc.site.site import Site
from cboc.strategy.bayesian import Bayesian
from cboc.surrogate.gp import GP

FEWEST = 3  # outcomes from which something can be learned


@dataclass(frozen=True)
class Learned:
    """What a site's own surrogate says of one outcome of its experiments, as plain data. Private to the site."""

    site: str
    objective: Objective  # the outcome's name and unit
    outcome: str  # what is measured, and whether more of it is better: 'yield (%), to maximise'
    is_ranked: bool  # whether it is the better the further it is one way
    surface: Surface
    points: tuple[Measured, ...] = field(repr=False)
    best: Array  # the best design, by everything that the site wants (D,)
    next: Array | None  # the design to run, if there is one (D,)

    @classmethod
    def of(cls, site: Site, outcome: str | None = None) -> Learned:
        """What a site has learned of an outcome, the first without a name; raises one sentence if it is too little."""
        name = _named(site, outcome)
        objective = site.study.objective_called(name)
        if missing := lack(site, name):
            raise CbocError(missing)
        with one_thread():
            surface = Surface(site.space, dataset_of(site, name), surrogate(site, name))
            _ = surface.plausible
        following = next(iter(site.to_run), None)
        return cls(
            site.name,
            objective,
            f"{objective.head}, {wish(site.goal, name)}",
            is_ranked(site.goal, name),
            surface,
            tuple(measured(site, name)),
            site.best.x,
            None if following is None else following.x,
        )

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


def lack(site: Site, outcome: str | None = None) -> str:
    """What is missing before anything can be learned of an outcome, in a sentence; empty if nothing is."""
    name = _named(site, outcome)
    data = dataset_of(site, name)
    if not len(data):
        if len(data.failures):
            return "All experiments so far have failed, so there is no outcome to learn from."
        return "There is no outcome yet to learn from."
    if len(data) < FEWEST:
        has = f"{len(data)} outcome{' is' if len(data) == 1 else 's are'}"
        return f"{has} too little to learn from; from {FEWEST} on there is something to say."
    if np.ptp(data.y) == 0.0:
        which = "outcomes" if len(site.goal.measured) == 1 else f"outcomes of {name}"
        return f"All {len(data)} {which} are {written(data.y[0])}: as long as they are equal, nothing can be learned."
    return ""


def _named(site: Site, outcome: str | None) -> str:
    """The outcome that is meant, the first one without a name; raises one sentence if there is none such."""
    if outcome is None:
        return site.goal.measured[0]
    check_outcome(site, outcome)
    return outcome


def check_outcome(site: Site, name: str) -> None:
    """Raise one sentence if a site measures no outcome of this name."""
    if name not in site.goal.measured:
        raise CbocError(f"'{site.name}' measures no {short(name)}; {did_you_mean(name, site.goal.measured)}")


def surrogate(site: Site, name: str | None = None) -> GP:
    """The site's own surrogate of one outcome and of the failures; the default one if its strategy has none of ours.

    Without a name it is that of how good results are: of the outcome itself, if the site has one.
    """
    situation = replace(site.mind.situation(), pending=np.empty((0, 0)), memory=None)  # as at the start of thinking
    if name is not None and not site.goal.is_plain:
        situation = replace(situation, dataset=dataset_of(site, name), results=None)
    return site.policy.strategy.surrogate(situation) or Bayesian().surrogate(situation)
