"""The progress bar, on standard error: experiments done, time left, and the latest news."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Advance(Protocol):
    """To call after every experiment, or after many, with something to say or nothing."""

    def __call__(self, news: str, experiments: int = 1) -> None: ...


@contextmanager
def bar(total: int, done: int = 0) -> Iterator[Advance]:
    """A bar on a terminal, nothing elsewhere."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("experiments"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[news]}", markup=False),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total, completed=done, news="")

        def advance(news: str, experiments: int = 1) -> None:
            progress.advance(task, experiments)
            if news:
                progress.update(task, news=news)

        yield advance
