"""Where the jobs of a benchmark run: processes of this machine, a Dask cluster, or Ray; each result as it completes.

A job runs with one BLAS thread. An exception in a job is raised here; if a worker dies, the engine runs its unfinished
jobs again. joblib drives both clusters.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from cboc.errors import CbocError, did_you_mean, installing
from cboc.evidence.engines import local, on_dask, on_ray
from cboc.evidence.engines.attempts import PATIENCE, Attempt, Job, Result, until_done

__all__ = ["ENGINES", "PATIENCE", "Engine", "engine"]

ENGINES: dict[str, Attempt] = {"local": local.attempt, "dask": on_dask.attempt, "ray": on_ray.attempt}
NEEDS: dict[str, tuple[str, ...]] = {"local": (), "dask": ("joblib", "distributed"), "ray": ("joblib", "ray")}


class Engine(Protocol):
    """Runs `work` on every job and yields each result once, as it completes, in any order."""

    def __call__(self, work: Callable[[Job], Result], jobs: Sequence[Job], /) -> Iterator[tuple[Job, Result]]: ...


def engine(name: str = "local", workers: int | None = None, address: str | None = None) -> Engine:
    """The engine of that name, with `workers` processes of this machine or with the cluster at an address.

    Nothing starts before the first result is asked for. `work` is a function of a module that workers can import.
    """
    if name not in ENGINES:
        raise CbocError(f"there is no engine '{name}'; {did_you_mean(name, ENGINES)}")
    if workers is not None and workers < 1:
        raise CbocError(f"an engine needs at least one worker; got {workers}.")
    if address == "":
        raise CbocError("an address looks like tcp://host:8786; got an empty one.")
    if address is not None and name == "local":
        raise CbocError(f"the local engine uses this machine; for the cluster at {address} choose dask or ray.")
    if address is not None and workers is not None:
        raise CbocError(f"the cluster at {address} has its own workers; give workers or an address, not both.")
    for package in NEEDS[name]:
        try:
            importlib.import_module(package)
        except ImportError:
            message = f"the {name} engine needs the package {package}; {installing(name)}."
            raise CbocError(message) from None

    def run(work: Callable[[Job], Result], jobs: Sequence[Job], /) -> Iterator[tuple[Job, Result]]:
        attempt = partial(ENGINES[name], workers or os.cpu_count() or 1, address)
        return until_done(name, attempt, work, jobs)

    return run
