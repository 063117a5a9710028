"""The columns of a worksheet, by what a site measures.

one outcome        trial, well, <parameters>, yield (%), sem, status, cost, remark
several outcomes   trial, well, <parameters>, yield (%), yield sem, purity (%), purity sem, status, cost, remark

cost is what the experiment cost. Where one of several outcomes, or a parameter, is called so, it has that column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cboc.errors import CbocError
from cboc.exchange.objective import Objective
from cboc.space.space import Space

TRIAL, WELL, REMARK = "trial", "well", "remark"
Y, SEM, STATUS, COST = "y", "sem", "status", "cost"


@dataclass(frozen=True)
class Columns:
    """The columns of a sheet of experiments in a space, with a column for each of these outcomes."""

    space: Space
    objectives: tuple[Objective, ...]

    @property
    def is_single(self) -> bool:
        """Whether there is one outcome."""
        return len(self.objectives) == 1

    @cached_property
    def means(self) -> dict[str, str]:
        """The column of each outcome, by its name: with its unit, and another one if that is taken."""
        if self.is_single:
            (only,) = self.objectives
            return {only.name: Y if only.column in self._others else only.column}
        return {
            each.name: f"outcome {each.column}" if each.column in self._others else each.column
            for each in self.objectives
        }

    @cached_property
    def sems(self) -> dict[str, str]:
        """The column of each outcome's standard error, by the outcome's name; none that has another meaning."""
        if self.is_single:
            return {name: SEM for name in self.means if SEM not in self.space.names}
        taken = (*self._others, *self.means.values())
        return {name: f"{name} {SEM}" for name in self.means if f"{name} {SEM}" not in taken}

    @property
    def rest(self) -> list[str]:
        """The other columns to fill in."""
        taken = {*self.space.names, *(() if self.is_single else {COST} & self.means.keys())}
        return [name for name in (STATUS, COST) if name not in taken]

    @property
    def to_fill(self) -> list[str]:
        """The columns to fill in, in the order of a sheet."""
        pairs = ((column, self.sems.get(name)) for name, column in self.means.items())
        return [column for pair in pairs for column in pair if column is not None] + self.rest

    @property
    def heads(self) -> dict[str, str]:
        """Other names of the outcomes' columns, which people write."""
        usual = {Y: self.means[self.objectives[0].name]} if self.is_single else {}
        known = (*self._others, *self.sems.values())
        return usual | {name: column for name, column in self.means.items() if name not in known}

    @property
    def _others(self) -> tuple[str, ...]:
        """The other columns that a sheet may have."""
        if self.is_single:
            return (TRIAL, WELL, REMARK, SEM, STATUS, COST, *self.space.names)
        return (TRIAL, WELL, REMARK, STATUS, *self.space.names)

    def check_sem(self, is_there: bool) -> None:
        """Raise one sentence if a standard error does not say of which outcome it is."""
        if is_there and not self.is_single and SEM not in self.means:
            raise CbocError(
                f"column '{SEM}' does not say of which outcome; call it '{next(iter(self.sems.values()))}'."
            )
