"""What a site knows when it is asked for a proposal, and what a strategy makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.space.space import Space
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Situation:
    """What a site knows when it is asked for a proposal; nothing of it leaves the site."""

    dataset: Dataset
    space: Space
    pending: Array = field(default_factory=lambda: np.empty((0, 0)))  # designs under way (p, D)
    warm_start: tuple[float, ...] | None = None  # what the last utility left in `.warm_start`


Strategy = Callable[[Situation, np.random.Generator], Utility]
