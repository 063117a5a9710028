"""The journal of a simulation: its trials as lines of JSON, written as they happen."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

from cboc.errors import CbocError
from cboc.site.trial import Trial, may_follow
from cboc.storage.formats import trial_from_1
from cboc.storage.lock import only_writer
from cboc.storage.shape import Shape

FORMAT = 2
LONGEST_UNSYNCED = 1.0  # seconds; to wait for the disk at every line would make a simulation several times slower
DAMAGED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, CbocError)


class Journal:
    """An append-only file of trials: a header that says which study, then one line whenever a trial changes.

    A line cut short by a kill is dropped when the file is opened again. If a trial has several lines, the last counts.
    While it is open, no other process may write to it. A kill loses nothing; a power cut loses at most the experiments
    of one second, which are then run again.
    """

    def __init__(self, path: str | Path, header: dict[str, Any]) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **header}))  # as it reads back
        self._trials: dict[tuple[str, int], Trial] = {}
        self._synced = -LONGEST_UNSYNCED
        with ExitStack() as opened:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                opened.enter_context(only_writer(self.path))
                is_new = self._is_new()
                if not is_new:
                    self._read()
                self._file = opened.enter_context(self.path.open("w" if is_new else "a"))
                if is_new:
                    self._write(self.header)
            except OSError as error:
                raise CbocError(f"cannot write {self.path}: {error.strerror}; choose another file.") from None
            self._opened = opened.pop_all()

    def _is_new(self) -> bool:
        """Whether the file is missing or empty, or was cut short within the header that we would write."""
        if not self.path.exists():
            return True
        return not is_begun(self.path) and json.dumps(self.header).encode().startswith(self.path.read_bytes())

    def _read(self) -> None:
        """Read the file, and cut off a line that a kill left unfinished."""
        header, trials, length = read_journal(self.path)
        if header["format"] != FORMAT:
            raise CbocError(
                f"{self.path} was written by an earlier version of cboc; it can be read, but not continued: "
                "choose another file, or start it anew."
            )
        if header != self.header:
            changed = sorted(k for k in {*header, *self.header} if header.get(k) != self.header.get(k))
            raise CbocError(
                f"{self.path} belongs to another study (it differs in: {', '.join(changed)}); "
                "choose another file, or start it anew."
            )
        with self.path.open("r+b") as file:
            file.truncate(length)
        self._trials = trials

    def trials(self, site: str) -> list[Trial]:
        return [trial for (name, _), trial in sorted(self._trials.items()) if name == site]

    def append(self, trial: Trial) -> None:
        self._write(trial.to_row())
        self._trials[trial.site, trial.number] = trial

    def _write(self, row: dict[str, Any]) -> None:
        """Write a line; a kill cannot lose it. It waits for the disk only if it has not done so for a second."""
        self._file.write(json.dumps(row) + "\n")
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


def read_journal(path: str | Path) -> tuple[dict[str, Any], dict[tuple[str, int], Trial], int]:
    """The header, the latest state of every trial, and the number of bytes in complete lines."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CbocError(f"cannot read {path}: {error.strerror}.") from None
    whole = data[: data.rfind(b"\n") + 1]
    first, *lines = whole.split(b"\n")[:-1] or [b""]
    header = _header(first, path)
    try:
        shape = Shape.of(header["study"]) if "study" in header else None
    except DAMAGED:
        raise CbocError(f"{path} is damaged in its first line; restore the file, or start it anew.") from None
    trials: dict[tuple[str, int], Trial] = {}
    for number, line in enumerate(lines, start=2):
        place, advice = f"{path}, line {number} is damaged", "restore the file, or delete it from that line on."
        try:
            trial = _trial(line, header, shape)
        except DAMAGED:
            raise CbocError(f"{place}; {advice}") from None
        before = trials.get((trial.site, trial.number), trial)
        if not may_follow(trial.status, before.status):
            went = f"trial {trial.number} of '{trial.site}' went from {before.status} back to {trial.status}"
            raise CbocError(f"{place}: {went}; {advice}")
        trials[trial.site, trial.number] = trial
    for site in {site for site, _ in trials}:
        numbers = {number for name, number in trials if name == site}
        if missing := set(range(max(numbers))) - numbers:
            raise CbocError(f"{path} is damaged: trial {min(missing)} of site '{site}' is missing; restore the file.")
    return header, trials, len(whole)


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(line)
        if not isinstance(header, dict) or header.get("format") not in (1, FORMAT):
            raise ValueError
    except (ValueError, RecursionError):
        raise CbocError(
            f"{path} is not a journal of this version of cboc (format {FORMAT}); is it another file?"
        ) from None
    return header


def _trial(line: bytes, header: dict[str, Any], shape: Shape | None) -> Trial:
    row = json.loads(line)
    trial = Trial.from_row(trial_from_1(row) if header["format"] == 1 else row)
    if shape is not None:
        shape.check(trial)
    return trial
