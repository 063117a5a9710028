"""The facts of a ledger in a database: what every store promises, and what only a database can break."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc import CbocError, Study
from cboc.coordinator.database import transaction
from cboc.coordinator.store import SqlStore, from_bytes, to_bytes
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.exchange.store import Entry

from ..exchange.test_store import SITES, StoreContract, entry

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


@pytest.fixture
def names(engine):
    """Two studies with sites of the same names: what belongs to one is not in the other."""
    for name in ("trial run", "other"):
        Transactions(engine).create(Study(SPACE, SITES, 4, name=name))
    return ("trial run", "other")


class TestSqlStore(StoreContract):
    @pytest.fixture
    def connection(self, engine, names):
        with transaction(engine) as connection:
            for site in SITES:  # which nobody may see but who asks for them
                SqlStore(connection, names[1]).add(entry(site, 5, 4))
            yield connection

    @pytest.fixture
    def store(self, connection, names):
        return SqlStore(connection, names[0])

    @pytest.fixture
    def reread(self, connection, names):
        return lambda: SqlStore(connection, names[0], is_reading=True)


def test_what_was_committed_is_there_for_the_next_one_and_what_was_not_is_not(engine, names):
    with transaction(engine) as connection:
        store = SqlStore(connection, names[0])
        store.add(entry("x"), opened_at=1000.5)
        store.leave("z")
    with transaction(engine) as connection:
        store = SqlStore(connection, names[0])
        store.add(entry("y"))
        store.close()
        store.leave("y")
        connection.rollback()
    with transaction(engine, is_reading=True) as connection:
        store = SqlStore(connection, names[0], is_reading=True)
        assert (store.closed, store.opened_at, store.left) == (0, 1000.5, {"z"})
        assert dict(store.entries(0)) == {"x": entry("x")} and store.latest("y") is None


def test_a_study_that_is_not_there_is_said_so(engine):
    with pytest.raises(CbocError, match="there is no study 'nowhere' here"), transaction(engine) as connection:
        SqlStore(connection, "nowhere")


DESIGN = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.lists(DESIGN, min_size=1, max_size=4), st.lists(DESIGN, max_size=3))
def test_designs_come_back_to_the_last_bit(X, bests):
    sent = Proposal("x", 0, X, bests)
    assert from_bytes(to_bytes(sent.X), 3) == sent.X and len(to_bytes(sent.X)) == 8 * 3 * len(X)
    assert from_bytes(to_bytes(sent.bests), 3) == sent.bests


def test_one_turn_of_a_site_has_one_proposal_whatever_a_ledger_thinks(engine, names):
    with transaction(engine) as connection:
        SqlStore(connection, names[0]).add(entry("x"))
    with pytest.raises(Exception, match="(?i)unique"), transaction(engine) as connection:
        SqlStore(connection, names[0]).add(Entry(1, entry("x").proposal))
