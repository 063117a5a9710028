"""What the page shows of a site with several outcomes or limits: each result's standing, and a trade-off to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from cboc.data.results import AUGMENTED
from cboc.insight.found import Found, by_weights, found
from cboc.site.site import Site

STRAIGHT = 100  # what the objective that counts most has on its slider


@dataclass(frozen=True)
class Front:
    """The results of a site, those on the front, and which of these its own weights choose."""

    found: tuple[Found, ...]
    best: tuple[Found, ...]  # on the front
    chosen: Found | None  # None: nothing is on the front
    sliders: dict[str, int]  # how much each objective counts, by name
    augmented = AUGMENTED

    @classmethod
    def of(cls, site: Site) -> Front:
        """The front of a site."""
        everything = tuple(found(site))
        best = tuple(each for each in everything if each.is_on_front)
        weights = site.goal.weights.tolist()
        sliders = {name: round(STRAIGHT * w / max(weights)) for name, w in zip(site.goal.aims, weights, strict=True)}
        has_front = len(weights) > 1 and best
        return cls(everything, best, by_weights(best, weights) if has_front else None, sliders)

    @property
    def by_trial(self) -> dict[int, Found]:
        """Every result by the number of its trial."""
        return {each.number: each for each in self.found if each.number is not None}


def pairs(site: Site) -> Sequence[tuple[int, int]]:
    """The pairs of objectives that are drawn against each other, by their places in the study."""
    return list(combinations(range(len(site.goal.aims)), 2))
