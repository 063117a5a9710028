"""What a site has measured: designs in the unit cube, outcomes in natural units, and the designs that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cboc.arrays import Array
from cboc.data import tables
from cboc.data.objective import Measurement
from cboc.errors import CbocError, did_you_mean, listed
from cboc.space.parameters import TOLERANCE
from cboc.space.space import Space

if TYPE_CHECKING:
    from pandas import DataFrame


class Direction(StrEnum):
    """Whether outcomes are to be maximised or minimised."""

    MAXIMISE = "maximise"
    MINIMISE = "minimise"

    @property
    def sign(self) -> float:
        """The factor that turns an outcome into a score, where more is better."""
        return 1.0 if self is Direction.MAXIMISE else -1.0

    @classmethod
    def of(cls, given: object) -> Direction:
        """The direction that a user gave: also "maximize", "max", "minimize" and "min", in any case."""
        said = given.strip().lower() if isinstance(given, str) else ""
        if said not in SAID:
            raise CbocError(f"unknown direction {given!r}; {did_you_mean(said, cls)}")
        return SAID[said]


SAID = {
    word: direction for direction in Direction for word in (direction, direction.replace("ise", "ize"), direction[:3])
}  # how people say it


@dataclass(frozen=True, eq=False)
class Best:
    """The best measurement of a dataset, and its row."""

    x: Array  # (D,)
    y: float
    index: int


@dataclass(frozen=True, init=False, eq=False)
class Dataset:
    """Measurements (x, y), their standard errors, and failed designs. Immutable: adding to it makes a new one."""

    X: Array  # (n, D), unit cube
    Y: Array  # (n, m), natural units, a column for every objective; m = 1
    sems: Array  # (n, m), NaN if unknown
    failures: Array  # (f, D), unit cube
    direction: Direction

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sem: ArrayLike = np.nan,
        failures: ArrayLike | None = None,
        *,
        direction: Direction | str = Direction.MAXIMISE,
    ) -> None:
        designs = _designs("X", X)
        outcomes = _floats("y", y)
        if outcomes.shape != designs.shape[:1]:
            raise CbocError(f"every row of X has one outcome, but X is {designs.shape} and y is {outcomes.shape}.")
        if len(missing := np.flatnonzero(~np.isfinite(outcomes))):
            verb, named = "is" if len(missing) == 1 else "are", listed(f"y[{i}] = {outcomes[i]}" for i in missing)
            raise CbocError(
                f"outcomes are finite, but {len(missing)} of {len(outcomes)} {verb} not: {named}. Drop what was not "
                "run, and give designs that failed as failures=."
            )
        failed = np.empty((0, designs.shape[1])) if failures is None else _designs("failures", failures)
        if failed.shape[1] != designs.shape[1]:
            raise CbocError(
                f"X and failures need equally many columns, but have {designs.shape[1]} and {failed.shape[1]}."
            )
        errors = _errors(sem, len(outcomes))
        values = {"X": designs, "Y": outcomes[:, None], "sems": errors[:, None], "failures": failed}
        for name, array in values.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "direction", Direction.of(direction))

    @classmethod
    def empty(cls, dimension: int, direction: Direction | str = Direction.MAXIMISE) -> Dataset:
        """A dataset without measurements, for designs with this many unit coordinates."""
        return cls(np.empty((0, dimension)), np.empty(0), direction=direction)

    def __len__(self) -> int:
        return len(self.Y)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset) or self.direction != other.direction:
            return False
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("X", "Y", "sems", "failures"))
        return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    def __add__(self, other: Dataset) -> Dataset:
        if not isinstance(other, Dataset):
            return NotImplemented
        if (self.dimension, self.direction) != (other.dimension, other.direction):
            raise CbocError(
                "datasets can be added only if dimension and direction agree, but got "
                f"({self.dimension}, {self.direction}) and ({other.dimension}, {other.direction})."
            )
        return Dataset(
            np.vstack([self.X, other.X]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.sem, other.sem]),
            np.vstack([self.failures, other.failures]),
            direction=self.direction,
        )

    def with_point(self, x: ArrayLike, y: float | Measurement) -> Dataset:
        """The dataset with one more measurement; y is a number, or a Measurement with its standard error."""
        measured = y if isinstance(y, Measurement) else Measurement(y)
        sem = np.nan if measured.sem is None else measured.sem
        return self + Dataset([np.asarray(x)], [measured.mean], [sem], direction=self.direction)

    def with_failure(self, x: ArrayLike) -> Dataset:
        """The dataset with one more failed design."""
        return self + Dataset(np.empty((0, self.dimension)), [], failures=[np.asarray(x)], direction=self.direction)

    @property
    def y(self) -> Array:  # (n,)
        """The outcomes of the one objective."""
        return self.Y[:, 0]

    @property
    def sem(self) -> Array:  # (n,)
        """The standard errors of the outcomes `y`, NaN where unknown."""
        return self.sems[:, 0]

    @property
    def dimension(self) -> int:
        """The number of unit coordinates, D."""
        return int(self.X.shape[1])

    def to_dict(self) -> dict[str, Any]:
        """The dataset as plain data; an unknown standard error is None."""
        sem = [None if np.isnan(error) else error for error in self.sem.tolist()]
        return {"X": self.X.tolist(), "y": self.y.tolist(), "sem": sem, "failures": self.failures.tolist()}

    @classmethod
    def from_dict(cls, rows: Mapping[str, Any], dimension: int, direction: Direction | str) -> Dataset:
        """The dataset from the plain data of `to_dict`."""
        X, failures = (np.array(rows.get(name, []), dtype=float).reshape(-1, dimension) for name in ("X", "failures"))
        y, sem = (np.array(rows.get(name, []), dtype=float) for name in ("y", "sem"))
        return cls(X, y, sem, failures, direction=direction)

    @property
    def score(self) -> Array:  # (n,)
        """The values to maximise: y, or -y when minimising."""
        return self.direction.sign * self.y

    @property
    def best(self) -> Best:
        """The measurement with the best outcome, the first one on ties."""
        if not len(self):
            raise CbocError("an empty dataset has no best point; add a measurement with with_point.")
        index = int(np.argmax(self.score))
        return Best(self.X[index], float(self.y[index]), index)

    @property
    def best_so_far(self) -> Array:  # (n,)
        """The best outcome among the first 1, 2, ..., n."""
        return self.direction.sign * np.maximum.accumulate(self.score)

    @classmethod
    def from_csv(
        cls, path: str | PathLike[str], space: Space, outcome: str = "y", *, direction: Direction | str
    ) -> Dataset:
        """Read measurements in natural units from a CSV file; see `cboc.data.tables` for its columns."""
        return cls.from_rows(tables.read_csv(path, space, outcome), space.dimension, direction)

    def to_csv(self, path: str | PathLike[str], space: Space, outcome: str = "y") -> None:
        """Write the CSV file that `from_csv` reads."""
        tables.write_csv(path, tables.tabulate(self._rows(space), space, outcome))

    @classmethod
    def from_frame(cls, frame: DataFrame, space: Space, outcome: str = "y", *, direction: Direction | str) -> Dataset:
        """Read measurements in natural units from a DataFrame; see `cboc.data.tables` for its columns."""
        return cls.from_rows(tables.read_frame(frame, space, outcome), space.dimension, direction)

    def to_frame(self, space: Space, outcome: str = "y") -> DataFrame:
        """The DataFrame that `from_frame` reads."""
        return tables.to_frame(tables.tabulate(self._rows(space), space, outcome))

    @classmethod
    def from_rows(cls, rows: Sequence[tables.Row], dimension: int, direction: Direction | str) -> Dataset:
        """The dataset of rows in the unit cube."""
        complete = [(x, y, sem) for x, y, sem in rows if y is not None]
        failed = [x for x, y, _ in rows if y is None]
        return cls(
            np.reshape([x for x, _, _ in complete], (-1, dimension)),
            [y for _, y, _ in complete],
            [sem for _, _, sem in complete],
            np.reshape(failed, (-1, dimension)),
            direction=direction,
        )

    def _rows(self, space: Space) -> list[tables.Row]:
        if space.dimension != self.dimension:
            raise CbocError(f"the space has {space.dimension} unit coordinates, but the dataset has {self.dimension}.")
        complete = [tables.Row(x, float(y), float(sem)) for x, y, sem in zip(self.X, self.y, self.sem, strict=True)]
        return complete + [tables.Row(x, None) for x in self.failures]


def _floats(name: str, values: ArrayLike) -> Array:
    """A copy of the values as floats."""
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise CbocError(f"{name} is an array of numbers, but got {values!r}.") from None


def _designs(name: str, values: ArrayLike) -> Array:  # (n, D)
    designs = _floats(name, values)
    if designs.ndim != 2:
        raise CbocError(f"{name} has shape (n, D), one row per design, but got {designs.shape}.")
    is_outside = ~((designs >= -TOLERANCE) & (designs <= 1 + TOLERANCE))
    if is_outside.any():
        i, j = np.argwhere(is_outside)[0]
        raise CbocError(
            f"designs live in the unit cube; row {i} has x[{j}] = {designs[i, j]:.6g}. Did you forget space.to_unit?"
        )
    return designs


def _errors(sem: ArrayLike, n: int) -> Array:  # (n,)
    errors = _floats("sem", sem)
    if errors.shape not in ((), (n,)):
        raise CbocError(
            f"sem is one number for all outcomes, or one for each of the {n}, but got shape {errors.shape}."
        )
    if (errors < 0).any() or np.isinf(errors).any():
        raise CbocError(f"standard errors are finite and not negative, or NaN if unknown, but got {sem!r}.")
    return np.full(n, errors)
