"""Sources of a site's outcomes in a simulation: a test problem, a Python function of the user's, or a program."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, cast
from zlib import crc32

import numpy as np

from cboc.data.dataset import Direction
from cboc.data.goal import Goal
from cboc.data.objective import Outcome
from cboc.errors import CbocError, at, did_you_mean, listed
from cboc.experiment import Program
from cboc.experiment.experiment import Experiment, ExperimentFailed
from cboc.problems.problem import Problem, heterogeneous
from cboc.problems.synthetic import problem
from cboc.problems.tradeoffs import TRADEOFFS, tradeoff
from cboc.space.space import Space
from cboc.studyfile.section import (
    AMOUNT,
    COUNT,
    DURATION,
    NUMBER,
    TABLE,
    TEXT,
    TEXT_OR_WORDS,
    TEXTS,
    WORDS,
    Section,
    seconds,
)


@dataclass(frozen=True)
class Formula:
    """A test problem as one site sees it, a1 f(x + a3) + a2  (Sec. 5.1); `noise` is a standard deviation."""

    problem: str
    scale: float = 1.0  # a1
    offset: float = 0.0  # a2
    shift: float = 0.0  # a3
    noise: float = 0.0
    is_program: ClassVar[bool] = False

    @property
    def space(self) -> Space | None:
        """The space of the problem as published."""
        return problem(self.problem).space

    def noiseless(self, space: Space, goal: Goal) -> Problem | None:
        """Return the site's problem on the study's space, without noise; None if its optimum is not what is wanted."""
        if len(goal.measured) > 1:
            raise CbocError(
                f"problem '{self.problem}' has one outcome, and this site measures {listed(goal.measured)}; problems "
                f"with several are {listed(TRADEOFFS)}."
            )
        found = self._problem(space, goal.direction)
        return found if goal.is_plain else None

    def _problem(self, space: Space, direction: Direction) -> Problem:
        common = problem(self.problem)
        site = heterogeneous(common, self.scale, self.offset, self.shift)
        if (space, direction) == (common.space, common.direction):
            return site
        if space.names != common.space.names or space.blocks:
            raise CbocError(
                f"problem '{self.problem}' has the parameters {', '.join(common.space.names)}, but the study has "
                f"{', '.join(space.names)}; all sites of a study share one space."
            )
        return replace(site, space=space, direction=direction, known_optimum=None)

    def experiment(self, site: str, space: Space, goal: Goal, seed: int) -> Experiment:
        """Return the experiment. Its noise is a function of seed, site and design, so an interrupted run repeats it."""
        exact = self._problem(space, goal.direction)
        if self.noise == 0.0:
            return exact

        def measure(design: dict[str, Any]) -> float:
            place = crc32(f"{site} {sorted(design.items())}".encode())
            return exact(design) + self.noise * float(np.random.default_rng([seed, place]).standard_normal())

        return measure

    def to_row(self) -> dict[str, Any]:
        """Return this source as plain data, for the record of a run."""
        return asdict(self)


@dataclass(frozen=True)
class Several:
    """A test problem with several outcomes as one site sees it: f(x + shift), the shift in widths of the box."""

    problem: str
    shift: float = 0.0
    is_program: ClassVar[bool] = False

    @property
    def space(self) -> Space | None:
        """The space of the problem as published."""
        return tradeoff(self.problem).space

    def noiseless(self, space: Space, goal: Goal) -> None:
        """Return None: where there are several outcomes, there is no one optimum. Raises if it does not fit."""
        known = tradeoff(self.problem)
        if space.names != known.space.names or space.blocks:
            raise CbocError(
                f"problem '{self.problem}' has the parameters {', '.join(known.space.names)}, but the study has "
                f"{', '.join(space.names)}; all sites of a study share one space."
            )
        if len(goal.aims) != len(known.objectives):
            raise CbocError(
                f"problem '{self.problem}' has {len(known.objectives)} outcomes, and the study has "
                f"{len(goal.aims)}; give objectives that many names."
            )
        if others := [name for name in goal.measured if name not in goal.aims]:
            raise CbocError(
                f"problem '{self.problem}' has no outcome {listed(others)}; limit one of {listed(goal.aims)}."
            )

    def experiment(self, _: str, space: Space, goal: Goal, __: int) -> Experiment:
        """Return the experiment; its outcomes have the names of the study's objectives, in their order."""
        self.noiseless(space, goal)
        exact = replace(tradeoff(self.problem).shifted(self.shift), space=space)

        def measure(design: dict[str, Any]) -> Outcome:
            return dict(zip(goal.aims, exact(design).values(), strict=True))

        return measure

    def to_row(self) -> dict[str, Any]:
        """Return this source as plain data, for the record of a run."""
        return {"tradeoff": self.problem, "shift": self.shift}


