"""Plates: whether their wells can differ, and the names of the wells, row by row, A1, A2, ... H12."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from cboc.errors import CbocError
from cboc.site.trial import Trial
from cboc.space.space import Space

LAYOUTS = {6: 3, 12: 4, 24: 6, 48: 8, 96: 12, 384: 24}  # wells: columns


def check_room(space: Space, wells: int, copies: int) -> None:
    """Raise one sentence if a space has fewer designs than a plate has different wells."""
    most, different = space.most_designs, -(-wells // copies)
    if most is not None and different > most:
        raise CbocError(
            f"the space has at most {most} designs; {different} different ones do not exist. Ask for fewer, or for "
            "replicates."
        )


def well_names(trials: Sequence[Trial], wells: int) -> list[str]:
    """The well of every trial: its place in its own plate; initial trials fill a plate in their order."""
    columns = LAYOUTS[wells]
    places = [trial.number if trial.turn is None else trial.turn.well for trial in trials]
    return [f"{ascii_uppercase[place % wells // columns]}{place % wells % columns + 1}" for place in places]
