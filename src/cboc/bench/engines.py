"""Where the jobs of a benchmark run: processes of this machine, a Dask cluster, or Ray; each result as it completes.

A job runs with one BLAS thread. What it raises is raised here; a worker that dies is the engine's business: the jobs
it did not finish are run again. joblib drives both clusters, through the two backends at the end of this file.
"""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import threading
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from cboc.errors import CbocError, did_you_mean
from cboc.threads import one_thread

Job = TypeVar("Job")
Result = TypeVar("Result")

Call = bytes  # a pickled (work, job)
Outcome = bytes  # a pickled (number, result, error)
Outcomes = Generator[Outcome | Exception, None, None]  # an exception: a worker was lost

PATIENCE = 3  # attempts in a row that finish no job
CONNECT = 5  # seconds
POLL = 0.1  # seconds
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Engine(Protocol):
    """Runs `work` on every job: the results as they complete, in any order, each once."""

    def __call__(self, work: Callable[[Job], Result], jobs: Sequence[Job], /) -> Iterator[tuple[Job, Result]]: ...


def engine(name: str = "local", workers: int | None = None, address: str | None = None) -> Engine:
    """The engine of that name, with so many processes of this machine or with the cluster at an address.

    Nothing starts before the first result is asked for. `work` is a function of a module that workers can import.
    """
    if name not in ENGINES:
        raise CbocError(f"there is no engine '{name}'; {did_you_mean(name, ENGINES)}")
    if workers is not None and workers < 1:
        raise CbocError(f"an engine needs at least one worker; got {workers}.")
    if address is not None and name == "local":
        raise CbocError(f"the local engine uses this machine; for the cluster at {address} choose dask or ray.")
    if address is not None and workers is not None:
        raise CbocError(f"the cluster at {address} has its own workers; give workers or an address, not both.")
    for package in NEEDS[name]:
        try:
            importlib.import_module(package)
        except ImportError:
            message = f"the {name} engine needs the package {package}; pip install 'cboc[{name}]'."
            raise CbocError(message) from None

    def run(work: Callable[[Job], Result], jobs: Sequence[Job], /) -> Iterator[tuple[Job, Result]]:
        attempt = partial(ENGINES[name], workers or os.cpu_count() or 1, address)
        left = {number: pickle.dumps((work, job)) for number, job in enumerate(jobs)}
        in_vain = 0
        while left:
            before, failure = len(left), None
            with closing(attempt(left.copy())) as outcomes:
                for outcome in outcomes:
                    if isinstance(outcome, Exception):
                        failure = outcome
                        continue
                    number, result, error = pickle.loads(outcome)
                    if error is not None:
                        raise error
                    del left[number]
                    yield jobs[number], result
            in_vain = 0 if len(left) < before else in_vain + 1
            if in_vain == PATIENCE:
                raise CbocError(
                    f"the {name} engine lost its workers {PATIENCE} times in a row without a result "
                    f"({_sentence(failure)}); {len(left)} of {len(jobs)} jobs are left, what was finished is kept."
                ) from failure
            left = dict(reversed(left.items()))  # a job that ends its workers then keeps fewer others from theirs

    return run


def _sentence(failure: Exception | None) -> str:
    lines = str(failure).strip().splitlines() or [""]
    return f"{type(failure).__name__}: {lines[0].rstrip('.')}"


def _outcome(number: int, call: Call) -> Outcome:
    """In a worker: the result, or what was raised instead; either way something that can travel back."""
    try:
        work, job = pickle.loads(call)
        with one_thread():
            return pickle.dumps((number, work(job), None))
    except Exception as error:
        if not isinstance(error, CbocError):
            error.add_note(traceback.format_exc())
        try:
            outcome = pickle.dumps((number, None, error))
            pickle.loads(outcome)
        except Exception:
            return pickle.dumps((number, None, RuntimeError(traceback.format_exception_only(error)[0].strip())))
        return outcome


# local: a process for each core --------------------------------------------------------------------------------------


class WorkerLost(Exception):
    """A process of this machine that ended before its job did."""


