"""What is expected of one design where several outcomes count: each of them, and whether it keeps to the limits.

The probability that all limits are kept is the product of those of each, as in the utility that the site goes by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from cboc.arrays import Array, one_thread
from cboc.data.goal import Goal
from cboc.insight.learned import Learned
from cboc.insight.surface import Expectation

SURE, HARDLY = 0.995, 0.005  # probabilities from which no number is said


@dataclass(frozen=True)
class Prospect:
    """The outcomes that a design is expected to have."""

    expected: Mapping[str, Expectation]  # by name, of those of which something was learned
    chances: Mapping[str, float]  # that each limit is kept, by how it is written: 'impurity <= 5'
    unknown: Mapping[str, str]  # why nothing is expected, by name

    @classmethod
    def of(cls, lessons: Mapping[str, Learned | str], goal: Goal, x: Array) -> Prospect:
        """What is expected at x (D,), by what was learned of every outcome, or the sentence why that is nothing."""
        known = {name: lesson for name, lesson in lessons.items() if not isinstance(lesson, str)}
        with one_thread():
            chances = {
                str(limit): float(known[limit.outcome].surface.chance(x[None], limit)[0])
                for limit in goal.limits
                if limit.outcome in known
            }
        unknown = {name: lesson for name, lesson in lessons.items() if isinstance(lesson, str)}
        return cls({name: lesson.expected(x) for name, lesson in known.items()}, chances, unknown)

    @property
    def kept(self) -> float | None:
        """The probability that all limits are kept; None if there is none that anything is known of."""
        return prod(self.chances.values()) if self.chances else None


def percent(chance: float) -> str:
    """A probability in words: '73 %', 'more than 99 %'."""
    if chance > SURE:
        return "more than 99 %"
    return "less than 1 %" if chance < HARDLY else f"{100.0 * chance:.0f} %"
