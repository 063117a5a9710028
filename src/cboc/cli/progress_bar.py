"""Progress on standard error: experiments done, time left, and the latest news; without a terminal a line a minute.

The first estimate comes soon after the first experiments: somebody may still be there to think better of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cboc.cli.notes import notes

EVERY = 60.0  # seconds
FEW = 2.0  # of a unit, below which a smaller one is said
SOON = 10.0  # seconds after which the first estimate is given


class Advance(Protocol):
    """A function to call after one or several experiments, with or without news."""

    def __call__(self, news: str, experiments: int = 1) -> None: ...


@contextmanager
def bar(total: int, done: int = 0) -> Iterator[Advance]:
    """Show a bar on a terminal, lines elsewhere."""
    with _bar(total, done) if notes.is_terminal else _lines(total, done) as advance:
        yield advance


@contextmanager
def _bar(total: int, done: int) -> Iterator[Advance]:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("experiments"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[news]}", markup=False),
    )
    with Progress(*columns, console=notes, transient=True) as progress:
        task = progress.add_task("", total=total, completed=done, news="")

        def advance(news: str, experiments: int = 1) -> None:
            progress.advance(task, experiments)
            if news:
                progress.update(task, news=news)

        yield advance


@contextmanager
def _lines(total: int, done: int) -> Iterator[Advance]:
    started, first = time.monotonic(), done
    due = started + SOON

    def advance(news: str, experiments: int = 1) -> None:
        nonlocal done, due
        done += experiments
        now = time.monotonic()
        if now >= due and done < total:
            due = now + EVERY
            left = (now - started) / (done - first) * (total - done)
            notes.print(f"{done:,} of {total:,} experiments, about {in_words(left)} left. {news}".rstrip())

    yield advance


def in_words(seconds: float) -> str:
    """A time as people say it: '40 s', '12 min', '7 h', '3 d'."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= FEW * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
