"""Plates: the names of their wells, row by row, A1, A2, ... H12."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from cboc.site.trial import Trial

LAYOUTS = {6: 3, 12: 4, 24: 6, 48: 8, 96: 12, 384: 24}  # wells: columns


def well_names(trials: Sequence[Trial], wells: int) -> list[str]:
    """The well of every trial: its place in its own plate; initial trials fill a plate in their order."""
    columns = LAYOUTS[wells]
    places = [trial.number if trial.turn is None else trial.turn.well for trial in trials]
    return [f"{ascii_uppercase[place % wells // columns]}{place % wells % columns + 1}" for place in places]
