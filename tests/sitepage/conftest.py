"""A coordinator and pages of its sites, each on a real socket of this machine."""

import time
from contextlib import ExitStack

import pytest

import cboc
from cboc import Choice, Float, Int, Policy, Space, Study
from cboc.coordinator.app import create_app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import WEEK, Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.invitation import Invitation
from cboc.sitepage.app import create_page

from ..machine import plain
from ..machine.served import served

SECRET = "a-secret-of-the-tests"
SPACE = Space(
    {
        "temperature": Float(20, 90, unit="°C"),
        "time": Float(0.5, 50, log=True, unit="h"),
        "cycles": Int(1, 12),
        "solvent": Choice(["water", "ethanol", "dmso"]),
    }
)
SITES = ("lab-a", "lab-b")


class Laboratories:
    """A coordinator with one study, whose sites have joined, each with a file."""

    def __init__(self, folder, study, initial=2):
        self.folder, self.study, self.secret = folder, study, SECRET
        self.engine = open_database(f"sqlite:///{folder / 'coordinator.db'}")
        upgrade(self.engine)
        Transactions(self.engine).create(study)
        self.running = ExitStack()
        self.coordinator = ExitStack()
        url = self.coordinator.enter_context(served(create_app(self.engine)))
        settings = {"direction": "maximise", "policy": Policy(initial=initial, seed=5)}
        for site in study.sites:
            cboc.join(url, Tokens(self.engine).invite(study.name, site), storage=self.file(site), **settings)

    def file(self, site):
        return self.folder / f"{self.study.index(site)}.db"

    def site(self, site, **options):
        return cboc.join(storage=self.file(site), **options)

    def page(self, site, **options):
        """The address of a site's page, without the secret."""
        return self.running.enter_context(served(create_page(self.file(site), secret=SECRET, **options)))

    def stop_coordinator(self):
        self.coordinator.close()

    def close(self):
        self.running.close()
        self.coordinator.close()
        self.engine.dispose()


@pytest.fixture
def laboratories(tmp_path):
    """`laboratories()`: two sites, one study of three rounds, or another one."""
    started = []

    def start(study=None, **settings):
        study = study or Study(SPACE, SITES, 3, name="a study", pace="rounds")
        started.append(Laboratories(tmp_path, study, **settings))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory):
    """The same for all tests of a file."""
    labs = Laboratories(tmp_path_factory.mktemp("labs"), Study(SPACE, SITES, 3, name="a study", pace="rounds"))
    yield labs
    labs.close()


class Door:
    """A coordinator that nobody has joined, and the page of lab-b, which has no file."""

    def __init__(self, folder, url, page, engine):
        self.folder, self.url, self.page, self.engine = folder, url, page, engine
        self.storage = folder / "site.db"

    def file(self, name="lab-b", lifetime=WEEK):
        path = self.folder / f"{name}-{time.monotonic_ns()}.cboc"
        code = Tokens(self.engine).invite("a study", name, lifetime)
        Invitation("a study", name, self.url, code, None, time.time() + lifetime).write(path)
        return path

    def absent(self):
        return Tokens(self.engine).absent("a study")


@pytest.fixture
def door(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    Transactions(engine).create(Study(SPACE, ("lab-a", "lab-b"), 3, name="a study"))
    with served(create_app(engine)) as url, served(create_page(tmp_path / "site.db", secret=SECRET)) as page:
        yield Door(tmp_path, url, page, engine)
    engine.dispose()


@pytest.fixture
def client(door):
    with plain.Client(base_url=door.page, headers={"Origin": door.page}, follow_redirects=True) as client:
        assert "Choose the invitation file" in client.get("/", params={"secret": SECRET}).text
        yield client
