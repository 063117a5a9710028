"""Everything that can break breaks, and the study is that of one process, bit by bit.

Sites as processes -> a bad line -> the coordinator as a process. Sites and coordinator are killed with SIGKILL when a
certain number of proposals is in, and started again. CBOC_CHAOS=long plays for longer.
"""

import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGKILL

import numpy as np
import pytest
from sqlalchemy import func, select

import cboc
from cboc import Ledger, Site, Study, Waiting
from cboc.coordinator.database import metadata, open_database, proposals, studies, transaction
from cboc.coordinator.store import SqlStore
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.storage.sitefile import SiteFile

from ..machine.ports import free_port
from .lab import SETTINGS, outcome
from .proxy import FAULTS, Proxy

IS_LONG = os.environ.get("CBOC_CHAOS") == "long"
SITES, ROUNDS, KILLS = (4, 40, 16) if IS_LONG else (3, 4, 2)  # as many kills of the coordinator, and of sites
PATIENCE = 1800.0 if IS_LONG else 120.0  # seconds, after which a study counts as stuck
STUDY = Study({"a": (0.0, 1.0)}, [f"site-{k}" for k in range(SITES)], ROUNDS, name="trial run", pace="rounds")
FREE = replace(STUDY, pace="free")
COORDINATOR = "coordinator"


@dataclass
class Mortal:
    """A process with whatever it has started, which can be killed and started again."""

    command: list[str]
    environment: dict[str, str]

    def start(self):
        self._process = subprocess.Popen(self.command, env=os.environ | self.environment, start_new_session=True)

    def kill(self):
        if self.status() is None:
            os.killpg(self._process.pid, SIGKILL)
            self._process.wait()

    def status(self):
        """None while it runs."""
        return self._process.poll()


def coordinator(url, port):
    workers = ["--workers", "2"] if url.startswith("postgresql") else []
    where = ["--host", "127.0.0.1", "--port", str(port), "--log-level", "critical"]
    program = [sys.executable, "-m", "uvicorn", "--factory", "cboc.coordinator.app:from_environment"]
    return Mortal([*program, *where, *workers], {"CBOC_DATABASE": url})


def lab(storage, url, code):
    return Mortal([sys.executable, str(Path(__file__).with_name("lab.py")), str(storage), url, code], {})


@contextmanager
def alive(everybody):
    for process in everybody:
        process.start()
    try:
        yield
    finally:
        for process in everybody:
            process.kill()


def break_things(engine, everybody, until, dice):
    """Kill somebody, a moment after the n-th proposal is in, and start it again; n and the moment are diced."""
    victims = [COORDINATOR] * KILLS + dice.choices(STUDY.sites, k=KILLS)
    dice.shuffle(victims)
    moments = sorted(dice.choices(range(SITES * ROUNDS - SITES), k=len(victims)))
    for victim, moment in zip(victims, moments, strict=True):
        _wait(lambda: _count(engine) >= moment, everybody, until)  # noqa: B023 - called at once
        time.sleep(dice.uniform(0.0, 0.3))
        everybody[victim].kill()
        time.sleep(dice.uniform(0.0, 0.3))
        everybody[victim].start()


def _wait(is_so, everybody, until):
    while not is_so():
        assert time.monotonic() < until, "it is stuck"
        assert all(process.status() in (None, 0) for process in everybody.values()), "somebody gave up"
        time.sleep(0.02)


def _count(engine):
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(proposals)).scalar_one()


@pytest.mark.parametrize("study", [STUDY, FREE], ids=["rounds", "free"])
@pytest.mark.parametrize("seed", range(2 if IS_LONG else 1))
def test_nothing_is_lost_and_nothing_counts_twice(engine, url, tmp_path, seed, study):
    Transactions(engine).create(study)
    door, port, until = Tokens(engine), free_port(), time.monotonic() + PATIENCE
    files = {site: tmp_path / f"{site}.db" for site in STUDY.sites}
    with Proxy(port, trouble=0.3, seed=seed) as proxy:
        labs = {site: lab(files[site], proxy.url, door.invite(STUDY.name, site)) for site in STUDY.sites}
        everybody = {COORDINATOR: coordinator(url, port), **labs}
        with alive(everybody.values()):
            break_things(engine, everybody, until, random.Random(seed))
            _wait(lambda: all(process.status() == 0 for process in labs.values()), everybody, until)
    assert sum(proxy.done[fault] for fault in FAULTS) >= SITES
    _is_whole(engine, study)
    if study.pace.waits:
        _is_that_of_one_process(files)
    else:
        _is_its_own_replay(engine, files)


