"""Sources of a site's outcomes in a simulation: a test problem, a Python function of the user's, or a program."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, cast
from zlib import crc32

import numpy as np

from cboc.data.dataset import Direction
from cboc.data.objective import Outcome
from cboc.errors import CbocError, at, did_you_mean
from cboc.experiment import Program
from cboc.experiment.experiment import Experiment, ExperimentFailed
from cboc.problems.problem import Problem, heterogeneous
from cboc.problems.synthetic import problem
from cboc.space.space import Space
from cboc.studyfile.section import COUNT, DURATION, TEXT, TEXTS, WORDS, Section, seconds


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

    def noiseless(self, space: Space, direction: Direction) -> Problem | None:
        """Return the site's problem on the study's space, without noise."""
        return self._problem(space, direction)

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

    def experiment(self, site: str, space: Space, direction: Direction, seed: int) -> Experiment:
        """Return the experiment. Its noise is a function of seed, site and design, so an interrupted run repeats it."""
        exact = self._problem(space, direction)
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
class Script:
    """A Python function, 'experiment.py:measure' or 'package.module:measure', found from the study file's folder."""

    reference: str
    folder: Path
    space: None = None
    is_program: ClassVar[bool] = False

    def noiseless(self, *_: object) -> None:
        """Return None: this is not a test problem."""

    def experiment(self, site: str, *_: object) -> Experiment:
        """Return the function; an error inside it becomes one sentence, because it ends the simulation."""
        function = self._function()

        def measure(design: dict[str, Any]) -> Outcome:
            try:
                outcome = function(design)
            except (ExperimentFailed, CbocError):
                raise
            except (Exception, SystemExit) as error:
                line = traceback.extract_tb(error.__traceback__)[-1]
                raise CbocError(
                    f"site '{site}': {self.reference} {_did(error)} ({Path(line.filename).name}, line "
                    f"{line.lineno}) at {design}; raise cboc.ExperimentFailed where an experiment may fail."
                ) from error
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
        texts = ("input", "output", "pattern", "key", "work", "cost_pattern", "cost_key")
        section.check_keys(("command", "timeout", "template", *texts, "retries", "environment"))
        settings = {key: section.get(key, TEXT) for key in texts if key in section.values}
        if "template" in section.values:
            settings["template"] = Path(section.get("template", TEXT))
        settings |= {"retries": section.get("retries", COUNT, 0), "environment": section.get("environment", WORDS, {})}
        command, timeout = section.need("command", TEXTS), seconds(section.need("timeout", DURATION))
        with at(section.place):
            return cls(Program(command, timeout, folder=folder, **settings))

    def experiment(self, _: str, space: Space, *__: object) -> Experiment:
        """Return the program, if it fits the space and this machine."""
        self.program.check(space.names)
        return self.program

    def to_row(self) -> dict[str, Any]:
        """Return this source as plain data, for the record of a run."""
        return self.program.to_row()


Source = Formula | Script | Executable


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
