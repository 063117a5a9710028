"""PostgreSQL servers of the tests' own, on free ports of this machine, gone after the tests."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from .needed import leave_out
from .ports import free_port

DATABASES = count()


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


class Server:
    """A server with a folder of its own, which can be stopped as by a crash and started again."""

    def __init__(self, *settings):
        self._programs, self._user = programs(), somebody()
        self.folder = Path(tempfile.mkdtemp())  # where its user may go; the folders of the tests belong to ours
        if self._user is not None:
            shutil.chown(self.folder, self._user, self._user)
        port = free_port()
        self.address = f"postgresql+psycopg://cboc@127.0.0.1:{port}"  # without the name of a database
        self._settings = " ".join([*settings, f"-h 127.0.0.1 -p {port} -k {self.folder}"])
        self._run("initdb", "-U", "cboc", "-A", "trust", "--no-sync")

    def _run(self, program, *options):
        command = [str(part) for part in (self._programs / program, "-D", self.folder / "data", *options)]
        subprocess.run(command, user=self._user, check=True, capture_output=True, cwd=self.folder)

    def start(self):
        self._run("pg_ctl", "-o", self._settings, "-l", self.folder / "log", "-w", "start")

    def stop(self):
        self._run("pg_ctl", "-m", "immediate", "-w", "stop")

    def stand_by(self):
        """Start without taking connections yet, as a server that recovers from a crash."""
        (self.folder / "data" / "standby.signal").touch()
        self._settings += " -c hot_standby=off"
        self.start()

    def take_over(self):
        self._run("pg_ctl", "-w", "promote")

    def crash(self):
        self.stop()
        self.start()


@contextmanager
def running(*settings):
    server = Server(*settings)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.folder)


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


@pytest.fixture(scope="session")
def postgres():
    """The address of a server, without the name of a database."""
    with running("-F") as server:  # without fsync: no power fails here
        yield server.address


@pytest.fixture
def mortal():
    """`crash, address = mortal`: a PostgreSQL server as it comes, with fsync, which dies and is started again."""
    with running() as server:
        yield server.crash, f"{server.address}/postgres"
        assert "fsync" not in (server.folder / "data" / "postgresql.auto.conf").read_text()  # on, as it comes