def _local(workers: int, _address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """Every worker has a job, the next one as soon as it is done; a lost worker is replaced and its job left out."""
    queue = iter(calls.items())
    team: dict[Connection, BaseProcess] = {}
    lost = 0  # since the last result
    try:
        for item in islice(queue, workers):
            _hand(item, _employ(team))
        while team:
            for connection in wait(list(team)):
                assert isinstance(connection, Connection)
                outcome = _hear(connection, team)
                lost = lost + 1 if isinstance(outcome, WorkerLost) else 0
                if lost < PATIENCE * workers and (following := next(queue, None)):
                    _hand(following, connection if connection in team else _employ(team))
                elif connection in team:
                    _dismiss(connection, team)
                yield outcome
    finally:
        for connection in list(team):
            _dismiss(connection, team)


def _hand(item: tuple[int, Call], connection: Connection) -> None:
    with suppress(OSError):  # a worker that has just been lost, as the next round will hear
        connection.send(item)


def _hear(connection: Connection, team: dict[Connection, BaseProcess]) -> Outcome | Exception:
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return WorkerLost(_dismiss(connection, team))


def _employ(team: dict[Connection, BaseProcess]) -> Connection:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _environment(dict.fromkeys(THREADS, "1")), _deaf_to_interrupts():
        process.start()
    theirs.close()
    team[ours] = process
    return ours


def _dismiss(connection: Connection, team: dict[Connection, BaseProcess]) -> str:
    """Ends a worker at once, if it has not ended by itself, and says how it did."""
    process = team.pop(connection)
    connection.close()
    process.kill()
    process.join()
    code = process.exitcode or 0
    return f"a process was ended by {signal.Signals(-code).name}" if code < 0 else f"a process left with code {code}"


def _serve(connection: Connection) -> None:
    """In a new worker: leave Ctrl-C and standard output to the parent, end with it, and do one job after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            connection.send_bytes(_outcome(*connection.recv()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """For the processes that start meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Threads and processes that start meanwhile leave Ctrl-C to this one, which hears it right after."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# dask and ray: through joblib ----------------------------------------------------------------------------------------


def _dask(workers: int, address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """On the Dask cluster at an address, or on one of this machine with a one-thread process for each worker."""
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        with _deaf_to_interrupts():
            cluster = address or stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None would be port 8787, be it free or not
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            )
            try:
                client = stack.enter_context(Client(cluster, timeout=CONNECT, set_as_default=False))
            except (OSError, ValueError) as error:
                raise CbocError(
                    f"no Dask scheduler answers at {address} ({_sentence(error)}); "
                    "it is started with `dask scheduler`, and its address looks like tcp://host:8786."
                ) from None
        try:
            client.wait_for_workers(1, timeout=2 * CONNECT)
        except TimeoutError:
            raise CbocError(
                f"the Dask scheduler at {address} has no workers; start some with `dask worker {address} --nthreads 1`."
            ) from None
        yield from _through_joblib(_dask_backend(client), calls)


def _ray(workers: int, address: str | None, calls: Mapping[int, Call]) -> Outcomes:
    """On the Ray at an address, or the one of this process, or else a new one that only this machine can reach."""
    import ray

    if address is None and ray.is_initialized():
        yield from _through_joblib(_ray_backend(), calls)
        return
    place: dict[str, Any] = {"address": address}
    if address is None:
        place = {"address": "local", "num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    constants, driver = ray._private.ray_constants, ray._private.worker
    with (
        _environment({"RAY_USAGE_STATS_ENABLED": "0"}),
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
                f"no Ray {where} ({_sentence(error)}); a cluster's is started with `ray start --head`, its address "
                "looks like host:6379, and its token, if any, goes into RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token."
            ) from None
        try:
            yield from _through_joblib(_ray_backend(), calls)
        finally:
            ray.shutdown()


def _knock(address: str | None) -> None:
    """Ray itself tries for minutes, and logs, where nothing listens."""
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


def _through_joblib(backend: Any, calls: Mapping[int, Call]) -> Outcomes:
    import joblib

    try:
        parallel = joblib.Parallel(
            n_jobs=-1, backend=backend, batch_size=1, pre_dispatch="all", return_as="generator_unordered"
        )
        with _quietly_closed(parallel(joblib.delayed(_outcome)(*item) for item in calls.items())) as outcomes:
            for outcome in outcomes:  # noqa: UP028 (`yield from` would close it, not so quietly)
                yield outcome
    except Exception as failure:  # what a job raises is an outcome; this is the cluster's
        yield failure


@contextmanager
def _quietly_closed(outcomes: Generator[Outcome, None, None]) -> Iterator[Generator[Outcome, None, None]]:
    """joblib warns of the jobs that are not waited for; whoever stops knows."""
    try:
        yield outcomes
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()


AT_LEAST_TWO = 2  # workers, or joblib leaves the cluster alone and runs the jobs in this process


def _dask_backend(client: Any) -> Any:
    """joblib's backend for Dask, except that it hears of a job that Dask gives up, instead of waiting for ever."""
    from joblib._dask import DaskDistributedBackend

    class Dask(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(AT_LEAST_TWO, super().effective_n_jobs(n_jobs))

        def submit(self, func: Any, callback: Any = None) -> Any:
            future = super().submit(func, callback)
            future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
            return future

    return Dask(client=client)


def _ray_backend() -> Any:
    """A joblib backend that leaves every job to Ray's own scheduler.

    Ray's (`ray.util.joblib`) cannot return results as they complete, and deals the jobs to its actors in turn: they
    queue up behind a long one while other actors are idle.
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
                    done = tasks  # Ray itself is gone, as each of them will tell
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


ENGINES: dict[str, Callable[[int, str | None, Mapping[int, Call]], Outcomes]] = {
    "local": _local,
    "dask": _dask,
    "ray": _ray,
}
NEEDS: dict[str, tuple[str, ...]] = {"local": (), "dask": ("joblib", "distributed"), "ray": ("joblib", "ray")}
