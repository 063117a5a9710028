"""Everything that a site has measured, a column for every outcome; and what of it is good, by the site's goal.

    scores     s_i      of every objective: more is better                                  (`Goal`)
    merit      -max_i w_i d_i - ρ Σ_i w_i d_i       d_i = (b_i - s_i)/(b_i - a_i)

The merit is the augmented Chebyshev scalarisation: how far, in the objective that is worst off, a result stays behind
the best, by weights w. b_i is the target's score, or the best so far; a_i the reference's, or the median. A result that
breaks a limit is worse than all that do not, by how far it breaks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cboc.arrays import Array, Mask, median
from cboc.data.dataset import Dataset, Direction
from cboc.data.fidelity import Fidelity
from cboc.data.front import hypervolume, is_on_front
from cboc.data.goal import Goal
from cboc.data.objective import Measurement
from cboc.errors import CbocError, listed

AUGMENTED = 0.05  # ρ: what the other objectives count beside the one that is worst off


@dataclass(frozen=True, eq=False)
class Results:
    """Results (x, Y) of a site with their goal, and the designs that failed."""

    X: Array  # (n, D), unit cube
    Y: Array  # (n, p), natural units, a column for every outcome of the goal
    sems: Array  # (n, p), NaN if unknown
    failures: Array  # (f, D)
    goal: Goal
    fidelity: Fidelity | None = None  # None: all experiments count

    @classmethod
    def of(
        cls,
        goal: Goal,
        dimension: int,
        designs: Sequence[ArrayLike],
        outcomes: Sequence[Mapping[str, Measurement]],
        failures: ArrayLike = (),
        fidelity: Fidelity | None = None,
    ) -> Results:
        """The results of experiments, each with a measurement for every outcome of the goal."""
        names = goal.measured
        return cls(
            np.reshape(np.array(designs, dtype=float), (-1, dimension)),
            np.array([[each[name].mean for name in names] for each in outcomes]).reshape(-1, len(names)),
            np.array([[_sem(each[name]) for name in names] for each in outcomes]).reshape(-1, len(names)),
            np.reshape(np.array(failures, dtype=float), (-1, dimension)),
            goal,
            fidelity,
        )

    @classmethod
    def before(
        cls, given: Dataset | Results | None, dimension: int, goal: Goal, fidelity: Fidelity | None = None
    ) -> Results:
        """The results that a site had before its study, for its goal; raises one sentence if they are of another."""
        if given is None:
            return cls.of(goal, dimension, (), (), fidelity=fidelity)
        if isinstance(given, Results):
            if given.goal.measured != goal.measured:
                raise CbocError(
                    f"results are needed of {listed(goal.measured)}; these are of {listed(given.goal.measured)}."
                )
            return replace(given, goal=goal, fidelity=fidelity)
        if len(goal.measured) > 1:
            raise CbocError(f"results from before need {listed(goal.measured)} each; these have one outcome.")
        return cls(given.X, given.Y, given.sems, given.failures, goal, fidelity)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def dimension(self) -> int:
        """The number of unit coordinates, D."""
        return int(self.X.shape[1])

    def __add__(self, other: Results) -> Results:
        if not isinstance(other, Results):
            return NotImplemented
        parts = {name: np.vstack([getattr(each, name) for each in (self, other)]) for name in PARTS}
        return Results(**parts, goal=self.goal, fidelity=self.fidelity)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Results) or self.goal.measured != other.goal.measured:
            return False
        return all(np.array_equal(getattr(self, part), getattr(other, part), equal_nan=True) for part in PARTS)

    def outcome(self, name: str) -> Array:  # (n,)
        """The outcomes of this name."""
        return self.Y[:, self.goal.measured.index(name)]

    def sem(self, name: str) -> Array:  # (n,)
        """The standard errors of the outcomes of this name, NaN where unknown."""
        return self.sems[:, self.goal.measured.index(name)]

    @cached_property
    def scores(self) -> Array:  # (n, m)
        """The objectives, turned so that more is better."""
        aims = self.goal.aims.items()
        return np.column_stack([aim.score(self.outcome(name)) for name, aim in aims])

    @cached_property
    def margins(self) -> Array:  # (n, l)
        """How far every result stays within each limit; negative where it does not."""
        limits = [limit.margin(self.outcome(limit.outcome)) for limit in self.goal.limits]
        return np.array(limits).reshape(len(limits), len(self)).T

    @property
    def is_allowed(self) -> Mask:  # (n,)
        """Which results break no limit."""
        return np.asarray((self.margins >= 0.0).all(axis=1))

    @property
    def counts(self) -> Mask:  # (n,)
        """Which results break no limit, and are of experiments at the level that counts."""
        return self.is_allowed if self.fidelity is None else self.is_allowed & self.fidelity.counts(self.X)

    @property
    def is_on_front(self) -> Mask:  # (n,)
        """Which results no other allowed one beats; none, as long as all break a limit."""
        allowed, found = self.counts, np.zeros(len(self), dtype=bool)
        found[allowed] = is_on_front(self.scores[allowed])
        return found

    def merit(self, weights: Array | None = None) -> Array:  # (n,)
        """How good every result is by these weights of the objectives, or by those of the goal."""
        if not len(self):
            return np.empty(0)
        merit = self._unlimited(self.goal.weights if weights is None else weights)
        allowed = self.is_allowed
        if allowed.all():
            return merit
        beyond = (np.maximum(-self.margins, 0.0) / self._spread(self.margins)).sum(axis=1)
        least = merit[allowed].min() if allowed.any() else 0.0
        return np.where(allowed, merit, least - 1.0 - beyond)

    def _unlimited(self, weights: Array) -> Array:
        aims = list(self.goal.aims.values())
        if len(aims) == 1:
            return self.scores[:, 0]
        best, worst = self.scores.max(axis=0), np.array([median(column) for column in self.scores.T])
        best = np.array([best[i] if aim.ceiling is None else aim.ceiling for i, aim in enumerate(aims)])
        worst = np.array([worst[i] if aim.floor is None else aim.floor for i, aim in enumerate(aims)])
        behind = weights * (best - self.scores) / np.where(best > worst, best - worst, 1.0)
        merit: Array = -behind.max(axis=1) - AUGMENTED * behind.sum(axis=1)
        return merit

    @staticmethod
    def _spread(values: Array) -> Array:
        spread = values.std(axis=0)
        return np.where(spread > 0.0, spread, 1.0)

    def progress(self, first: int) -> Array:  # (n,)
        """How far the search was with each result: the best outcome so far, or the volume below the front.

        A result that breaks a limit does not count. Where the goal names no reference, the volume is measured from the
        worst of the `first` results.
        """
        allowed, aims = self.counts, list(self.goal.aims.values())
        if len(aims) == 1:
            score = np.fmax.accumulate(np.where(allowed, self.scores[:, 0], np.nan))
            return self.goal.sign * score
        if not len(self):
            return np.empty(0)
        worst = self.scores[: max(first, 1)].min(axis=0)
        reference = np.array([low if aim.floor is None else aim.floor for aim, low in zip(aims, worst, strict=True)])
        counted = np.where(allowed[:, None], self.scores, -np.inf)
        return np.array([hypervolume(counted[: n + 1], reference) for n in range(len(self))])

    def dataset(self, weights: Array | None = None) -> Dataset:
        """One number for every result: the outcome itself if that is all there is to the goal, else its merit."""
        if self.fidelity is not None:
            return self._at_target().dataset(weights)
        if self.goal.is_plain:
            return Dataset(self.X, self.Y[:, 0], self.sems[:, 0], self.failures, direction=self.goal.direction)
        return Dataset(self.X, self.merit(weights), failures=self.failures, direction=Direction.MAXIMISE)

    def _at_target(self) -> Results:
        """The results of experiments at the level that counts."""
        there, failed = Fidelity.counts(self.X), Fidelity.counts(self.failures)
        return Results(self.X[there], self.Y[there], self.sems[there], self.failures[failed], self.goal)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain data; an unknown standard error is None."""
        sems = [[None if np.isnan(error) else error for error in row] for row in self.sems.tolist()]
        return {"X": self.X.tolist(), "Y": self.Y.tolist(), "sems": sems, "failures": self.failures.tolist()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], dimension: int, goal: Goal) -> Results:
        """The results of a `to_dict`."""
        p = len(goal.measured)
        shapes = {"X": dimension, "Y": p, "sems": p, "failures": dimension}
        given = {name: np.array(plain.get(name, []), dtype=float).reshape(-1, shapes[name]) for name in PARTS}
        if not len(given["X"]) == len(given["Y"]) == len(given["sems"]):
            raise CbocError("results have as many outcomes as designs; these do not.")
        return cls(given["X"], given["Y"], given["sems"], given["failures"], goal)


PARTS = ("X", "Y", "sems", "failures")


def _sem(measured: Measurement) -> float:
    return np.nan if measured.sem is None else measured.sem
