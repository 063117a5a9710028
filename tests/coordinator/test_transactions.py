import threading
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect, select

from cboc import CbocError, Ledger, Study
from cboc.consensus.rules import Fixed
from cboc.coordinator.database import metadata, open_database, proposals
from cboc.coordinator.store import SqlStore, from_bytes, to_bytes
from cboc.coordinator.transactions import Transactions
from cboc.exchange.ledger import RoundClosed
from cboc.exchange.messages import Proposal

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
SITES = ("x", "y", "z")


def study(**options):
    return Study(SPACE, **({"sites": SITES, "horizon": 4, "name": "trial run"} | options))


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def propose(exchange, site, round=0, x=(0.5, 0.5), **more):
    exchange.submit("trial run", Proposal(site, round, x, **more))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6))
def test_a_design_comes_back_to_the_last_bit(x):
    sent = Proposal("x", 0, tuple(x)).x
    assert from_bytes(to_bytes(sent)) == sent and len(to_bytes(sent)) == 8 * len(sent)


@pytest.mark.parametrize("rule", ["uniform", "leader", Fixed(np.full((3, 3), 1 / 3))])
def test_designs_are_those_of_a_ledger_in_memory_whoever_answers(engine, rule):
    """A new coordinator for every message: nothing is kept in a process that is not in the database."""
    agreed, random = study(rule=rule), np.random.default_rng(0)
    Transactions(engine).create(agreed)
    ledger = Ledger(agreed)
    for round in range(4):
        for k in random.permutation(3):
            reward = float(random.random()) if agreed.needs_rewards else None
            sent = Proposal(SITES[k], round, tuple(random.random(2)), reward, tuple(random.random(2)))
            ledger.submit(sent)
            Transactions(engine).submit("trial run", sent)
        for site in SITES:
            assert Transactions(engine).design("trial run", site, round) == ledger.design(site, round)
    assert Transactions(engine).study("trial run").digest == agreed.digest


def test_a_message_that_is_refused_leaves_nothing_behind(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    propose(exchange, "x")
    for wrong in (Proposal("x", 0, (0.1, 0.1)), Proposal("y", 3, (0.1, 0.1)), Proposal("y", 0, (0.1, 0.1, 0.1))):
        with pytest.raises(CbocError):
            exchange.submit("trial run", wrong)
    with engine.connect() as connection:
        assert [row.site for row in connection.execute(select(proposals))] == ["x"]
    propose(exchange, "x")  # the same again is fine
    assert exchange.state("trial run").missing == ("y", "z")


def test_a_deadline_closes_a_round_with_a_quorum_and_not_without(engine):
    clock = Clock()
    exchange = Transactions(engine, clock)
    exchange.create(study(quorum=2), deadline=60.0)
    assert exchange.state("trial run").closes_at is None  # nobody has begun
    propose(exchange, "x")
    assert exchange.state("trial run").closes_at == 1060.0
    clock.now += 61.0
    assert exchange.design("trial run", "x", 0) is None  # one is no quorum
    propose(exchange, "y", x=(0.7, 0.3))
    design = exchange.design("trial run", "x", 0)
    assert design.weights[2] == 0.0 and exchange.state("trial run").round == 1
    with pytest.raises(RoundClosed) as late:
        propose(exchange, "z")
    assert late.value.current == 1
    assert exchange.state("trial run").closes_at is None  # the new round's clock has not started


def test_who_leaves_is_not_waited_for(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    propose(exchange, "x")
    propose(exchange, "y")
    exchange.leave("trial run", "z")
    assert exchange.design("trial run", "x", 0) is not None
    with pytest.raises(CbocError, match="has left"):
        propose(exchange, "z", 1)


@pytest.mark.parametrize("workers", [2, 8])
def test_a_round_closes_exactly_once_however_many_come_at_once(engine, workers):
    names = tuple(f"s{k}" for k in range(workers))
    agreed = Study(SPACE, names, 10, name="trial run", shares_best=False)
    Transactions(engine).create(agreed)
    failures = []

    def take_part(k):
        exchange = Transactions(engine)
        try:
            for round in range(10):
                propose(exchange, names[k], round, (k / 16, round / 16))
                while exchange.design("trial run", names[k], round) is None:
                    pass
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=take_part, args=(k,)) for k in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and Transactions(engine).state("trial run").round == 10
    with engine.connect() as connection:
        assert len(connection.execute(select(proposals)).all()) == 10 * workers


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"name": "x" * 101}, "up to 100 printable characters"),
        ({"name": "a\nb"}, "printable characters"),
        ({"name": ""}, "no blank at either end; '' does not fit"),
        ({"name": "trial "}, "no blank at either end; 'trial ' does not fit"),
        ({"sites": (" x", "y", "z")}, "no blank at either end; ' x' does not fit"),
        (
            {"horizon": 10**6 + 1},
            "horizon: a number of experiments is a whole number .* 1,000,000; this is 1000001",
        ),
        ({"budgets": {"y": 10**9}}, "y: a number of experiments is a whole number from 1 to 1,000,000"),
        ({"rule": lambda _: np.eye(3)}, "a coordinator knows the rules identity, uniform, leader"),
    ],
)
def test_a_study_that_no_coordinator_can_run_is_refused(engine, wrong, complaint):
    with pytest.raises(CbocError, match=complaint):
        Transactions(engine).create(study(**wrong))


