"""What the sites of a study measure: its name and its unit, as they are agreed. The numbers stay at the sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cboc.errors import CbocError, short
from cboc.names import LONGEST_UNIT, check_name

MOST_OBJECTIVES = 6  # more of them, and nearly every result is on the front
USUAL = "y"  # the name of an objective that nobody has named


@dataclass(frozen=True)
class Objective:
    """The name of what is measured, and its unit; both may be left out."""

    name: str = USUAL
    unit: str = ""

    @classmethod
    def of_agreement(cls, agreement: Mapping[str, Any], name: str | None = None) -> Objective:
        """An objective of an agreement as plain data, also of one whose rule only its own process can rebuild.

        The first one, or that of a name; what a site measures beside the objectives has a name and no unit.
        """
        names = agreement.get("objectives", [USUAL])
        return cls.among(names, agreement.get("units", ()), names[0] if name is None else name)

    @classmethod
    def among(cls, names: Sequence[str], units: Sequence[str], name: str) -> Objective:
        """The one of this name, with its unit if there is one."""
        return cls(name, dict(zip(names, units, strict=False)).get(name, ""))

    @property
    def word(self) -> str:
        """What to call it in a sentence: 'yield', or 'outcome' if it has no name."""
        return "outcome" if self.name == USUAL else self.name

    @property
    def label(self) -> str:
        """The head of a field or of a column: 'Outcome', 'yield', 'yield (%)'."""
        return self._with_unit("Outcome" if self.name == USUAL else self.name)

    @property
    def head(self) -> str:
        """The head of a column of a table on a terminal: 'outcome', 'yield (%)'."""
        return self._with_unit(self.word)

    @property
    def column(self) -> str:
        """The head of a column of a file: 'y', 'yield', 'yield (%)'."""
        return self._with_unit(self.name)

    def _with_unit(self, head: str) -> str:
        return f"{head} ({self.unit})" if self.unit else head

    def of(self, shown: object) -> str:
        """A number with its unit: '62.5 %'."""
        return f"{shown} {self.unit}".rstrip()


def checked(names: Any, units: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the objectives and their units, no units if none has one; raises one sentence if they are none."""
    named, measured_in = (tuple(given) if isinstance(given, list | tuple) else (given,) for given in (names, units))
    if not named or not all(isinstance(name, str) and name.strip() for name in named):
        raise CbocError(f"a study has objectives, given by name, such as 'yield'; this is {short(names)}.")
    if len(named) > MOST_OBJECTIVES:
        raise CbocError(f"a study has at most {MOST_OBJECTIVES} objectives; these are {len(named)}.")
    for k, name in enumerate(named):
        check_name("an objective's name", name)
        if name in named[:k]:
            raise CbocError(f"the names of objectives must differ; '{name}' is there twice.")
    if len(measured_in) > len(named) or not all(isinstance(unit, str) for unit in measured_in):
        raise CbocError(f"an objective's unit is a text such as '%'; this is {short(units)}.")
    for unit in measured_in:
        check_name("a unit", unit, LONGEST_UNIT)
    return named, measured_in if any(measured_in) else ()
