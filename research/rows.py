"""A file of results: one line for each job, written as it is done, so that a study goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cboc.cli.progress_bar import bar
from cboc.evidence.engines import engine

RESULTS = Path(__file__).parent / "results"
Row = dict[str, Any]
Key = tuple[Any, ...]


def kept(path: Path, fields: Sequence[str]) -> dict[Key, Row]:
    """The rows that are done, by these fields of their jobs."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return {tuple(row[name] for name in fields): row for row in rows}


def complete(path: Path, wanted: Sequence[Any], work: Callable[[Any], Row]) -> None:
    """Do the jobs, dataclasses, that are not in the file yet; a row is its job and what `work` gives."""
    fields = list(asdict(wanted[0]))
    done = kept(path, fields)
    tasks = [job for job in wanted if tuple(asdict(job).values()) not in done]
    if not tasks:
        return
    with bar(len(tasks)) as advance, path.open("a", encoding="utf-8") as file:
        for job, row in engine()(work, tasks):
            file.write(json.dumps(asdict(job) | row) + "\n")
            file.flush()
            advance(", ".join(str(value) for value in asdict(job).values() if value != ""), 1)
