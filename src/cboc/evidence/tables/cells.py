"""Numbers as they stand in the cells and notes of a table."""

from __future__ import annotations

from collections.abc import Sequence

from cboc.runs.metrics import Paired

NOTHING = "–"


def difference(gain: Paired | None, digits: int = 3) -> str:
    """A difference with half the width of its 95 % interval, which one seed does not have."""
    if gain is None:
        return NOTHING
    shown = f"{gain.difference:+.{digits}f}"
    return shown if gain.seeds < 2 else f"{shown} ± {gain.margin:.{digits}f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def span(counts: Sequence[int]) -> str:
    """'30', or '1 to 30' where runs are missing."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def chance(comparisons: int) -> str:
    """How many comparisons a table makes, and how many of them would leave out zero by chance."""
    return f"{comparisons} comparisons: where nothing differs, about {comparisons / 20:.1f} leave out zero by chance."
