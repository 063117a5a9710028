import threading
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import inspect, select

from cboc import CbocError, Ledger, Study, Waiting
from cboc.consensus.rules import Fixed
from cboc.coordinator.database import metadata, open_database, proposals, studies
from cboc.coordinator.store import SqlStore
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.exchange.network import NotSubmitted, Standing

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
SITES = ("x", "y", "z")


def study(**options):
    return Study(SPACE, **({"pace": "rounds"} | {"sites": SITES, "horizon": 4, "name": "trial run"} | options))


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def propose(exchange, site, turn=0, x=(0.5, 0.5), **more):
    exchange.submit("trial run", Proposal(site, turn, [x], **more))


def is_open(exchange, site, turn):
    """Has the site to wait for its answer?"""
    try:
        exchange.mix("trial run", site, turn)
    except Waiting:
        return True
    return False


@pytest.mark.parametrize("rule", ["uniform", "leader", Fixed(np.full((3, 3), 1 / 3))])
def test_mixes_are_those_of_a_ledger_in_memory_whoever_answers(engine, rule):
    """A new coordinator for every message: nothing is kept in a process that is not in the database."""
    agreed, random = study(rule=rule), np.random.default_rng(0)
    Transactions(engine).create(agreed)
    ledger = Ledger(agreed)
    for turn in range(4):
        for k in random.permutation(3):
            reward = float(random.random()) if agreed.needs_rewards else None
            sent = Proposal(SITES[k], turn, [random.random(2)], [random.random(2)], reward)
            ledger.submit(sent)
            Transactions(engine).submit("trial run", sent)
        for site in SITES:
            assert Transactions(engine).mix("trial run", site, turn) == ledger.mix(site, turn)
    assert Transactions(engine).study("trial run").digest == agreed.digest


def test_a_message_that_is_refused_leaves_nothing_behind(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    propose(exchange, "x")
    for wrong in (
        Proposal("x", 0, [(0.1, 0.1)]),
        Proposal("x", 1, [(0.1, 0.1)]),
        Proposal("y", 0, [(0.1, 0.1, 0.1)]),
    ):
        with pytest.raises(CbocError):
            exchange.submit("trial run", wrong)
    with engine.connect() as connection:
        assert [row.site for row in connection.execute(select(proposals))] == ["x"]
    propose(exchange, "x")  # the same again is fine
    assert exchange.standing("trial run").missing == ("y", "z")


def test_a_deadline_closes_a_round_with_a_quorum_and_not_without(engine):
    clock = Clock()
    exchange = Transactions(engine, clock)
    exchange.create(study(quorum=2, deadline=60.0))
    assert exchange.standing("trial run").closes_at is None  # nobody has begun
    propose(exchange, "x")
    assert exchange.standing("trial run").closes_at == 1060.0
    clock.now += 61.0
    assert is_open(exchange, "x", 0)  # one is no quorum
    propose(exchange, "y", x=(0.7, 0.3))
    assert exchange.mix("trial run", "x", 0).weights[2] == 0.0
    assert exchange.standing("trial run") == Standing(1, SITES)  # the new round's clock has not started
    propose(exchange, "z")
    assert exchange.standing("trial run") == Standing(1, ("x", "y"), 1121.0)  # who was late is in the next round


def test_a_clock_that_was_ahead_does_not_hold_a_round_open(engine):
    clock = Clock()
    exchange = Transactions(engine, clock)
    exchange.create(study(deadline=60.0))
    clock.now += 1e6
    propose(exchange, "x")
    clock.now -= 1e6
    assert is_open(exchange, "x", 0)  # whoever asks next has it mended
    assert Transactions(engine, clock).standing("trial run").closes_at == 1060.0
    clock.now += 61.0
    assert exchange.mix("trial run", "x", 0).weights == (1.0, 0.0, 0.0)


def test_the_deadline_is_part_of_what_was_agreed(engine):
    agreed = study(deadline=60.0)
    Transactions(engine).create(agreed)
    found = Transactions(engine).study("trial run")
    assert found.deadline == 60.0 and found.digest == agreed.digest != study().digest
    with engine.connect() as connection:
        assert connection.execute(select(studies.c.agreement)).scalar_one() == agreed.canonical


def test_a_question_that_is_refused_does_not_open_a_round_again(engine):
    """Who asks closes a round that is due, whatever becomes of the question."""
    clock = Clock()
    exchange = Transactions(engine, clock)
    exchange.create(study(deadline=60.0))
    propose(exchange, "x")
    clock.now += 61.0
    with pytest.raises(NotSubmitted):
        exchange.mix("trial run", "y", 0)
    clock.now = 1000.0  # as if no time had passed
    assert exchange.standing("trial run").round == 1


def test_who_leaves_is_not_waited_for(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    propose(exchange, "x")
    propose(exchange, "y")
    exchange.leave("trial run", "z")
    assert not is_open(exchange, "x", 0)
    with pytest.raises(CbocError, match="has left"):
        propose(exchange, "z", 1)


@pytest.mark.parametrize("workers", [2, 8])
def test_a_round_closes_exactly_once_however_many_come_at_once(engine, workers):
    names = tuple(f"s{k}" for k in range(workers))
    agreed = Study(SPACE, names, 10, name="trial run", shares_best=False, pace="rounds")
    Transactions(engine).create(agreed)
    failures = []

    def take_part(k):
        exchange = Transactions(engine)
        try:
            for turn in range(10):
                propose(exchange, names[k], turn, (k / 16, turn / 16))
                while is_open(exchange, names[k], turn):
                    pass
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=take_part, args=(k,)) for k in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and Transactions(engine).standing("trial run").round == 10
    with engine.connect() as connection:
        assert len(connection.execute(select(proposals)).all()) == 10 * workers


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"name": "x" * 101}, "at most 100 characters, all of which can be printed"),
        ({"name": "a\nb"}, "all of which can be printed"),
        ({"name": ""}, "is not empty, and has no blank at either end .* change ''"),
        ({"name": "trial "}, "no blank at either end .* change 'trial '"),
        ({"sites": (" x", "y", "z")}, "no blank at either end .* change ' x'"),
        (
            {"horizon": 10**6 + 1},
            "horizon: a number of experiments is a whole number .* 1,000,000; this is 1000001",
        ),
        ({"budgets": {"y": 10**9}}, "y: a number of experiments is a whole number from 1 to 1,000,000"),
        ({"quorum": 2}, "study 'trial run' has no deadline; give one, or leave the quorum out"),
        ({"rule": lambda _: np.eye(3)}, "a coordinator knows the rules identity, uniform, metropolis, leader"),
    ],
)
def test_a_study_that_no_coordinator_can_run_is_refused(engine, wrong, complaint):
    with pytest.raises(CbocError, match=complaint):
        Transactions(engine).create(study(**wrong))


