"""How long simulated experiments take: a number, a distribution, or a function of a random generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any
from zlib import crc32

import numpy as np

from cboc.arrays import is_number
from cboc.errors import CbocError, did_you_mean
from cboc.exchange.study import Study

LONGEST = 1e12  # a time, in any unit: sums of such times are still exact enough
Duration = Any
"""A number; {"median": 3, "spread": 0.2} or a `LogNormal`; an object with `rvs(random_state=...)`, as SciPy's
distributions; or a function of a Generator."""

KEYS = ("median", "spread")  # of a duration in a dictionary, as in a study file


@dataclass(frozen=True)
class LogNormal:
    """Times around a median: `spread` 0.2 makes two thirds of them lie within a fifth of it, roughly."""

    median: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("median", "above 0"), ("spread", "from 0")):
            value = getattr(self, name)
            if not is_number(value) or not (0.0 < value < inf or (value == 0.0 and name == "spread")):
                raise CbocError(f"the {name} of a duration is a number {least}; this is {value!r}.")

    def __call__(self, rng: np.random.Generator) -> float:
        return float(self.median * np.exp(self.spread * rng.standard_normal()))


def as_durations(given: Duration | Mapping[str, Duration] | None, sites: Sequence[str]) -> Any:
    """The durations with a `LogNormal` for each dictionary with a median: one for all sites, or by site."""
    if not isinstance(given, Mapping):
        return given
    if "median" in given and not set(given) <= set(sites):
        return _log_normal(given)
    return {site: _log_normal(each) if isinstance(each, Mapping) else each for site, each in given.items()}


def _log_normal(given: Mapping[str, Any]) -> LogNormal:
    for key in given:
        if key not in KEYS:
            raise CbocError(f"a duration has a median and maybe a spread; got '{key}'; {did_you_mean(str(key), KEYS)}")
    if "median" not in given:
        raise CbocError(f'a duration has a median, such as {{"median": 3, "spread": 0.2}}; got {dict(given)!r}.')
    return LogNormal(**given)


class Durations:
    """The duration of every trial of a study: a function of seed, site and trial, whoever asks and when."""

    def __init__(self, given: Duration | Mapping[str, Duration], study: Study, seed: int) -> None:
        given = as_durations(given, study.sites)
        by_site = dict(given) if isinstance(given, Mapping) else dict.fromkeys(study.sites, given)
        for name in by_site:
            study.index(name)
        for name in study.sites:
            if name not in by_site:
                raise CbocError(f"durations are given for some sites only; '{name}' has none.")
        self._given, self._seed = by_site, seed
        for name in study.sites:
            self.of(name, 0)  # a mistake is found before anything is run

    def of(self, site: str, number: int) -> float:
        """How long a trial takes."""
        given: Any = self._given[site]
        rng = np.random.default_rng([self._seed, crc32(site.encode()), number, 17])
        if is_number(given):
            took: Any = given
        elif hasattr(given, "rvs"):  # one of SciPy's distributions, or made like them
            took = given.rvs(random_state=rng)
        elif callable(given):
            took = given(rng)
        else:
            raise CbocError(
                f"a duration is a number, a distribution or a function of a random generator; {given!r} is not."
            )
        if not is_number(took) or not 0.0 < took <= LONGEST:
            raise CbocError(
                f"an experiment takes a time above 0, and at most {LONGEST:g}; trial {number} of '{site}' would take "
                f"{took!r}."
            )
        return float(took)
