"""Real databases: SQLite in a file, and a PostgreSQL server of the tests' own, on a free port of this machine."""

import os
import pwd
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
import uvicorn
from sqlalchemy import create_engine

from cboc.service.app import create_app
from cboc.service.schema import upgrade
from cboc.service.sql import open_database

NEEDED = "CBOC_NEEDS_ALL_PARTS"  # set where leaving a test out counts as a failure
DATABASES = count()


def leave_out(reason):
    if os.environ.get(NEEDED):
        pytest.fail(reason)
    pytest.skip(reason)


def programs():
    """The newest PostgreSQL of this machine, where Debian puts them or on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    if initdb is None:
        leave_out("PostgreSQL is not here: apt-get install postgresql")
    return Path(initdb).parent


def somebody():
    """PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        leave_out("PostgreSQL does not run as root, and there is no user 'postgres'")


@pytest.fixture(scope="session")
def postgres():
    """The address of a server that is stopped after the tests, without the name of a database."""
    binaries, user = programs(), somebody()
    folder = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    if user is not None:
        shutil.chown(folder, user, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(*command):
        subprocess.run([str(part) for part in command], user=user, check=True, capture_output=True, cwd=folder)

    run(binaries / "initdb", "-D", folder / "data", "-U", "cboc", "-A", "trust", "--no-sync")
    settings = f"-F -h 127.0.0.1 -p {port} -k {folder}"  # without fsync: no power fails here
    run(binaries / "pg_ctl", "-D", folder / "data", "-o", settings, "-l", folder / "log", "-w", "start")
    yield f"postgresql+psycopg://cboc@127.0.0.1:{port}"
    run(binaries / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder)


@contextmanager
def fresh(server):
    """A new database on the server, for a while."""
    name = f"test_{next(DATABASES)}"
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield f"{server}/{name}"
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()


@contextmanager
def prepared(url):
    engine = open_database(url)
    upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """An empty database of its own for every test, on either kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'coordinator.db'}"
        return
    with fresh(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def engine(url):
    with prepared(url) as engine:
        yield engine


@pytest.fixture
def postgres_engine(postgres):
    with fresh(postgres) as url, prepared(url) as engine:
        yield engine


@contextmanager
def _serving(engine):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(create_app(engine), port=port, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:  # a test that fails must not leave a thread behind, for which the interpreter would wait
        server.should_exit = True
        thread.join()


@pytest.fixture
def serving():
    """`with serving(engine) as url`: the coordinator of a database, on a real socket."""
    return _serving


@pytest.fixture
def mortal():
    """`crash, address = mortal`: a PostgreSQL server as it comes, with fsync, which dies and is started again."""
    binaries, user = programs(), somebody()
    folder = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    if user is not None:
        shutil.chown(folder, user, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(program, *options):
        command = [str(part) for part in (binaries / program, "-D", folder / "data", *options)]
        subprocess.run(command, user=user, check=True, capture_output=True, cwd=folder)

    def start():
        run("pg_ctl", "-o", f"-h 127.0.0.1 -p {port} -k {folder}", "-l", folder / "log", "-w", "start")

    def stop():
        run("pg_ctl", "-m", "immediate", "-w", "stop")

    run("initdb", "-U", "cboc", "-A", "trust", "--no-sync")
    start()
    yield lambda: (stop(), start()), f"postgresql+psycopg://cboc@127.0.0.1:{port}/postgres"
    stop()
    assert "fsync" not in (folder / "data" / "postgresql.auto.conf").read_text()  # on, as it comes
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def browser():
    """Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        leave_out("Chromium is not here: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield browser
        browser.close()