def test_mistakes_get_one_sentence(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    with pytest.raises(CbocError, match="there is already a study 'trial run' here"):
        exchange.create(replace(study(), horizon=9))
    with pytest.raises(CbocError, match="there is no study 'other' here"):
        exchange.mix("other", "x", 0)
    for url in ("lab-b.db", "postgresql+psycopg://u:secret@h:notaport/db", "mysql://u:secret@h/db", "x://secret:p@h"):
        with pytest.raises(CbocError, match="a database is sqlite:///FILE.db or postgresql.* is neither") as refusal:
            open_database(url)
        assert "secret" not in str(refusal.value)


def test_no_column_is_for_an_outcome(engine):
    columns = {table: {c["name"] for c in inspect(engine).get_columns(table)} for table in metadata.tables}
    assert columns == {
        "studies": {"study", "agreement", "version", "closed", "departures", "opened_at", "draft"},
        "earlier": {"study", "version", "agreement", "until"},
        "sites": {"study", "site", "has_left", "is_ended", "token", "accepted", "heard_at"},
        "invites": {"code", "study", "site", "expires_at", "token"},
        "proposals": {
            *("study", "site", "turn", "state", "designs", "X", "bests", "reward", "earlier", "arrived_at", "version")
        },
        "people": {"person", "password", "is_admin"},
        "roles": {"person", "study", "role"},
        "acts": {"number", "at", "person", "study", "site", "act"},
        "logins": {"cookie", "person", "expires_at"},
    }


@pytest.mark.parametrize("is_locked", [True, False])
def test_without_the_lock_a_round_stays_open_for_ever(postgres_engine, monkeypatch, is_locked):
    """Two last proposals at the same time: each looks for the other before either is committed."""
    both_are_in = threading.Barrier(2)
    add, init = SqlStore.add, SqlStore.__init__

    def slowly(store, *given):
        add(store, *given)
        with suppress(threading.BrokenBarrierError):  # with the lock the second is not let in, and the first goes on
            both_are_in.wait(timeout=1.0)

    monkeypatch.setattr(SqlStore, "add", slowly)
    if not is_locked:
        monkeypatch.setattr(SqlStore, "__init__", lambda *given, **_: init(*given, is_reading=True))
    Transactions(postgres_engine).create(Study(SPACE, ("x", "y"), 4, name="trial run", pace="rounds"))
    threads = [threading.Thread(target=propose, args=(Transactions(postgres_engine), site)) for site in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = Transactions(postgres_engine).standing("trial run")
    assert (state.round, state.missing) == ((1, ("x", "y")) if is_locked else (0, ()))
