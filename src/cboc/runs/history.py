"""What happened in a study: one row per site and trial."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Direction
from cboc.data.goal import Goal
from cboc.data.results import Results
from cboc.errors import CbocError, installing
from cboc.exchange.study import Study
from cboc.names import as_cell
from cboc.private_files import for_owner
from cboc.site.trial import Status, Trial, results_of
from cboc.space.space import Space

if TYPE_CHECKING:
    from pandas import DataFrame

    from cboc.site.site import Site

TAKEN = ("site", "trial", "turn", "status", "decision", "leader", "explanation")  # columns of every history
LAST = ("began", "ended", "cost", "note", "remark")  # columns after all others; a parameter may have such a name


@dataclass(frozen=True)
class History:
    """The trials of all sites. It holds outcomes: it belongs to a simulation or to one site, never to a coordinator."""

    study: Study
    goals: Mapping[str, Goal]  # or directions, of one objective
    trials: tuple[Trial, ...]
    earlier: dict[str, float] = field(default_factory=dict)  # the best outcome of the sites that had data from before
    spaces: Mapping[str, Space] = field(default_factory=dict)  # of the sites that have parameters of their own

    def __post_init__(self) -> None:
        goals = {site: Goal.of(given, self.study.objectives) for site, given in self.goals.items()}
        object.__setattr__(self, "goals", goals)

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites whose trials these are: all of a simulation, or the one whose file it is."""
        return tuple(site for site in self.study.sites if site in self.goals)

    @property
    def directions(self) -> dict[str, Direction]:
        """Which way the first objective is better, by site."""
        return {site: goal.direction for site, goal in self.goals.items()}

    def space_of(self, site: str) -> Space:
        """The space of a site's designs."""
        return self.spaces.get(site, self.study.space)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters: the study's, then those that only some sites have."""
        return tuple(dict.fromkeys(name for site in self.sites for name in self.space_of(site).names))

    def of(self, site: str) -> list[Trial]:
        """One site's trials in order."""
        self.study.index(site)
        return [trial for trial in self.trials if trial.site == site]

    def best_so_far(self, site: str) -> Array:
        """The best outcome after the initial trials and after each later one, (n + 1,); NaN before a first success."""
        trials, sign = self.of(site), self.goals[site].sign
        best = self.earlier.get(site, np.nan)
        curve = [best]
        for trial, y in zip(trials, self._reached(site, trials), strict=True):
            best = float(sign * np.fmax(sign * best, sign * y))
            if trial.turn is None:
                curve[0] = best
            elif trial.status is not Status.STOPPED:
                curve.append(best)
        return np.array(curve)

    def _reached(self, site: str, trials: Sequence[Trial]) -> list[float]:
        """What the search had reached with each trial: its outcome, or the volume below the front; NaN if nothing."""
        goal = self.goals[site]
        told = [trial for trial in trials if trial.status is Status.COMPLETE]
        if goal.is_plain:
            reached = [np.nan if trial.y is None else trial.y for trial in told]
        else:
            results = results_of(goal, self.space_of(site).dimension, told)
            reached = results.progress(sum(trial.turn is None for trial in told)).tolist()
        of_trial = dict(zip((trial.number for trial in told), reached, strict=True))
        return [of_trial.get(trial.number, np.nan) for trial in trials]

    def course(self, site: str) -> tuple[Array, Array]:  # (n,), (n,)
        """When the site's experiments ended, and the best outcome after each; NaN before a first success."""
        ran = sorted((trial for trial in self.of(site) if trial.ended is not None), key=_ended)
        sign = self.goals[site].sign
        scores = [sign * y for y in self._reached(site, ran)]
        best = np.fmax.accumulate([sign * self.earlier.get(site, np.nan), *scores])[1:]
        return np.array([trial.ended for trial in ran], dtype=float), sign * best

    def rows(self) -> Iterator[dict[str, Any]]:
        """One flat dictionary per trial, designs in natural units."""
        for trial in self.trials:
            row: dict[str, Any] = {
                "site": trial.site,
                "trial": trial.number,
                "turn": None if trial.turn is None else trial.turn.number,
                "status": str(trial.status),
            }
            row["decision"] = None if trial.decision is None else str(trial.decision)
            if trial.decision is not None:
                row |= trial.design(self.space_of(trial.site))
            row |= self._measured(trial) | {
                "leader": None if trial.answer is None else trial.answer.leader,
                "explanation": trial.explain(self.study.sites),
            }
            beside: dict[str, Any] = {"began": trial.began, "ended": trial.ended, "cost": trial.cost}
            beside |= {"note": trial.note or None, "remark": trial.remark or None}  # the note says why one failed
            yield row | {column: beside[name] for name, column in self._last.items()}

    def _measured(self, trial: Trial) -> dict[str, float | None]:
        """The columns of the outcomes: y and sem if there is one, else a pair for each by its name."""
        if self._is_single:
            return {"y": trial.y, "sem": trial.sem}
        found: dict[str, float | None] = {}
        for name, column in self._outcomes.items():
            measured = trial.outcomes.get(name)
            mean, sem = (None, None) if measured is None else (measured.mean, measured.sem)
            found |= {column: mean, f"{name} sem": sem}
        return found

    @property
    def _pairs(self) -> list[str]:
        """The columns of the outcomes, each beside its standard error."""
        if self._is_single:
            return ["y", "sem"]
        return [part for name, column in self._outcomes.items() for part in (column, f"{name} sem")]

    @property
    def _is_single(self) -> bool:
        return all(len(goal.measured) == 1 for goal in self.goals.values())

    @property
    def _outcomes(self) -> dict[str, str]:
        """The names of everything that a site measures, and their columns; one that is taken gets another name."""
        names = dict.fromkeys(name for goal in self.goals.values() for name in goal.measured)
        taken = (*TAKEN, *self.parameters)
        return {name: f"outcome {name}" if name in taken else name for name in names}

    @property
    def _last(self) -> dict[str, str]:
        """The last columns; a parameter of the same name, such as cost, has it for itself, and so has an outcome."""
        outcomes = () if self._is_single else tuple(self._outcomes.values())
        names = (name for name in LAST if name not in self.parameters)
        return {name: f"{name} of the trial" if name in outcomes else name for name in names}

    def to_csv(self, file: TextIO | str | PathLike[str]) -> None:
        """Write all rows, with a header, to a file: an open one, or the path of one."""
        if isinstance(file, str | PathLike):
            try:
                with open(file, "w", encoding="utf-8", newline="", opener=for_owner) as opened:
                    self.to_csv(opened)
            except OSError as error:
                raise CbocError(f"cannot write {file}: {error.strerror}; choose another file.") from None
            return
        names = [
            "site",
            "trial",
            "turn",
            "status",
            "decision",
            *self.parameters,
            *self._pairs,
            "leader",
            "explanation",
            *self._last.values(),
        ]
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: "" if v is None else as_cell(v) for k, v in row.items()} for row in self.rows())

    def to_frame(self) -> DataFrame:
        """All rows as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise CbocError(f"DataFrames need pandas, which is not installed; {installing('pandas')}.") from None
        return pandas.DataFrame(list(self.rows()))


@dataclass(frozen=True)
class Repetition:
    """What happened with one seed, and the sites as they were at the end of working together."""

    together: History
    alone: History | None
    site: Callable[[str], Site]  # by name
    name: str = ""  # 'seed 0'; empty for a site's own file, which has no other


def best_before(results: Mapping[str, Results]) -> dict[str, float]:
    """The best outcome that each site had before its study, by name; not of those without one.

    Of several objectives there is none: a volume is measured from what is found in the study.
    """
    ends = {
        site: each.progress(len(each))[-1] for site, each in results.items() if len(each) and len(each.goal.aims) == 1
    }
    return {site: float(end) for site, end in ends.items() if not np.isnan(end)}


def _ended(trial: Trial) -> float:
    return trial.ended or 0.0


def in_order(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Trials sorted by turn, then site; initial ones first."""
    return tuple(sorted(trials, key=lambda t: (-1 if t.turn is None else t.turn.number, t.site, t.number)))
