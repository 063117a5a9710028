"""What the coordinator costs: a proposal and a mix over HTTP, against the least that any such server can do.

    python benchmarks/service.py            K = 10, 100 and 1,000 sites, on SQLite and PostgreSQL
    python benchmarks/service.py --quick    K = 10 and 100, fewer rounds
    python benchmarks/service.py --pace rounds    the paper's pace; the default is the free one

The least is a bare FastAPI application that inserts one row and commits, in a database of the same kind with the same
settings: SQLite with its journal ahead and synchronous=FULL, PostgreSQL with fsync. Both are uvicorn processes on this
machine, asked in turns over one connection each that stays open: read the ratios of the medians. Times are milliseconds
of the wall clock; 'client' is the CPU time that http.client, which asks, takes of each. Flat columns mean that a site
costs the same however many there are.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy import Column, Engine, Integer, LargeBinary, MetaData, Table, create_engine, insert, update

from cboc import Study
from cboc.coordinator.database import open_database, sites
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import fingerprint, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange.wire import MIX, SUBMIT

D = 4
bare_rows = Table("rows", MetaData(), Column("row", Integer, primary_key=True), Column("x", LargeBinary))


class Message(BaseModel):
    x: list[float]


def bare() -> FastAPI:
    """One insert, one commit, and nothing else."""
    app, engine = FastAPI(), open_database(os.environ["CBOC_DATABASE"])

    @app.get("/healthz")
    def healthz() -> None:
        return None

    @app.put("/rows", status_code=204)
    def add(message: Message) -> None:
        with engine.begin() as connection:
            connection.execute(insert(bare_rows), {"x": np.array(message.x).tobytes()})

    return app


@contextmanager
def sqlite(folder: Path) -> Iterator[tuple[str, str]]:
    """The addresses of two databases."""
    yield f"sqlite:///{folder / 'ours.db'}", f"sqlite:///{folder / 'bare.db'}"


@contextmanager
def postgresql(folder: Path) -> Iterator[tuple[str, str]]:
    """Likewise, on a server of our own, which does not run as root."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
    programs = found[-1] if found else Path(shutil.which("initdb") or "initdb").parent
    user = pwd.getpwnam("postgres").pw_name if os.getuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user, user)
    port = free_port()

    def run(program: str, *options: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *options]
        subprocess.run(command, user=user, check=True, capture_output=True, cwd=folder)

    run("initdb", "-U", "cboc", "-A", "trust")
    settings = f"-h 127.0.0.1 -p {port} -k {folder}"
    run("pg_ctl", "-o", settings, "-l", str(folder / "log"), "-w", "start")
    server = f"postgresql+psycopg://cboc@127.0.0.1:{port}"
    try:
        engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            for name in ("ours", "bare"):
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
        engine.dispose()
        yield f"{server}/ours", f"{server}/bare"
    finally:
        run("pg_ctl", "-m", "fast", "-w", "stop")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(application: str, database: str) -> Iterator[HTTPConnection]:
    """A line to a server process that has come up."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "--factory",
        application,
        "--port",
        str(port),
        "--log-level",
        "critical",
    ]
    options = ["--app-dir", str(Path(__file__).parent), "--timeout-keep-alive", "600", "--no-access-log"]
    server = subprocess.Popen([*command, *options], env=os.environ | {"CBOC_DATABASE": database})
    line = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        for _ in range(600):
            try:
                ask(line, "GET", "/healthz")
                break
            except ConnectionError:
                line.close()
                time.sleep(0.1)
        yield line
    finally:
        line.close()
        server.terminate()
        server.wait()


def ask(line: HTTPConnection, method: str, path: str, token: str = "", body: bytes = b"") -> int:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    line.request(method, path, body or None, headers)
    answer = line.getresponse()
    answer.read()
    return answer.status


def found(engine: Engine, K: int, pace: str) -> dict[str, str]:
    """A study of K sites that have joined: their tokens."""
    names = [f"site-{k}" for k in range(K)]
    study = Study({f"x{d}": (0.0, 1.0) for d in range(D)}, names, horizon=1000, name=f"{K} sites", pace=pace)
    Transactions(engine).create(study)
    tokens = {name: new_secret() for name in names}
    with engine.begin() as connection:
        for name, token in tokens.items():
            is_site = (sites.c.study == study.name) & (sites.c.site == name)
            connection.execute(update(sites).where(is_site).values(token=fingerprint(token)))
    return tokens


def measure(kind: str, ours: HTTPConnection, least: HTTPConnection, tokens: dict[str, str], rounds: int) -> None:
    rng = np.random.default_rng(0)
    spent: dict[str, list[float]] = {"submit": [], "bare": [], "mix": []}

    def timed(what: str, expected: int, *given: object) -> None:
        started = time.perf_counter()
        status = ask(*given)  # type: ignore[arg-type]
        spent[what].append(time.perf_counter() - started)
        assert status == expected, f"{what} was answered {status}"

    cpu = time.process_time()
    for turn in range(rounds):
        for token in tokens.values():
            point = rng.random(D).tolist()
            body = json.dumps({"x": point}).encode()
            whole = json.dumps({"X": [point], "bests": [point]}).encode()
            timed("submit", 204, ours, "PUT", SUBMIT.at(turn=turn), token, whole)
            timed("bare", 204, least, "PUT", "/rows", token, body)
        for token in tokens.values():
            timed("mix", 200, ours, "GET", MIX.at(turn=turn), token)
    cpu = time.process_time() - cpu
    report(kind, len(tokens), rounds, spent, cpu)


def report(kind: str, K: int, rounds: int, spent: dict[str, list[float]], cpu: float) -> None:
    half = {what: 1e3 * np.percentile(times, 50) for what, times in spent.items()}
    most = {what: 1e3 * np.percentile(times, 99) for what, times in spent.items()}
    per_second = rounds / (sum(spent["submit"]) + sum(spent["mix"]))
    print(
        f"{kind:>10} {K:5} {per_second:9.3f} "
        + " ".join(f"{half[what]:7.2f} {most[what]:7.2f}" for what in ("bare", "submit", "mix"))
        + f" {half['submit'] / half['bare']:8.2f} {half['mix'] / half['bare']:8.2f}"
        + f" {1e3 * cpu / sum(map(len, spent.values())):7.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--pace", choices=("free", "rounds"), default="free")
    options = parser.parse_args()
    plan = {10: 5, 100: 1} if options.quick else {10: 30, 100: 5, 1000: 1}
    names = ("bare", "p99", "submit", "p99", "mix", "p99")
    print(
        f"{'':>10} {'K':>5} {'rounds/s':>9} "
        + " ".join(f"{name:>7}" for name in names)
        + f" {'submit/':>8} {'mix/':>8} {'client':>7}"
    )
    for database in (sqlite, postgresql):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            ours, least = stack.enter_context(database(folder))
            engine, bare_engine = open_database(ours), open_database(least)
            upgrade(engine)
            bare_rows.metadata.create_all(bare_engine)
            bare_engine.dispose()
            coordinator = stack.enter_context(serving("cboc.coordinator.app:from_environment", ours))
            insertion = stack.enter_context(serving("service:bare", least))
            for K, rounds in plan.items():
                measure(database.__name__, coordinator, insertion, found(engine, K, options.pace), rounds)
            engine.dispose()


if __name__ == "__main__":
    main()