@dataclass(frozen=True)
class Script:
    """A Python function, 'experiment.py:measure' or 'package.module:measure', found from the study file's folder."""

    reference: str
    folder: Path
    space: None = None
    is_program: ClassVar[bool] = False

    def noiseless(self, *_: object) -> None:
        """Return None: this is not a test problem."""

    def experiment(self, site: str, _: Space, goal: Goal, __: int) -> Experiment:
        """Return the function; an error inside it becomes one sentence, because it ends the simulation."""
        function, who = self._function(), f"site '{site}': {self.reference}"

        def measure(design: dict[str, Any]) -> Outcome:
            try:
                outcome = function(design)
            except (ExperimentFailed, CbocError):
                raise
            except (Exception, SystemExit) as error:
                line = traceback.extract_tb(error.__traceback__)[-1]
                raise CbocError(
                    f"{who} {_did(error)} ({Path(line.filename).name}, line "
                    f"{line.lineno}) at {design}; raise cboc.ExperimentFailed where an experiment may fail."
                ) from error
            if isinstance(outcome, Mapping):
                return _named(outcome, goal, who, design)
            if len(goal.measured) > 1:
                raise CbocError(
                    f"{who} returned {outcome!r} at {design}; this site measures {listed(goal.measured)}, so return a "
                    "dictionary with a number for each."
                )
            if not _is_finite(outcome):
                raise CbocError(
                    f"site '{site}': an outcome is a finite number, but {self.reference} returned {outcome!r} at "
                    f"{design}; if an experiment has failed, raise cboc.ExperimentFailed in it."
                )
            return outcome

        return measure

    def _function(self) -> Experiment:
        module_name, _, name = self.reference.rpartition(":")
        if not module_name or not name.isidentifier():
            raise CbocError(f"an experiment is 'file.py:function' or 'module:function', but got '{self.reference}'.")
        module = self._module(module_name)
        function = getattr(module, name, None)
        if not callable(function):
            known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
            hint = did_you_mean(name, known) if known else "it holds no function."
            raise CbocError(f"{module_name} has no function '{name}'; {hint}")
        return cast(Experiment, function)

    def _module(self, name: str) -> ModuleType:
        path = self.folder / name
        if name.endswith(".py") and not path.is_file():
            raise CbocError(f"there is no file {path}; its path is relative to the folder of the study file.")
        try:
            with _importable(self.folder):
                return _module_of(path) if name.endswith(".py") else importlib.import_module(name)
        except (Exception, SystemExit) as error:
            raise CbocError(f"cannot import {name}: it {_did(error)}.") from error

    def to_row(self) -> dict[str, Any]:
        """Return this source as plain data, for the record of a run."""
        return {"experiment": self.reference}


READOUTS = ("pattern", "key")


