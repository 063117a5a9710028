"""A program as an experiment: any executable that takes a design and leaves a number.

reactor = Program(["./reactor.awk", "{input}", "{output}"], template=Path("plant-a.deck"), timeout=30.0)
reactor({"inflow": 80.0, "coolant": 312.0})  # 13.264031

The program gets nothing but the design, and every run starts in an empty directory, so an interrupted run can be
repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Any

from cboc.child_processes import group
from cboc.data.objective import Measurement, Outcome
from cboc.errors import CbocError, at, listed
from cboc.experiment.experiment import ExperimentFailed
from cboc.experiment.readout import Readout, Readouts
from cboc.experiment.template import fill, names_in

PLACES = ("input", "output", "folder")  # fields of a command that are not parameters
STDOUT, STDERR = "stdout", "stderr"  # files of a run's directory
MOST_BYTES = 2**24  # read from the end of a program's output
MOST_WORDS = 200  # characters quoted from a program that failed


@dataclass(frozen=True)
class Program:
    """design -> number, by a program that is started for every design.

    `command` is a list; no shell reads it. Its fields `{input}` and `{output}` are the names of two files in the
    run's directory, `{folder}` is the folder, and `{inflow}` the value of the parameter inflow. An executable with a
    slash is relative to the folder, too.

    The input file is the `template` (a text, or a path relative to the folder) with parameters as fields; without a
    template it is the design as JSON. The number is read from the output file if one is named, otherwise from standard
    output: the group of the last match of `pattern`, or at a `key` of JSON ("a.b" is b inside a), or the last number.
    Of several outcomes each has its `key` or its `pattern`, by its name: {"yield": "result.yield", "cost": "cost"};
    then a dictionary of numbers is returned, and a run that lacks one has failed. With `cost_pattern` or `cost_key`
    what the run cost is read from the same text, and a `Measurement` is returned.

    A run fails by an exit code other than 0, after `timeout` seconds, or without a finite number. If `retries` more
    attempts fail too, `ExperimentFailed` is raised; it names a directory below `work` that keeps all files of the last
    attempt. The costs of several attempts add up; one that has failed need not say what it cost.
    """

    command: Sequence[str]
    timeout: float | None  # seconds; None: no limit
    template: str | Path | None = None
    input: str | None = None  # a file name, if the program needs a certain one
    output: str | None = None  # a file name, if the program needs a certain one
    pattern: str | Mapping[str, str] | None = None
    key: str | Mapping[str, str] | None = None
    retries: int = 0
    folder: str | Path = ""  # the current directory
    work: str | Path = "work"  # relative to the folder
    environment: Mapping[str, str] = field(default_factory=dict)  # in addition to this process's own
    cost_pattern: str | None = None
    cost_key: str | None = None

    def __post_init__(self) -> None:
        is_list = isinstance(self.command, Sequence) and not isinstance(self.command, str)
        if not is_list or not self.command or not all(isinstance(part, str) and part for part in self.command):
            raise CbocError(
                f'a command is a list of strings, ["./solver", "{{input}}"], not a shell line; got {self.command!r}.'
            )
        if any("\0" in part for part in self.command):
            raise CbocError(f"a command may not contain a zero byte; got {list(self.command)!r}.")
        object.__setattr__(self, "command", tuple(self.command))
        object.__setattr__(self, "folder", Path(self.folder).absolute())
        self._check_texts()
        object.__setattr__(self, "environment", dict(self.environment))
        if self.timeout is not None and not (_is_a(int | float, self.timeout) and 0 < self.timeout < float("inf")):
            raise CbocError(f"a timeout is a number of seconds above 0, or None; got {self.timeout!r}.")
        if not _is_a(int, self.retries) or self.retries < 0:
            raise CbocError(f"retries is a whole number from 0; got {self.retries!r}.")
        for name in (self.input, self.output):
            if name is not None and (not Path(name).name or Path(name).is_absolute() or ".." in Path(name).parts):
                raise CbocError(f"a program's files lie in the directory of its run; '{name}' does not.")
        _ = self._readout, self._cost_readout

    def _check_texts(self) -> None:
        if not isinstance(self.template, str | Path | None):
            raise CbocError(f"a template is a string, or the Path of a file; got {self.template!r}.")
        if isinstance(self.template, str) and os.path.isfile(os.path.join(self.folder, self.template)):
            raise CbocError(f"a template is a string; for the file of that name write Path('{self.template}').")
        variables = self.environment.items() if isinstance(self.environment, Mapping) else [(None, None)]
        if not all(isinstance(name, str) and isinstance(value, str) for name, value in variables):
            raise CbocError(
                f'an environment is a dictionary of strings, {{"LICENCE": "1234"}}; got {self.environment!r}.'
            )
        for name, value in variables:
            if not name or "=" in name or "\0" in name + value:
                raise CbocError(f"a variable's name may not contain '=', nor name or value a zero byte; got {name!r}.")

    @cached_property
    def _readout(self) -> Readout | Readouts:
        if isinstance(self.pattern, Mapping) or isinstance(self.key, Mapping):
            return Readouts.of(self.pattern, self.key)
        return Readout(self.pattern, self.key)

    def reading(self, names: Sequence[str]) -> Program:
        """This program with these outcomes alone; raises one sentence if it does not say where one of them is."""
        named = isinstance(self.pattern, Mapping) or isinstance(self.key, Mapping)
        if len(names) == 1 and not named:
            return self
        known = {**(self.pattern if isinstance(self.pattern, Mapping) else {})}
        known |= self.key if isinstance(self.key, Mapping) else {}
        if missing := [name for name in names if name not in known]:
            example = ", ".join(f'{json.dumps(name, ensure_ascii=False)} = "..."' for name in names)
            raise CbocError(
                f"this site measures {listed(names)}; say where the program has {listed(missing)}, as in key = "
                f"{{{example}}} or pattern = ..."
            )
        return replace(self, **{part: self._only(getattr(self, part), names) for part in ("pattern", "key")})

    @staticmethod
    def _only(given: Mapping[str, str] | str | None, names: Sequence[str]) -> Any:
        return {name: given[name] for name in names if name in given} if isinstance(given, Mapping) else given

    @cached_property
    def _cost_readout(self) -> Readout | None:
        """Where the cost is; None if the program does not say it."""
        if self.cost_pattern is None and self.cost_key is None:
            return None
        with at("the cost"):
            return Readout(self.cost_pattern, self.cost_key)

    # ------------------------------------------------------------------------------------------------- does it fit?

    def check(self, parameters: Iterable[str]) -> None:
        """Check that it can be run on this machine, with designs of these parameters."""
        names = tuple(parameters)
        for name in names:
            if name in PLACES:
                raise CbocError(f"{{{name}}} is a field of every program; give parameter '{name}' another name.")
        with at("the command"):
            used = set().union(*(names_in(part, (*names, *PLACES)) for part in self.command[1:]))
        if self.template is not None:
            with at("the template"):
                used |= names_in(self._template, names)
        elif self._input is not None:
            used |= set(names)
        for name in names:
            if name not in used:
                raise CbocError(f"the program never receives '{name}'; put {{{name}}} into its template or command.")
        _ = self._executable

    def to_row(self) -> dict[str, Any]:
        """Return everything that its number depends on, as plain data."""
        names = ["command", "input", "output", "pattern", "key", "environment"]
        names += [name for name in ("cost_pattern", "cost_key") if getattr(self, name) is not None]
        template = None if self.template is None else self._template
        return {name: getattr(self, name) for name in names} | {"template": template}

    @property
    def _executable(self) -> str:
        name = self.command[0]
        if not os.path.dirname(name):
            found = shutil.which(name, path=self.environment.get("PATH"))
            if found is None:
                raise CbocError(f"there is no program '{name}' on the path; install it, or write ./{name} for a file.")
            return os.path.abspath(found)
        path = Path(self.folder, name)
        if not path.is_file():
            raise CbocError(f"there is no program {path}; paths are relative to the program's folder.")
        if not os.access(path, os.X_OK):
            raise CbocError(f"{path} is not executable; run chmod +x on it.")
        return str(path)

    @property
    def _template(self) -> str:
        if isinstance(self.template, str):
            return self.template
        path = Path(self.folder, self.template or "")
        try:
            return path.read_bytes().decode()  # keeps its line ends
        except OSError as error:
            raise CbocError(f"cannot read {path}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise CbocError(f"{path} is not UTF-8 text; save it as UTF-8.") from None

    @property
    def _input(self) -> str | None:
        """The name of the input file; None if the command says it all."""
        is_wanted = self.template is not None or self._has("input")
        return self.input or ("input" if is_wanted else None)

    @property
    def _output(self) -> str:
        return self.output or ("output" if self._has("output") else STDOUT)

    def _has(self, place: str) -> bool:
        return any(f"{{{place}}}" in part for part in self.command)

    # ------------------------------------------------------------------------------------------------ one experiment

    def __call__(self, design: Mapping[str, Any]) -> Outcome:
        """Return the number from the first attempt that gives one, with its cost if the program says that."""
        self.check(design)
        command, text = self._command(design), self._text(design)
        kept = Path(self.work, f"failed-{self._digest(design)}")
        spent: list[float] = []  # by attempts that have failed
        for left in reversed(range(1 + self.retries)):
            try:
                y, cost = self._attempt(command, text, Path(self.folder, kept))
            except ExperimentFailed as failure:
                spent += [] if failure.cost is None else [failure.cost]
                if left == 0:
                    raise ExperimentFailed(f"{failure}; see {kept}", cost=fsum(spent) if spent else None) from None
            else:
                return y if cost is None else _with_cost(y, fsum([*spent, cost]))
        raise AssertionError("the last attempt has returned or raised")

    def _command(self, design: Mapping[str, Any]) -> list[str]:
        """The command line for a design, with files named as seen from where it runs."""
        places = {"input": self._input, "output": self._output, "folder": self.folder}
        return [self._executable, *(fill(part, {**design, **places}) for part in self.command[1:])]

    def _text(self, design: Mapping[str, Any]) -> str:
        return json.dumps(dict(design), indent=1) + "\n" if self.template is None else fill(self._template, design)

    def _digest(self, design: Mapping[str, Any]) -> str:
        """A fingerprint of this program and design, the same on any machine."""
        known = [*self.command, self._text(design), dict(design)]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:8]

    def _attempt(self, command: Sequence[str], text: str, kept: Path) -> tuple[float | dict[str, float], float | None]:
        """Run once in an empty directory, which is kept after a failure, replacing an earlier failure of the same."""
        kept.parent.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix=".run-", dir=kept.parent))
        try:
            if self._input is not None:
                _write(directory / self._input, text)
            self._run(command, directory)
            return self._number(directory), self._cost(directory)
        except ExperimentFailed as failure:
            with suppress(CbocError):
                failure.cost = self._cost(directory)
            shutil.rmtree(kept, ignore_errors=True)
            with suppress(OSError):  # another process has just kept the same failure
                directory.rename(kept)
            raise
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _run(self, command: Sequence[str], directory: Path) -> None:
        """Run the command with its output in files, because a surviving child with a pipe would keep us waiting."""
        environment = {**os.environ, **self.environment}
        with (directory / STDOUT).open("wb") as said, (directory / STDERR).open("wb") as complained:
            try:
                with group(
                    command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=complained
                ) as process:
                    code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                raise ExperimentFailed(f"it did not end within {self.timeout:g} s") from None
            except OSError as error:
                raise CbocError(
                    f"cannot start {command[0]}: {error.strerror}; a script begins with a line such as #!/bin/sh."
                ) from None
        if code != 0:
            ending = f"exit code {code}" if code > 0 else f"signal {-code} ({signal.strsignal(-code)})"
            raise ExperimentFailed(f"it ended with {ending}{_last_words(directory)}")

    def _number(self, directory: Path) -> float | dict[str, float]:
        text = _end_of(directory / self._output)
        if not text.strip():
            where = "to standard output" if self._output == STDOUT else f"to '{self._output}'"
            raise ExperimentFailed(f"it wrote nothing {where}")
        return self._readout(text)

    def _cost(self, directory: Path) -> float | None:
        """What the run cost, if the program says it; a program that should say it and does not is set up wrongly."""
        if self._cost_readout is None:
            return None
        try:
            cost = self._cost_readout(_end_of(directory / self._output))
        except ExperimentFailed as reason:
            raise CbocError(
                f"a run of {self.command[0]} does not say what it cost: {reason}; correct cost_pattern or cost_key, or "
                "leave it out."
            ) from None
        if cost < 0.0:
            raise CbocError(f"a cost is a number from 0; a run of {self.command[0]} said {cost:g}.")
        return cost


def _with_cost(y: float | dict[str, float], cost: float) -> Outcome:
    """The outcome with what the run cost, which is told once."""
    if not isinstance(y, dict):
        return Measurement(y, cost=cost)
    return {name: Measurement(value, cost=None if k else cost) for k, (name, value) in enumerate(y.items())}


def _is_a(kind: Any, value: object) -> bool:
    """Is the value of this kind? True and False count as whole numbers for Python, but not here."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _end_of(path: Path) -> str:
    """Read the end of a file, from the beginning of a line and up to MOST_BYTES; empty if there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) <= MOST_BYTES:
            file.seek(0)
        else:
            file.seek(-MOST_BYTES, os.SEEK_END)
            file.readline()
        return file.read().decode(errors="replace")


def _last_words(directory: Path) -> str:
    """The last line on standard error or, if there is none, on standard output."""
    spoken = (_end_of(directory / name) for name in (STDOUT, STDERR))
    words = [line.strip() for text in spoken for line in text.splitlines() if line.strip()]
    return f", saying '{words[-1][:MOST_WORDS]}'" if words else ""
