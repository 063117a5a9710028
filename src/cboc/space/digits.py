"""Numbers in as few digits as an experiment can tell apart.

61.53718422 of a range from 20 to 90 is 61.54: what is left out is less than a thousandth of the range.
"""

from __future__ import annotations

import math

RESOLUTION = 1e-3  # of a parameter's width: smaller differences are not written
MOST_DECIMALS = 6  # beyond which a number is written with a power of ten
LEAST_LOG, LEAST_SMALL = 4, 6  # digits on a log scale, and of a number that is written with a power of ten


def plain(value: float) -> str:
    """A number without the digits that only arithmetic has brought in."""
    return f"{value:.12g}"


def rounded(value: float, low: float, high: float) -> str:
    """A value of a linear range, rounded to a thousandth of it or better."""
    decimals = max(0, math.ceil(-math.log10(RESOLUTION * (high - low))))
    if decimals <= MOST_DECIMALS:
        return f"{value:.{decimals}f}"
    before = 1 + math.floor(math.log10(max(abs(low), abs(high))))  # digits before the point
    return f"{value:.{max(LEAST_SMALL, decimals + before)}g}"


def rounded_log(value: float, low: float, high: float) -> str:
    """The same for a range on a log scale."""
    digits = 1 + math.ceil(-math.log10(RESOLUTION * math.log(high / low)))
    return plain(float(f"{value:.{max(LEAST_LOG, digits)}g}"))
