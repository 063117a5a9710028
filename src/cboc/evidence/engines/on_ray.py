"""Runs jobs on Ray: the one at an address, the one of this process, or a new one on this machine."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cboc.child_processes import environment
from cboc.errors import CbocError
from cboc.evidence.engines.attempts import Call, Outcomes, sentence
from cboc.evidence.engines.through_joblib import AT_LEAST_TWO, through_joblib

CONNECT = 5  # seconds
POLL = 0.1  # seconds


def attempt(workers: int, address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """Run on the Ray at an address, or the one of this process, or else a new one that only this machine can reach."""
    import ray

    if address is None and ray.is_initialized():
        yield from through_joblib(_backend(), calls)
        return
    place: dict[str, Any] = {"address": address}
    if address is None:
        place = {"address": "local", "num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    constants, driver = ray._private.ray_constants, ray._private.worker
    with (
        environment({"RAY_USAGE_STATS_ENABLED": "0"}),
        # Neither has a public switch: a local Ray listens on every network interface, as if it were a cluster's head,
        # and a lost worker is announced in a long paragraph on standard output.
        _switched(constants, "ENABLE_RAY_CLUSTER", address is not None and constants.ENABLE_RAY_CLUSTER),
        _switched(driver, "_worker_logs_enabled", False),
    ):
        try:
            _knock(address)
            ray.init(**place, log_to_driver=False, logging_level=logging.CRITICAL)
        except (OSError, RuntimeError, ValueError) as error:
            where = f"answers at {address}" if address else "could be started here"
            raise CbocError(
                f"no Ray {where} ({sentence(error)}); start a cluster with `ray start --head`; its address "
                "looks like host:6379, and its token, if any, goes into RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token."
            ) from None
        try:
            yield from through_joblib(_backend(), calls)
        finally:
            ray.shutdown()


def _knock(address: str | None) -> None:
    """Fail at once if nothing listens at the address, where Ray itself would try for minutes and log."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT).close()


@contextmanager
def _switched(module: Any, name: str, value: bool) -> Iterator[None]:
    before = getattr(module, name, None)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def _backend() -> Any:
    """A joblib backend that leaves every job to Ray's own scheduler.

    Ray's backend (`ray.util.joblib`) cannot return results as they complete, and deals the jobs to its actors in turn:
    they queue up behind a long one while other actors are idle.
    """
    import ray
    from joblib.parallel import ParallelBackendBase

    run = ray.remote(lambda func: func())

    class Ray(ParallelBackendBase):  # type: ignore[misc]
        supports_retrieve_callback = True

        def effective_n_jobs(self, _n_jobs: int) -> int:
            return max(AT_LEAST_TWO, int(ray.cluster_resources().get("CPU", 0)))

        def start_call(self) -> None:
            self.callbacks: dict[Any, Callable[[Any], None]] = {}
            self.is_over = threading.Event()
            self.collector = threading.Thread(target=self.collect, daemon=True)
            self.collector.start()

        def submit(self, func: Any, callback: Any = None) -> Any:
            task = run.remote(func)
            self.callbacks[task] = callback
            return task

        def collect(self) -> None:
            while not self.is_over.is_set():
                tasks = list(self.callbacks)
                if not tasks:
                    self.is_over.wait(POLL)
                    continue
                try:
                    done, _ = ray.wait(tasks, timeout=POLL)
                except Exception:
                    done = tasks  # Ray itself is gone, which each task will report
                for task in done:
                    try:
                        outcome = ray.get(task)
                    except Exception as error:
                        outcome = error
                    self.callbacks.pop(task)(outcome)

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, Exception):
                raise out
            return out

        def terminate(self) -> None:
            self.is_over.set()
            self.collector.join()
            for task in self.callbacks:
                ray.cancel(task, force=True)

    return Ray()
