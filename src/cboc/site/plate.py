"""A plate: how many experiments are asked for at once, and in what they have to agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError, at, whole
from cboc.exchange.wire import MOST_DESIGNS
from cboc.search.discrete import most_designs
from cboc.space.slice import Slice, check_names
from cboc.space.space import Space

TRIED = 16  # designs around which others are looked for, to see whether a plate can be filled
MOST_NUMBERS = 30_000  # coordinates of all wells together: they are one message
LONGEST_PLACE = 20  # characters of the name of a well
Same = Sequence[str] | Mapping[str, Any]
"""The parameters that all wells share: their names, or their names with the values that they are to have."""


@dataclass(frozen=True)
class Plate:
    """So many wells, each design so many times; the parameters `same` have one value in all wells."""

    wells: int = 1
    copies: int = 1
    same: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # the names of the wells, such as A1, if they have any
    held: tuple[float, ...] | None = None  # a design with the values that `same` is to have; None: the first well's

    @classmethod
    def asked(
        cls, space: Space, count: object, replicates: object = 1, same: Same = (), places: Sequence[str] = ()
    ) -> Plate:
        """The plate that a user asked for; raises one sentence if there is no such plate."""
        same = same if isinstance(same, str | Mapping) or not isinstance(same, Iterable) else tuple(same)
        check_names(space, tuple(same) if isinstance(same, Mapping) else same)
        wells, copies = whole("count", count, most=MOST_DESIGNS), whole("replicates", replicates)
        if wells % copies:
            more = wells + copies - wells % copies
            ask = f"{more - copies} or {more}" if more > copies else f"{more}"
            raise CbocError(f"a plate of {wells} does not hold each design {copies} times; ask for {ask}.")
        if wells * space.dimension > MOST_NUMBERS:
            most = MOST_NUMBERS // space.dimension
            raise CbocError(
                f"with {space.dimension} coordinates a plate has at most {most} wells; {wells} are too many."
            )
        plate = cls(wells, copies, tuple(dict.fromkeys(same)))
        plate = replace(plate, places=_checked_places(places, plate.wells))
        if isinstance(same, Mapping) and same:
            plate = replace(plate, held=_with_values(space, same))
        elif plate.designs == 1:
            return replace(plate, same=())  # a design agrees with itself
        plate._check_room(space)
        return plate

    def cut(self, most: int) -> Plate:
        """The plate with at most so many wells."""
        wells = min(self.wells, most)
        cut = replace(self, wells=wells, places=self.places[:wells])
        return cut if cut.designs > 1 or cut.held is not None else replace(cut, same=())

    def place(self, well: int) -> str:
        """The name of a well; empty if the wells have none."""
        return self.places[well] if self.places else ""

    @property
    def designs(self) -> int:
        """How many different designs it holds."""
        return -(-self.wells // self.copies)

    def _check_room(self, space: Space) -> None:
        """Raise one sentence if the space has fewer designs than the plate has different wells."""
        drawn = space.sample(TRIED if self.same else 0, np.random.default_rng(0))
        drawn = drawn if self.held is None else np.array([self.held])
        slices = [Slice(space, space.project(x), self.same) for x in drawn]
        most = slices[0].most_designs if slices else most_designs(space)
        if most is not None and self.designs > most:
            raise CbocError(
                f"{self._whose} at most {most} design{'s' if most > 1 else ''}; {self.designs} different ones do not "
                "exist. Ask for fewer, or for replicates."
            )
        if self.designs > 1 and slices and not any(_has_room(each) for each in slices):
            raise CbocError(
                f"{self._whose} one design only, by the constraints {' and '.join(space.constraints)}. "
                "Let fewer parameters be the same, or ask for replicates."
            )

    @property
    def _whose(self) -> str:
        return f"with the same {' and '.join(self.same)} in all wells there is" if self.same else "the space has"


def _has_room(slice: Slice) -> bool:
    """Whether a slice holds more than one design."""
    sample = slice.sample(2, np.random.default_rng(0))
    return not np.allclose(slice.project(sample[0]), slice.project(sample[1]))


def _checked_places(places: Sequence[str], wells: int) -> tuple[str, ...]:
    """The names of the wells; raises one sentence if they are not one short name for each."""
    if isinstance(places, str) or not all(isinstance(place, str) for place in places):
        raise CbocError(f"the names of wells are a list, such as ['A1', 'A2']; this is {places!r}.")
    if places and (len(places) != wells or len(set(places)) != wells):
        raise CbocError(f"{wells} wells have as many names, all different; {', '.join(places)} are not.")
    for place in places:
        if not 0 < len(place) <= LONGEST_PLACE or not place.isprintable() or place != place.strip():
            raise CbocError(f"the name of a well has 1 to {LONGEST_PLACE} printable characters; {place!r} has not.")
    return tuple(places)


def _with_values(space: Space, same: Mapping[str, Any]) -> tuple[float, ...]:
    """A feasible design with these values; raises one sentence if there is none."""
    rng = np.random.default_rng(0)
    x: Array = space.sample(1, rng)[0]
    placed = [_placed(space, name, same[name]) for name in space.names if name in same]
    x[Slice(space, x, tuple(same)).held] = np.concatenate(placed)
    try:
        found: Array = Slice(space, x, tuple(same)).sample(1, rng)[0]
    except CbocError:
        found = x
    if not space.contains(found):
        values = ", ".join(f"{name} = {value}" for name, value in same.items())
        raise CbocError(f"no design has {values}, by the constraints {' and '.join(space.constraints)}; give others.")
    return tuple(found.tolist())


def _placed(space: Space, name: str, value: Any) -> Array:
    with at(name):
        return space.parameters[name].to_unit(value)
