"""Each outcome as it is predicted from all others, beside what was measured: can the surrogate be trusted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cboc.insight.measured import Measured
from cboc.insight.surface import SHARE, Expectation, Surface

FEW = 5  # outcomes below which nothing is said of a surrogate
UNLIKELY = 0.01  # that so few outcomes lie inside, if the intervals are right


@dataclass(frozen=True)
class Prediction:
    """One outcome, and what was expected of it."""

    measured: Measured
    y: float
    expected: Expectation

    @property
    def is_inside(self) -> bool:
        """Whether the outcome lies in the interval."""
        return self.expected.holds(self.y)


@dataclass(frozen=True)
class Predicted:
    """All outcomes, each predicted from the others, and how good that is."""

    predictions: tuple[Prediction, ...]
    fit: float  # Q²: the share of the outcomes' variance that is predicted

    @property
    def inside(self) -> int:
        """How many outcomes lie inside what was predicted."""
        return sum(prediction.is_inside for prediction in self.predictions)

    @property
    def sentence(self) -> str:
        """How good the predictions are, in words."""
        count = len(self.predictions)
        said = f"{self.inside} of {count} outcomes lay inside what was predicted from the others."
        if count < FEW:
            return f"{said} That is too few to judge the predictions by."
        if _chance(self.inside, count) < UNLIKELY:
            return f"{said} {100 * SHARE:.0f} % should: the intervals are too narrow here, so trust them less."
        if self.fit <= 0.0:
            return f"{said} But the mean of the outcomes predicts as well: so far the parameters explain little."
        return f"{said} {100 * self.fit:.0f} % of the differences between outcomes were predicted."


def predicted(surface: Surface, points: Sequence[Measured]) -> Predicted:
    """Every outcome, predicted from the others, the failures included. `points` begin with the outcomes."""
    expected, y = surface.leave_one_out(), surface.dataset.y
    count = len(y)
    pairs = tuple(Prediction(points[i], float(y[i]), expected[i]) for i in range(count))
    spread = float(((y - y.mean()) ** 2).sum())
    missed = float(((y - expected.middle) ** 2).sum())
    return Predicted(pairs, 1.0 - missed / spread if spread > 0.0 else 0.0)


def _chance(inside: int, count: int) -> float:
    """The probability that so many or fewer of the outcomes lie inside, if 95 of 100 do."""
    from scipy.special import bdtr

    return float(bdtr(inside, count, SHARE))
