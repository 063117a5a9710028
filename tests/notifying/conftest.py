"""A site whose file says where notifications go; a certificate for this machine."""

import pytest

import cboc
from cboc import Policy, Study
from cboc.coordinator.certificate import make

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 9, name="buffer study")
PLANTED = 0.271828182845904


@pytest.fixture
def site(tmp_path):
    """A site by stick, with an outcome that is known, and one experiment to run."""
    given = {"site": "x", "study": STUDY, "direction": "maximise", "policy": Policy(initial=4, seed=1)}
    site = cboc.join("stick:", storage=tmp_path / "x.db", **given)
    site.tell(site.ask(), cboc.Measurement(PLANTED, PLANTED / 8), cost=PLANTED * 64)
    site.ask()
    return site


@pytest.fixture
def path(tmp_path, site):  # noqa: ARG001 - joining makes it
    return tmp_path / "x.db"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """The files of a certificate for 127.0.0.1, and of its key."""
    folder = tmp_path_factory.mktemp("certificate")
    pem, key = folder / "own.pem", folder / "own.key"
    make(["127.0.0.1"], pem, key)
    return pem, key
