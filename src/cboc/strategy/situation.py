"""What a site knows when it makes a proposal. None of it leaves the site."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.data.fidelity import Fidelity
from cboc.data.results import Results
from cboc.space.space import Space


@dataclass(frozen=True)
class Situation:
    """A site's own data, what it has heard of the others, and what it remembers.

    Where several outcomes count, `results` has all of them, and `dataset` one number for each result: how good it is by
    the trade-off of this turn.
    """

    dataset: Dataset
    space: Space  # the site's: first the study's parameters, then any that only this site has
    pending: Array = field(default_factory=lambda: np.empty((0, 0)))  # designs under way (p, D)
    memory: tuple[float, ...] | None = None  # what the last opinion wanted to remember
    others: Array | None = None  # best designs of the others (m, S), as last heard; None: the study shares none
    progress: float = 0.0  # t_k / T_k: the share of its turns that the site has taken
    shared: Space | None = None  # the study's space, if the site has further parameters
    borrowed: Array = field(default_factory=lambda: np.empty((0, 0)))  # designs run because others found them best
    results: Results | None = None  # None: the dataset is all there is

    @property
    def fidelity(self) -> Fidelity | None:
        """The levels of the site's experiments, if they have some; the level is the last coordinate."""
        return None if self.results is None else self.results.fidelity

    def is_same(self, other: Situation) -> bool:
        """Whether both are the same, the data being the same object: a quick test whether anything is new."""
        return (
            self.dataset is other.dataset
            and np.array_equal(self.pending, other.pending)
            and (self.memory, self.progress) == (other.memory, other.progress)
            and (self.others is None) == (other.others is None)
            and (self.others is None or np.array_equal(self.others, other.others))  # type: ignore[arg-type]
        )

    @property
    def has_data(self) -> bool:
        """Whether the site has run anything."""
        return len(self.dataset) + len(self.dataset.failures) > 0

    @property
    def common(self) -> Space:
        """The space that all sites share; its coordinates come first in the site's space."""
        return self.space if self.shared is None else self.shared