def test_mistakes_get_one_sentence(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    with pytest.raises(CbocError, match="there is a study 'trial run' here already"):
        exchange.create(replace(study(), horizon=9))
    with pytest.raises(CbocError, match="there is no study 'other' here"):
        exchange.design("other", "x", 0)
    with pytest.raises(CbocError, match="a deadline is above 0 and at most 315360000 seconds; this is 0"):
        exchange.create(study(name="late"), deadline=0.0)
    for url in ("lab-b.db", "postgresql+psycopg://u:secret@h:notaport/db", "mysql://u:secret@h/db", "x://secret:p@h"):
        with pytest.raises(CbocError, match="a database is sqlite:///FILE.db or postgresql.* is neither") as refusal:
            open_database(url)
        assert "secret" not in str(refusal.value)


def test_no_column_is_for_an_outcome(engine):
    columns = {table: {c["name"] for c in inspect(engine).get_columns(table)} for table in metadata.tables}
    assert columns == {
        "studies": {"study", "agreement", "rounds_closed", "deadline", "opened_at"},
        "sites": {"study", "site", "has_left", "token"},
        "invites": {"code", "study", "site", "expires_at", "token"},
        "proposals": {"study", "round", "site", "x", "best", "reward"},
        "people": {"person", "password"},
        "logins": {"cookie", "person", "expires_at"},
    }


@pytest.mark.parametrize("is_locked", [True, False])
def test_without_the_lock_a_round_stays_open_for_ever(postgres_engine, monkeypatch, is_locked):
    """Two last proposals at the same time: each looks for the other before either is committed."""
    both_are_in = threading.Barrier(2)
    add, init = SqlStore.add, SqlStore.__init__

    def slowly(store, proposal):
        add(store, proposal)
        with suppress(threading.BrokenBarrierError):  # with the lock the second is not let in, and the first goes on
            both_are_in.wait(timeout=1.0)

    monkeypatch.setattr(SqlStore, "add", slowly)
    if not is_locked:
        monkeypatch.setattr(SqlStore, "__init__", lambda *given, **_: init(*given, is_reading=True))
    Transactions(postgres_engine).create(Study(SPACE, ("x", "y"), 4, name="trial run"))
    threads = [threading.Thread(target=propose, args=(Transactions(postgres_engine), site)) for site in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = Transactions(postgres_engine).state("trial run")
    assert (state.round, state.missing) == ((1, ("x", "y")) if is_locked else (0, ()))
