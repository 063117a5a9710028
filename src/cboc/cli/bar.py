"""The progress bar, on standard error: experiments done, time left, and the latest news."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[str], None]


@contextmanager
def bar(total: int, done: int = 0) -> Iterator[Advance]:
    """A function to call after every experiment, with something to say or nothing."""
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

        def advance(news: str) -> None:
            progress.advance(task)
            if news:
                progress.update(task, news=news)

        yield advance
