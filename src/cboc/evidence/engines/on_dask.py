"""Runs jobs on a Dask cluster: the one at an address, or a new one on this machine."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from cboc.child_processes import deaf_to_interrupts
from cboc.errors import CbocError
from cboc.evidence.engines.attempts import Call, Outcomes, sentence
from cboc.evidence.engines.through_joblib import AT_LEAST_TWO, through_joblib

CONNECT = 5  # seconds
ENCRYPTED = ("tls", "wss")


def attempt(workers: int, address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """Run on the Dask cluster at an address, or on a local one with a one-thread process for each worker."""
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        with deaf_to_interrupts():
            cluster = address or stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None would be port 8787, free or not
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            )
            try:
                if address is not None:
                    _check(address)
                client = stack.enter_context(Client(cluster, timeout=CONNECT, set_as_default=False))
            except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
                raise CbocError(
                    f"no Dask scheduler answers at {address} ({sentence(error)}); "
                    "start one with `dask scheduler`; its address looks like tcp://host:8786."
                ) from None
        try:
            client.wait_for_workers(1, timeout=2 * CONNECT)
        except TimeoutError:
            raise CbocError(
                f"the Dask scheduler at {address} has no workers; start some with `dask worker {address} --nthreads 1`."
            ) from None
        yield from through_joblib(_backend(client), calls)


def _check(address: str) -> None:
    """Check an address first, because a client with a bad one fails when it starts and again when it ends."""
    from distributed.comm import parse_address, parse_host_port
    from distributed.comm.registry import get_backend
    from distributed.security import Security

    scheme, place = parse_address(address)
    parse_host_port(place)
    get_backend(
        scheme
    ).get_connector()  # fails for an unknown scheme, or one, such as ucx, whose package is not installed
    security = Security().get_connection_args("client")
    if scheme in ENCRYPTED and security.get("ssl_context") is None:
        raise ValueError(f"{scheme} needs certificates in the settings distributed.comm.tls")
    if scheme not in ENCRYPTED and security.get("require_encryption"):
        raise ValueError("the setting distributed.comm.require-encryption asks for tls")


def _backend(client: Any) -> Any:
    """joblib's backend for Dask, changed to notice a job that Dask gives up instead of waiting forever."""
    from joblib._dask import DaskDistributedBackend

    class Dask(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(AT_LEAST_TWO, super().effective_n_jobs(n_jobs))

        def submit(self, func: Any, callback: Any = None) -> Any:
            future = super().submit(func, callback)
            future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
            return future

    return Dask(client=client)
