"""How often a fit that begins where the last one ended also begins anew."""

from __future__ import annotations

FRESH_LOOK = 8  # every 8 points, or eighth of them, the hyper-parameters are also searched from another start
LOOKS = 2


def looks(points: int, is_first: bool) -> int:
    """From how many starts to fit a surrogate to so many points."""
    interval = max(FRESH_LOOK, points // FRESH_LOOK)
    return LOOKS if is_first or points % interval == 0 else 1
