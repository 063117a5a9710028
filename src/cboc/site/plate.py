"""A plate: how many experiments are asked for at once, and in what they have to agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cboc.errors import CbocError, whole
from cboc.space.slice import Slice, check_names
from cboc.space.space import Space

TRIED = 16  # designs around which others are looked for, to see whether a plate can be filled


@dataclass(frozen=True)
class Plate:
    """So many wells, each design so many times; the parameters `same` have one value in all wells."""

    wells: int = 1
    copies: int = 1
    same: tuple[str, ...] = ()

    @classmethod
    def asked(cls, space: Space, count: object, replicates: object, same: Sequence[str]) -> Plate:
        """The plate that a user asked for; raises one sentence if there is no such plate."""
        check_names(space, same)
        plate = cls(whole("count", count), whole("replicates", replicates), tuple(dict.fromkeys(same)))
        if plate.designs == 1:
            return replace(plate, same=())  # a design agrees with itself
        plate._check_room(space)
        return plate

    @property
    def designs(self) -> int:
        """How many different designs it holds."""
        return -(-self.wells // self.copies)

    def _check_room(self, space: Space) -> None:
        """Raise one sentence if the space has fewer designs than the plate has different wells."""
        drawn = space.sample(TRIED, np.random.default_rng(0)) if self.same else ()
        slices = [Slice(space, space.project(x), self.same) for x in drawn]
        most = slices[0].most_designs if slices else space.most_designs
        if most is not None and self.designs > most:
            raise CbocError(
                f"{self._whose} at most {most} design{'s' if most > 1 else ''}; {self.designs} different ones do not "
                "exist. Ask for fewer, or for replicates."
            )
        if slices and not any(_has_room(each) for each in slices):
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