@dataclass(frozen=True)
class Executable:
    """A program that is started for every design; its paths are relative to the folder of the study file."""

    program: Program
    space: None = None
    is_program: ClassVar[bool] = True

    def noiseless(self, *_: object) -> None:
        """Return None: this is not a test problem."""

    @classmethod
    def of(cls, section: Section, folder: Path) -> Executable:
        """Read a table [site.program], whose keys are those of `Program`."""
        texts = ("input", "output", "work", "cost_pattern", "cost_key")
        section.check_keys(("command", "timeout", "template", *texts, *READOUTS, "retries", "environment"))
        settings = {key: section.get(key, TEXT) for key in texts if key in section.values}
        settings |= {key: section.get(key, TEXT_OR_WORDS) for key in READOUTS if key in section.values}
        if "template" in section.values:
            settings["template"] = Path(section.get("template", TEXT))
        settings |= {"retries": section.get("retries", COUNT, 0), "environment": section.get("environment", WORDS, {})}
        command, timeout = section.need("command", TEXTS), seconds(section.need("timeout", DURATION))
        with at(section.place):
            return cls(Program(command, timeout, folder=folder, **settings))

    def experiment(self, _: str, space: Space, goal: Goal, __: int) -> Experiment:
        """Return the program, if it fits the space, what is measured, and this machine."""
        self.program.check(space.names)
        return self.program.reading(goal.measured)

    def to_row(self) -> dict[str, Any]:
        """Return this source as plain data, for the record of a run."""
        return self.program.to_row()


Source = Formula | Several | Script | Executable


def source_of(section: Section, folder: Path) -> Source | None:
    """Where the outcomes of a site's section come from; None if it does not say."""
    own = [key for key in ("experiment", "program") if key in section.values]
    formula = [key for key in ("problem", "scale", "offset", "shift", "noise") if key in section.values]
    if own and formula:
        raise CbocError(
            f"{section.place}: '{formula[0]}' is for test problems only; leave out '{formula[0]}' or '{own[0]}'."
        )
    if len(own) > 1:
        raise CbocError(f"{section.place}: outcomes come from an experiment or from a program; leave one of them out.")
    if "program" in own:
        return Executable.of(Section(f"{section.place}, program", section.get("program", TABLE)), folder)
    if "experiment" in own:
        return Script(section.get("experiment", TEXT), folder.resolve())
    if not formula:
        return None
    if section.get("problem", TEXT) in TRADEOFFS:
        return _several(section)
    source = Formula(
        problem=section.need("problem", TEXT),
        scale=float(section.get("scale", NUMBER, 1.0)),
        offset=float(section.get("offset", NUMBER, 0.0)),
        shift=float(section.get("shift", NUMBER, 0.0)),
        noise=float(section.get("noise", AMOUNT, 0.0)),
    )
    with at(section.place):
        _ = source.space  # is there such a problem?
    return source


def _several(section: Section) -> Several:
    """A test problem with several outcomes."""
    for key in ("scale", "offset", "noise"):
        if key in section.values:
            raise CbocError(f"{section.place}: '{key}' is for test problems with one outcome; leave it out.")
    return Several(section.need("problem", TEXT), float(section.get("shift", NUMBER, 0.0)))


def _named(outcome: Mapping[str, Any], goal: Goal, who: str, design: dict[str, Any]) -> dict[str, Any]:
    """What a site measures out of what its function has returned; raises one sentence if something is missing."""
    for name in goal.measured:
        if name not in outcome:
            raise CbocError(
                f"{who} returned no '{name}' at {design}, but {listed(outcome) or 'nothing'}; return an outcome for "
                f"each of {listed(goal.measured)}."
            )
        if not _is_finite(outcome[name]):
            raise CbocError(
                f"{who} returned {outcome[name]!r} for '{name}' at {design}; an outcome is a finite number. If an "
                "experiment has failed, raise cboc.ExperimentFailed in it."
            )
    return {name: outcome[name] for name in goal.measured}


def _did(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({'' if error.code is None else repr(error.code)})"
    return " ".join(f"raised {type(error).__name__}: {error}".split())


def _is_finite(outcome: Any) -> bool:
    """Is the outcome finite, if it is a number or a list of numbers? The site itself refuses anything else."""
    try:
        return all(isfinite(part) for part in (outcome if isinstance(outcome, tuple | list) else [outcome]))
    except (TypeError, ValueError):
        return True


def _module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # a file that ends in .py has a loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Make the modules in a folder importable, as if the study were started there."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
