"""What a site believes of its outcomes, where several count: a surrogate for every objective and every limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from cboc.arrays import Array, Mask
from cboc.data.fidelity import Fidelity
from cboc.data.goal import Goal
from cboc.data.results import Results
from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import Model, Task, fit_all
from cboc.surrogate.gp import GP
from cboc.surrogate.looks import looks
from cboc.surrogate.transforms import standardised
from cboc.utility.hypervolume import LogEHVI, usual_reference
from cboc.utility.improvement import LogEI
from cboc.utility.limited import Limited
from cboc.utility.thorough import AtTarget, level_for
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Beliefs:
    """Surrogates of the objectives' scores and of the limits' margins, on the same designs."""

    goal: Goal
    objectives: Sequence[GP]
    margins: Sequence[GP]
    allowed: Mask  # (n + f,) which results count: they break no limit, and are no failures
    fidelity: Fidelity | None = None

    @classmethod
    def of(cls, results: Results, situation: Situation, model: Model) -> Beliefs:
        """The beliefs of a site; a failure counts as bad as the worst that worked, in every outcome."""
        goal, widths = results.goal, situation.space.widths
        X = np.vstack([results.X, results.failures])
        columns = np.hstack([results.scores, results.margins])  # (n, m + l)
        floors = columns.min(axis=0) if len(columns) else np.zeros(columns.shape[1])
        padded = np.vstack([columns, np.tile(floors, (len(results.failures), 1))])
        names = [*goal.aims, *(limit.outcome for limit in goal.limits)]
        sems = np.full(padded.shape, np.nan)
        sems[: len(results)] = np.column_stack([results.sem(name) for name in names])
        memory = situation.memory
        warm = [None] * len(names) if memory is None else np.array(memory).reshape(len(names), -1)
        tasks = [Task(X, *each, looks(len(X), memory is None)) for each in zip(padded.T, sems.T, warm, strict=True)]
        m = len(goal.aims)
        fitted = fit_all(tasks[:m], model=model, widths=widths)
        fitted += fit_all(tasks[m:], model=replace(model, transform=standardised), widths=widths)
        gps = [gp.believe(situation.pending) for gp in fitted]
        allowed = np.append(results.counts, np.zeros(len(results.failures), dtype=bool))
        return cls(goal, gps[:m], gps[m:], allowed, results.fidelity)

    @property
    def memory(self) -> tuple[float, ...]:
        """The hyper-parameters of all surrogates, for the next fit."""
        return tuple(np.concatenate([gp.theta for gp in (*self.objectives, *self.margins)]).tolist())

    @cached_property
    def least(self) -> Array:  # (l,)
        """The margin of 0 on the scale of each surrogate."""
        return np.array([gp.transform.forward(np.zeros(1))[0] for gp in self.margins])

    @cached_property
    def counts(self) -> Mask:  # (n + f + p,)
        """Which designs may be on the front: those that break no limit, or of those under way are not expected to."""
        margins = [gp.y[len(self.allowed) :] >= least for gp, least in zip(self.margins, self.least, strict=True)]
        pending = self._designs[len(self.allowed) :]
        expected = np.logical_and.reduce(margins) if margins else np.ones(len(pending), dtype=bool)
        expected = expected if self.fidelity is None else expected & self.fidelity.counts(pending)
        return np.append(self.allowed, expected)

    @property
    def _designs(self) -> Array:
        return self.objectives[0].X

    def utility(self) -> Utility:
        """What an experiment would bring; as long as nothing keeps to the limits, how likely it keeps to them."""
        if self.margins:
            found: Utility = Limited(self._gain(self.counts) if self.allowed.any() else None, self.margins, self.least)
        else:
            found = self._gain(self.counts if self.allowed.any() else np.ones(len(self._designs), dtype=bool))
        return found if self.fidelity is None else AtTarget(found)

    @property
    def finish(self) -> Callable[[Array], Array] | None:
        """What is left to decide of a proposal: how thorough the experiment has to be."""
        return None if self.fidelity is None else partial(self._levelled, self.fidelity)

    def _levelled(self, fidelity: Fidelity, x: Array) -> Array:
        bests = [gp.y[self.counts].max() if self.allowed.any() else -np.inf for gp in self.objectives]
        levelled = x.copy()
        levelled[-1] = level_for(x, fidelity, self.objectives, np.array(bests))
        return levelled

    def _gain(self, counts: Mask) -> Utility:
        if len(self.objectives) == 1:
            gp = self.objectives[0]
            return LogEI(gp, float(gp.y[counts].max()))
        return LogEHVI(self.objectives, self._reference(counts), counts)

    def _reference(self, counts: Mask) -> Array:  # (m,)
        """The least that is worth anything: what the goal says, or the usual."""
        usual = usual_reference(np.column_stack([gp.y[counts] for gp in self.objectives]))
        floors = [aim.floor for aim in self.goal.aims.values()]
        named = zip(self.objectives, floors, usual.tolist(), strict=True)
        return np.array(
            [low if floor is None else gp.transform.forward(np.array([floor]))[0] for gp, floor, low in named]
        )