def _is_whole(engine, study):
    """Every proposal once, and every round closed; at the free pace, every arrival with a number of its own."""
    with engine.connect() as connection:
        keys = sorted((row.state, row.turn, row.site) for row in connection.execute(select(proposals)))
        closed = connection.execute(select(studies.c.closed)).scalar_one()
    everything = sorted((round, site) for round in range(ROUNDS) for site in study.sites)
    assert sorted((turn, site) for _, turn, site in keys) == everything
    if study.pace.waits:
        assert [state for state, _, _ in keys] == [turn for _, turn, _ in keys] and closed == ROUNDS
    else:
        assert [state for state, _, _ in keys] == list(range(closed)) and closed == ROUNDS * SITES


def _is_its_own_replay(engine, files):
    """Every answer and every design follows, to the last bit, from the record of arrivals and the site's own file."""
    with transaction(engine, is_reading=True) as connection:
        store = SqlStore(connection, FREE.name, is_reading=True)
        record = [entry for state in range(store.closed) for entry in store.entries(state).values()]
    ledger = Ledger(FREE)
    for entry in record:
        ledger.submit(entry.proposal)
    for site, path in files.items():
        kept = SiteFile(path).trials()
        again = Site(FREE, site, ledger, trials=kept, **SETTINGS)
        for trial in kept[SETTINGS["policy"].initial :]:
            answer, replayed = trial.answer, ledger.mix(site, trial.turn.number)
            assert (answer.snapshot, answer.weights, answer.others) == (
                replayed.snapshot,
                replayed.weights,
                replayed.others,
            )
            assert again.proposal(trial) == ledger.store.find(site, trial.turn.number).proposal
            before = Site(FREE, site, ledger, trials=kept[: trial.number], **SETTINGS)
            before.mind.heard = trial.turn.heard
            assert before.mind.opinion(trial.number).propose() == pytest.approx(np.array(trial.proposed), abs=2**-32)
            assert cboc.Measurement(trial.y, cost=trial.cost) == outcome(site, trial.design(FREE.space))


def _is_that_of_one_process(files):
    """All trials to the last bit; and what a site sent twice was the same."""
    experiments = {site: lambda design, site=site: outcome(site, design) for site in STUDY.sites}
    expected = cboc.simulate(STUDY, experiments, **SETTINGS)
    for site, path in files.items():
        file = SiteFile(path)
        sent = {(message.path, message.body) for message in file.sent() if message.method == "PUT"}
        untimed = [replace(trial, began=None, ended=None) for trial in file.trials()]
        assert untimed == expected.of(site) and len(sent) == ROUNDS


def test_a_crash_of_the_database_loses_no_proposal_that_was_acknowledged(mortal):
    """PostgreSQL stops without a word, again and again, while four sites propose."""
    crash, address = mortal
    engine, dice = open_database(address), random.Random(0)
    metadata.create_all(engine)
    agreed = Study({"a": (0.0, 1.0)}, ("w", "x", "y", "z"), 1000, name="trial run", shares_best=False, pace="rounds")
    Transactions(engine).create(agreed)
    acknowledged, is_over, until = [], threading.Event(), time.monotonic() + PATIENCE

    def take_part(site):
        exchange, turn = Transactions(engine), 0
        while not is_over.is_set():
            sent = Proposal(site, turn, [(turn / 1000,)])
            try:
                exchange.submit("trial run", sent)
                acknowledged.append(sent)
                wait_for_a_mix(exchange, site, turn)
            except Exception:  # whatever a database says that is being killed: the site asks again
                time.sleep(0.01)
            else:
                turn += 1

    def wait_for_a_mix(exchange, site, turn):
        while not is_over.is_set():
            try:
                exchange.mix("trial run", site, turn)
            except Waiting:
                time.sleep(0.001)
            else:
                return

    threads = [threading.Thread(target=take_part, args=(site,)) for site in agreed.sites]
    for thread in threads:
        thread.start()

    def wait_for(more):
        enough = len(acknowledged) + more
        while len(acknowledged) < enough:
            assert time.monotonic() < until, "it is stuck"
            time.sleep(0.01)

    try:
        for _ in range(10 if IS_LONG else 3):
            wait_for(8)
            time.sleep(dice.uniform(0.0, 0.3))
            crash()
        wait_for(1)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    with engine.connect() as connection:
        kept = {(row.site, row.turn) for row in connection.execute(select(proposals))}
    engine.dispose()
    assert len(acknowledged) > 20 and {(sent.site, sent.turn) for sent in acknowledged} <= kept
