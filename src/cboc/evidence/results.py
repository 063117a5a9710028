"""A directory of results: a line of JSON for every run, written when it is done.

results.jsonl   the results: they follow from the seeds alone and are sorted when a run is complete, so the same jobs
                give the same file byte for byte, whoever ran them in whatever order
costs.jsonl     the CPU seconds of each job, which are not reproducible
edition.json    which edition of the benchmark wrote it
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from platform import machine
from typing import Any, Generic, Protocol, Self, TypeVar

from cboc import __version__
from cboc.errors import CbocError, at
from cboc.storage.lock import only_writer

EDITION = 2  # goes up when a change of the code changes the numbers
COSTS, MARK = "costs.jsonl", "edition.json"


def libraries() -> dict[str, str]:
    """The libraries and the processor, on which the last digits of a result depend, besides the code."""
    return {"cboc": __version__, "numpy": version("numpy"), "scipy": version("scipy"), "processor": machine()}


class JobLike(Protocol):
    """Anything with a name and a size, in experiments; its order is that of the rows in the file."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def __hash__(self) -> int: ...

    def __lt__(self, other: Any) -> bool: ...


class RowLike(Protocol):
    """The results of a job, to and from JSON."""

    @property
    def job(self) -> Any: ...

    def to_json(self) -> dict[str, Any]: ...

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Self: ...


J = TypeVar("J", bound=JobLike)
R = TypeVar("R", bound=RowLike)


class Results(Generic[J, R]):
    """The rows of one kind in a directory, and a place for more."""

    def __init__(self, directory: Path, kind: type[R], name: str = "results") -> None:
        self.directory, self.kind = directory, kind
        _check_directory(directory)
        self.path = directory / f"{name}.jsonl"
        self.edition = self._edition()
        self.rows: dict[J, R] = {}
        self._read()
        self.costs = _costs(directory / COSTS)

    def _read(self) -> None:
        numbers: dict[J, int] = {}
        for number, line in _lines(self.path):
            row = self._row(_place(number, self.path), line)
            first = numbers.setdefault(row.job, number)
            if first != number and row != self.rows[row.job]:
                raise CbocError(
                    f"lines {first} and {number} of {self.path} are two different results of one run; delete the "
                    "wrong one, or both: a missing result is run again."
                )
            self.rows[row.job] = row

    def _edition(self) -> int:
        """The edition that wrote the rows; a later one cannot be read."""
        mark = self.directory / MARK
        try:
            edition = json.loads(mark.read_text(encoding="utf-8"))["edition"]
            if type(edition) is not int or edition < 1:
                raise TypeError(edition)
        except FileNotFoundError:
            if any(path.name != COSTS for path in self.directory.glob("*.jsonl")):
                raise CbocError(
                    f"{self.directory} holds results but no {MARK}; restore it, or use another directory."
                ) from None
            return EDITION
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CbocError(f"{mark} is damaged; restore it, or use another directory.") from None
        if edition > EDITION:
            raise self._of_another(edition)
        return edition

    def check_edition(self) -> None:
        """Raise one sentence if the rows are those of an earlier edition: they can be shown, but not compared."""
        if self.edition != EDITION:
            raise self._of_another(self.edition)

    def _of_another(self, edition: int) -> CbocError:
        return CbocError(
            f"{self.directory} was written by edition {edition} of the benchmark, whose numbers differ from those "
            f"of edition {EDITION} (cboc {__version__}); use another directory, or the version that wrote it."
        )

    @property
    def is_at_home(self) -> bool:
        """Was the directory begun with the libraries installed here, on this kind of processor?"""
        mark = self.directory / MARK
        here = {"edition": EDITION, **libraries()}
        return not mark.exists() or json.loads(mark.read_text(encoding="utf-8")) == here

    def missing(self, jobs: Iterable[J]) -> list[J]:
        """The jobs that have no row yet."""
        return [job for job in jobs if job not in self.rows]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the directory for a single writer; sort its rows at the end."""
        self.check_edition()
        self.directory.mkdir(parents=True, exist_ok=True)
        with only_writer(self.directory / COSTS):
            mark = self.directory / MARK
            if not mark.exists():
                write_whole(mark, json.dumps({"edition": EDITION, **libraries()}) + "\n")
            for path in (self.path, self.directory / COSTS):
                _cut_half_line(path)
            self._read()  # rows that another process has added since
            yield
            self._put_in_order()

    def add(self, job: J, row: dict[str, Any], cpu: float) -> None:
        """Add a row; it is on disk before anything else happens."""
        _append(self.directory / COSTS, {"job": job.name, "cpu": cpu})
        _append(self.path, row)
        self.rows[job] = self.kind.from_json(row)
        self.costs[job.name] = cpu

    @property
    def is_in_order(self) -> bool:
        """Whether the file is as it should be at the end of a run; a kill may have come before it was sorted."""
        return not self.rows or self.path.read_bytes() == self._in_order().encode()

    def _put_in_order(self) -> None:
        write_whole(self.path, self._in_order())

    def _in_order(self) -> str:
        return "".join(_line(self.rows[job].to_json()) for job in sorted(self.rows))

    def _row(self, place: str, line: dict[str, Any]) -> R:
        try:
            with at(place):
                return self.kind.from_json(line)
        except CbocError:
            raise
        except (KeyError, TypeError, ValueError):
            raise _damaged(place) from None


def _check_directory(directory: Path) -> None:
    there = next((path for path in (directory, *directory.parents) if path.exists()), None)
    if there is not None and not there.is_dir():
        raise CbocError(f"results live in a directory, but {there} is a file; give another path.")


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a file, each with its number, from 1, and its object."""
    for number, line in enumerate(_whole_lines(path), start=1):
        said = _said(line)
        if said is None:
            raise _damaged(_place(number, path))
        yield number, said


def _costs(path: Path) -> dict[str, float]:
    """CPU seconds by the name of a job. They are only for information, so unreadable lines are left out."""
    lines = [_said(line) or {} for line in _whole_lines(path)]
    return {
        line["job"]: line["cpu"]
        for line in lines
        if isinstance(line.get("job"), str) and type(line.get("cpu")) in (int, float)
    }


def _whole_lines(path: Path) -> list[bytes]:
    """The whole lines of a file; a last line without its end was cut by a kill and is left out."""
    whole, _, _ = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
    return whole.split(b"\n") if whole else []


def _said(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line, or None if the line is not one."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _place(number: int, path: Path) -> str:
    return f"line {number} of {path}"


def _damaged(place: str) -> CbocError:
    return CbocError(f"{place} is damaged; delete it: a missing result is run again.")


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":")) + "\n"


def write_whole(path: Path, text: str) -> None:
    """Write all of the text or nothing, even if killed."""
    draft = path.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _append(path: Path, content: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(content))


def _cut_half_line(path: Path) -> None:
    """Remove the half line that a kill during writing has left after the last whole line."""
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with path.open("rb+") as file:
                file.truncate(whole)
