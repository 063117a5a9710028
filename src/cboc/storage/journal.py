"""The journal of a simulation: its trials as lines of JSON, written as they happen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cboc.errors import CbocError
from cboc.site.trial import Trial
from cboc.storage.formats import trial_from_1

FORMAT = 2


class Journal:
    """An append-only file of trials: a header that says which study, then one line whenever a trial changes.

    A line cut short by a kill is dropped when the file is opened again. If a trial has several lines, the last counts.
    """

    def __init__(self, path: str | Path, header: dict[str, Any]) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **header}))  # as it reads back
        self._trials: dict[tuple[str, int], Trial] = {}
        if self.path.exists() and self.path.stat().st_size > 0:
            self._read()
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.header) + "\n")
        self._file = self.path.open("a")

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
        self._trials[trial.site, trial.number] = trial
        self._file.write(json.dumps(trial.to_row()) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_journal(path: str | Path) -> tuple[dict[str, Any], dict[tuple[str, int], Trial], int]:
    """The header, the latest state of every trial, and the number of bytes in complete lines."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CbocError(f"cannot read {path}: {error.strerror}.") from None
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", errors="replace").splitlines()
    try:
        header = json.loads(lines[0])
        if not isinstance(header, dict) or header.get("format") not in (1, FORMAT):
            raise ValueError
    except (IndexError, ValueError):
        raise CbocError(
            f"{path} is not a journal of this version of cboc (format {FORMAT}); is it another file?"
        ) from None
    translate = trial_from_1 if header["format"] == 1 else dict
    trials: dict[tuple[str, int], Trial] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            trial = Trial.from_row(translate(json.loads(line)))
        except (ValueError, TypeError, KeyError, OverflowError):
            raise CbocError(
                f"{path}, line {number} is damaged; restore the file, or delete it from that line on."
            ) from None
        trials[trial.site, trial.number] = trial
    for site in {site for site, _ in trials}:
        numbers = {number for name, number in trials if name == site}
        if missing := set(range(max(numbers))) - numbers:
            raise CbocError(f"{path} is damaged: trial {min(missing)} of site '{site}' is missing; restore the file.")
    return header, trials, len(whole)
