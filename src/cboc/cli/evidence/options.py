"""The options that the commands of `cboc evidence` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cboc.errors import CbocError
from cboc.evidence.methods.registry import METHODS
from cboc.strategy.bayesian import SURROGATES

QUICK_SEEDS, ALL_SEEDS, MOST_SEEDS = 2, 30, 10_000

Out = Annotated[
    str,  # a Path would read an empty name as the current directory
    typer.Option(
        metavar="PATH",
        help="Directory of the results; those already there are not run again, and are in the tables.",
    ),
]
Seeds = Annotated[int, typer.Option(min=1, help="How many repetitions; seeds count from 0.")]
SomeSeeds = Annotated[
    int | None,
    typer.Option(min=1, help="How many repetitions; seeds count from 0.", show_default="30, quick 2"),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help=f"Only this one; may be repeated. {', '.join(METHODS)}", show_default="all"),
]
Surrogates = Annotated[
    list[str] | None,
    typer.Option("--surrogate", help=f"Only this one; may be repeated. {', '.join(SURROGATES)}"),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A smoke run: few rows, few methods, two seeds unless `--seeds` says more.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="How many processes.", show_default="one for each core")]
Engine = Annotated[str, typer.Option(help="Where to run: local, dask or ray.")]
Address = Annotated[
    str | None,
    typer.Option(help="Address of a running cluster, such as tcp://host:8786.", show_default="start one here"),
]


def directory_of(out: str) -> Path:
    """The directory of `--out`."""
    if not out:
        raise CbocError("--out is a directory for the results, such as runs/mine; got an empty name.")
    return Path(out)


def seeds_of(count: int) -> range:
    """The seeds of `--seeds`."""
    if count > MOST_SEEDS:
        raise CbocError(f"a benchmark has up to {MOST_SEEDS} seeds, but got {count}; give fewer.")
    return range(count)
