"""The journal of a simulation: its trials as lines of JSON, written as they happen.

Every line has a checksum, which goes on from the lines before (chain.py). Format 2 had none: such a journal is read
and continued, with checksums from there on, that are of its old lines as well. Format 1 is read only.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from cboc.errors import CbocError
from cboc.private_files import make
from cboc.site.trial import Trial, may_follow
from cboc.storage.chain import Chain, is_sealed
from cboc.storage.formats import trial_from_1
from cboc.storage.lock import only_writer
from cboc.storage.shape import Shape

FORMAT = 3
CONTINUED = (2, FORMAT)  # the formats of journals that go on
LONGEST_UNSYNCED = 1.0  # seconds; to wait for the disk at every line would make a simulation several times slower
DAMAGED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, CbocError)


class Journal:
    """An append-only file of trials: a header that says which study, then one line whenever a trial changes.

    Only its owner may read it: it has outcomes. A line cut short by a kill is dropped when the file is opened again. If
    a trial has several lines, the last counts. While it is open, no other process may write to it. A kill loses
    nothing; a power cut loses at most the experiments of one second, which are then run again.
    """

    def __init__(self, path: str | Path, header: dict[str, Any]) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **header}))  # as it reads back
        self._trials: dict[tuple[str, int], Trial] = {}
        self._chain = Chain()
        self._synced = -LONGEST_UNSYNCED
        with ExitStack() as opened:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):
                    make(self.path)
                opened.enter_context(only_writer(self.path))
                is_new = self._is_new()
                if not is_new:
                    self._read()
                self._file = opened.enter_context(self.path.open("wb" if is_new else "ab"))
                if is_new:
                    self._write(self.header)
            except OSError as error:
                raise CbocError(f"cannot write {self.path}: {error.strerror}; choose another file.") from None
            self._opened = opened.pop_all()

    def _is_new(self) -> bool:
        """Whether the file is missing or empty, or was cut short within the header that we would write."""
        if not self.path.exists():
            return True
        return not is_begun(self.path) and Chain().sealed(self.header).startswith(self.path.read_bytes())

    def _read(self) -> None:
        """Read the file, and cut off a line that a kill left unfinished."""
        found = _read(self.path)
        header = found.header
        if header["format"] not in CONTINUED:
            raise CbocError(
                f"{self.path} was written by an earlier version of cboc; it can be read, but not continued: "
                "choose another file, or start it anew."
            )
        if header | {"format": FORMAT} != self.header:
            changed = sorted(
                k for k in {*header, *self.header} if header.get(k) != self.header.get(k) and k != "format"
            )
            raise CbocError(
                f"{self.path} belongs to another study (it differs in: {', '.join(changed)}); "
                "choose another file, or start it anew."
            )
        with self.path.open("r+b") as file:
            file.truncate(found.length)
        self._trials, self._chain = found.trials, found.chain

    def trials(self, site: str) -> list[Trial]:
        return [trial for (name, _), trial in sorted(self._trials.items()) if name == site]

    def append(self, trial: Trial) -> None:
        self._write(trial.to_row())
        self._trials[trial.site, trial.number] = trial

    def _write(self, row: dict[str, Any]) -> None:
        """Write a line; a kill cannot lose it. It waits for the disk only if it has not done so for a second."""
        self._file.write(self._chain.sealed(row))
        self._file.flush()
        if monotonic() - self._synced >= LONGEST_UNSYNCED:
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = monotonic()

    def close(self) -> None:
        with self._opened:
            self._sync()


def is_begun(path: Path) -> bool:
    """Whether a journal has its first line; a kill or a power cut may leave less."""
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")


@dataclass
class _Read:
    """What has been read of a journal so far."""

    header: dict[str, Any] = field(default_factory=dict)
    trials: dict[tuple[str, int], Trial] = field(default_factory=dict)  # the latest state of each
    length: int = 0  # bytes of whole lines
    chain: Chain = field(default_factory=Chain)
    is_chained: bool = False  # whether lines have a checksum by now

    def row(self, line: bytes) -> dict[str, Any]:
        """The object in the next line; raises one of `DAMAGED` if that is not as it was written."""
        self.length += len(line)
        if is_sealed(line):
            self.is_chained = True
            if not self.chain.continues(line):
                raise ValueError("it has another checksum")
        elif self.is_chained:
            raise ValueError("it has no checksum")
        else:
            self.chain.take(line)
        row: dict[str, Any] = json.loads(line)
        if self.is_chained:
            del row["checksum"]
        return row

    def is_next(self, line: bytes) -> bool:
        """Whether a line is the next one, with its checksum."""
        return is_sealed(line) and self.chain.copy().continues(line)


def read_journal(path: str | Path) -> tuple[dict[str, Any], dict[tuple[str, int], Trial], int]:
    """The header, the latest state of every trial, and the number of bytes in complete lines."""
    found = _read(Path(path))
    return found.header, found.trials, found.length


def _read(path: Path) -> _Read:
    """Read a journal, all but a last line that was cut off."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CbocError(f"cannot read {path}: {error.strerror}.") from None
    *lines, rest = data.split(b"\n")
    found = _Read()
    shape = _read_header(found, lines[0] + b"\n" if lines else b"", path)
    for number, line in enumerate(lines[1:], start=2):
        place, advice = f"{path}, line {number} is damaged", "restore the file, or delete it from that line on."
        try:
            trial = _trial(found.row(line + b"\n"), found.header, shape)
        except DAMAGED:
            raise CbocError(f"{place}; {advice}") from None
        before = found.trials.get((trial.site, trial.number), trial)
        if not may_follow(trial.status, before.status):
            went = f"trial {trial.number} of '{trial.site}' went from {before.status} back to {trial.status}"
            raise CbocError(f"{place}: {went}; {advice}")
        found.trials[trial.site, trial.number] = trial
    if rest and found.is_next(rest[:-1] + b"\n"):  # it was not cut off: it is all there, and ends in something else
        raise CbocError(f"{path} is damaged at the end of its last line; restore the file, or delete that line.")
    for site in {site for site, _ in found.trials}:
        numbers = {number for name, number in found.trials if name == site}
        if missing := set(range(max(numbers))) - numbers:
            raise CbocError(f"{path} is damaged: trial {min(missing)} of site '{site}' is missing; restore the file.")
    return found


def _read_header(found: _Read, line: bytes, path: Path) -> Shape | None:
    """Read the first line, and return what trials look like if it says which study this is."""
    damaged = CbocError(f"{path} is damaged in its first line; restore the file, or start it anew.")
    try:
        header = json.loads(line)
        if not isinstance(header, dict) or header.get("format") not in (1, *CONTINUED):
            raise ValueError
    except (ValueError, RecursionError):
        raise CbocError(
            f"{path} is not a journal of this version of cboc (format {FORMAT}); is it another file?"
        ) from None
    try:
        found.header = found.row(line)
        if found.is_chained != (header["format"] == FORMAT):
            raise damaged
        if "study" not in header:
            return None
        goals = header.get("directions", {}).items()
        return Shape.of(
            header["study"], (), {site: goal.get("limits", ()) for site, goal in goals if isinstance(goal, dict)}
        )
    except DAMAGED:
        raise damaged from None


def _trial(row: dict[str, Any], header: dict[str, Any], shape: Shape | None) -> Trial:
    trial = Trial.from_row(trial_from_1(row) if header["format"] == 1 else row)
    if shape is not None:
        shape.check(trial)
    return trial
