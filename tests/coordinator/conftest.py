"""Real databases: SQLite in a file, and one of a PostgreSQL server of the tests' own."""

from contextlib import contextmanager

import argon2
import pytest

from cboc.coordinator.app import create_app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade

from ..machine.postgresql import fresh
from ..machine.served import served


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


@pytest.fixture
def cheap(monkeypatch):
    """Argon2 that is quickly done; what it costs in earnest is seen where a database is stolen."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("cboc.coordinator.people.PasswordHasher", lambda: hasher)


@pytest.fixture
def serving():
    """`with serving(engine) as url`: the coordinator of a database, on a real socket."""
    return lambda engine: served(create_app(engine))
