"""What is measured: a number for every objective, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cboc.arrays import is_number
from cboc.data.numbers import as_number, written
from cboc.errors import CbocError

LARGEST = 1e150  # of an outcome: squares of differences are still numbers


@dataclass(frozen=True)
class Measurement:
    """A mean, its standard error if that is known, and what it cost if the experiment says so."""

    mean: float
    sem: float | None = None
    cost: float | None = None  # in the site's own unit; it is kept with the trial

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", _finite("mean", self.mean))
        for name, noun in (("sem", "standard error"), ("cost", "cost")):
            given = getattr(self, name)
            if given is None:
                continue
            value = _finite(noun, given)
            if value < 0.0:
                raise CbocError(f"a {noun} is not negative; this is {given!r}. Leave it out if it is not known.")
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return written(self.mean) if self.sem is None else f"{written(self.mean)} ± {written(self.sem)}"


def _finite(noun: str, value: Any) -> float:
    if not is_number(value) or not isfinite(value):
        raise CbocError(f"a measurement's {noun} is a finite number; this is {value!r}.")
    return float(value)


Outcome = float | Measurement | Mapping[str, float | Measurement]
"""The result of an experiment: a number, a measurement, or one of these for every objective by name."""


def as_measurements(outcome: Any, objectives: tuple[str, ...]) -> dict[str, Measurement]:
    """One measurement for every objective, from the outcome that a user told."""
    if isinstance(outcome, Mapping):
        if set(outcome) != set(objectives):
            raise CbocError(f"outcomes are expected for {', '.join(objectives)}; got {', '.join(map(str, outcome))}.")
        return {name: _measurement(outcome[name]) for name in objectives}
    if len(objectives) > 1:
        raise CbocError(f"outcomes are given by name, for {', '.join(objectives)}; got {outcome!r}.")
    return {objectives[0]: _measurement(outcome)}


def _measurement(outcome: Any) -> Measurement:
    measured = _as_measurement(outcome)
    if abs(measured.mean) > LARGEST or (measured.sem or 0.0) > LARGEST:
        raise CbocError(f"an outcome is a number up to {LARGEST:g}; {measured} is too large to reckon with.")
    return measured


def _as_measurement(outcome: Any) -> Measurement:
    if isinstance(outcome, Measurement):
        return outcome
    if isinstance(outcome, tuple | list):
        raise CbocError(
            f"{outcome!r} could mean several things; for a mean and its standard error write Measurement(mean, sem), "
            "for a mean and its cost Measurement(mean, cost=...)."
        )
    mean = as_number(outcome)
    if mean is None:
        raise CbocError(f"an outcome is a number, or Measurement(mean, sem); {outcome!r} is neither.")
    if not isfinite(mean):
        raise CbocError(f"an outcome is a finite number; this is {outcome!r}. Use fail(trial) if it has failed.")
    return Measurement(mean)
