import pytest

from .small_tables import make


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A directory with small tables in the formats of the public ones."""
    folder = tmp_path_factory.mktemp("tables")
    make(folder)
    return folder
