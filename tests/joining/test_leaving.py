"""A site leaves a study that it has joined, and comes back: through a coordinator, a folder, by stick."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial

import pytest

import cboc
from cboc import CbocError, Ledger, Policy, Study, Waiting
from cboc.consensus import is_doubly_stochastic
from cboc.coordinator.database import transaction
from cboc.coordinator.store import SqlStore
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.joining import move
from cboc.joining.departure import left_at, what_happens
from cboc.site.ending import Left
from cboc.storage.sitefile import SiteFile

from ..machine.ports import free_port

SPACE = {"a": (0.0, 1.0)}
SITES = ("x", "y", "z")
SETTINGS = {"direction": "minimise", "policy": Policy(initial=1, seed=3)}
LEAVE = "import sys, cboc; cboc.join(storage=sys.argv[1], patience=600.0).leave()"


def outcome(site, trial):
    return float(((trial.x - 0.1 * ord(site.name)) ** 2).sum())


def turns(sites, count):
    """So many experiments of every site, at the pace of the study."""
    for _ in range(count):
        for site in sites:
            if not site.to_run:
                site.propose()
        for site in sites:
            trial = site.ask()
            site.tell(trial, outcome(site, trial))


@pytest.fixture(params=["free", "rounds"])
def study(request):
    return Study(SPACE, SITES, 6, name="trial run", pace=request.param)


def joined(tmp_path, engine, study, url):
    door = partial(Tokens(engine).invite, study.name)
    return [cboc.join(url, door(name), storage=tmp_path / f"{name}.db", **SETTINGS) for name in study.sites]


def test_a_new_invitation_brings_a_site_back_where_it_was(engine, serving, tmp_path, study):
    Transactions(engine).create(study)
    with serving(engine) as url:
        x, y, z = joined(tmp_path, engine, study, url)
        turns((x, y, z), 3)
        assert x.leave() == "" and left_at(SiteFile(tmp_path / "x.db")) is not None
        turns((y, z), 1)
        with pytest.raises(Left, match="a new invitation brings it back"):
            cboc.join(storage=tmp_path / "x.db").ask()
        before = x.trials
        back = cboc.join(url, Tokens(engine).invite(study.name, "x"), storage=tmp_path / "x.db")
        assert back.trials == before and back.spent == 0 and not back.has_left
        turns((back, y, z), 2)
        assert [trial.turn.number for trial in back.trials[1:]] == [0, 1, 2, 3]
        again = cboc.join(storage=tmp_path / "x.db")
        assert not again.has_left and again.turns == 4
    replays_bit_for_bit(engine, study, (back, y, z))


def replays_bit_for_bit(engine, study, sites):
    """All answers follow from the record; in rounds who was away has its weight on the diagonal."""
    with transaction(engine, is_reading=True) as connection:
        store = SqlStore(connection, study.name, is_reading=True)
        states = [list(store.entries(state).values()) for state in range(store.closed)]
    ledger = Ledger(study)
    ledger.go_on_from(states, (), ())
    for state in range(ledger.round):
        assert is_doubly_stochastic(W := ledger.matrix(state))
        for site in set(study.sites) - {entry.proposal.site for entry in states[state]}:
            if study.pace.waits:
                assert W[study.index(site), study.index(site)] == 1.0
    for site in sites:
        for trial in site.trials[1:]:
            mix = ledger.mix(site.name, trial.turn.number)
            assert (trial.answer.weights, trial.answer.snapshot) == (mix.weights, mix.snapshot)
    assert sum(len(state) for state in states) == 4 + 5 + 5


def test_a_leave_while_nobody_answers_is_kept_and_said_when_somebody_does(engine, serving, tmp_path, study):
    Transactions(engine).create(study)
    with serving(engine) as url:
        x, _, _ = joined(tmp_path, engine, study, url)
        x.tell(x.ask(), 1.0)
    away = cboc.join(storage=tmp_path / "x.db", patience=0.2)
    assert "no coordinator answers" in away.leave()
    with pytest.raises(Left, match="have not heard that yet"):
        cboc.join(storage=tmp_path / "x.db", patience=0.2).ask()
    assert Transactions(engine).standing(study.name).missing == (SITES if study.pace.waits else ())
    with serving(engine) as url:
        with pytest.raises(Left, match="brings it back.$"):
            cboc.join(url, storage=tmp_path / "x.db").ask()  # it is at another address now
        assert has_left(engine, study) == {"x"}
        many = len(SiteFile(tmp_path / "x.db").sent())
        with pytest.raises(Left):
            cboc.join(storage=tmp_path / "x.db").ask()
        assert len(SiteFile(tmp_path / "x.db").sent()) == many  # it is said once


def has_left(engine, study):
    with transaction(engine, is_reading=True) as connection:
        return SqlStore(connection, study.name, is_reading=True).left


def test_a_kill_between_keeping_and_telling_is_made_good(engine, serving, tmp_path):
    """The message has gone to somebody who does not answer when the site is killed."""
    study = Study(SPACE, SITES, 6, name="trial run", pace="rounds")
    Transactions(engine).create(study)
    with serving(engine) as url:
        joined(tmp_path, engine, study, url)
    path, port = tmp_path / "x.db", free_port()
    SiteFile(path).remember(url=f"http://127.0.0.1:{port}")
    with socket.create_server(("127.0.0.1", port)):
        process = subprocess.Popen([sys.executable, "-c", LEAVE, str(path)], env=os.environ.copy())
        until = time.monotonic() + 60.0
        while not (sent := [each for each in SiteFile(path).sent() if each.path == "/v2/leave"]):
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left_at(SiteFile(path)) is not None and len(sent) >= 1 and has_left(engine, study) == set()
    with serving(engine) as url:
        SiteFile(path).remember(url=url)
        with pytest.raises(Left, match="brings it back.$"):
            cboc.join(storage=path).ask()
    assert has_left(engine, study) == {"x"}


def test_with_an_old_copy_the_refusal_says_that_the_site_has_left(engine, serving, tmp_path):
    study = Study(SPACE, ("x",), 6, name="trial run", pace="rounds")
    Transactions(engine).create(study)
    with serving(engine) as url:
        (x,) = joined(tmp_path, engine, study, url)
        turns((x,), 1)
        shutil.copy(tmp_path / "x.db", tmp_path / "old.db")
        x.leave()
        with pytest.raises(CbocError, match="refused: site 'x' has left study 'trial run', and takes no more turns"):
            cboc.join(storage=tmp_path / "old.db").ask()


# ------------------------------------------------------------------------------------------------ without a coordinator


def members(tmp_path, study):
    place = f"folder:{tmp_path / 'shared'}"
    return [
        cboc.join(place, site=name, storage=tmp_path / f"{name}.db", study=study, **SETTINGS) for name in study.sites
    ]


def test_in_a_folder_the_others_go_on_and_it_is_for_good(tmp_path, study):
    x, y, z = members(tmp_path, study)
    turns((x, y, z), 2)
    assert "that cannot be taken back" in what_happens(x)[-1]
    assert x.leave() == "" and x.leave() == ""
    turns((y, z), 1)
    with pytest.raises(Left, match="the others take nothing more from it, and that cannot be taken back"):
        cboc.join(storage=tmp_path / "x.db").ask()
    with pytest.raises(
        CbocError, match=r"'x' has left study 'trial run', and without a coordinator .* of another name"
    ):
        cboc.join(f"folder:{tmp_path / 'shared'}", site="x", storage=tmp_path / "x.db")
    entries = [message.content.get("act") for message in feed(tmp_path / "x.db")]
    assert entries.count("leave") == 1


def feed(path):
    from cboc.joining.sent import sent_by

    return sent_by(SiteFile(path))


def test_a_site_that_has_used_its_budget_says_so_too_if_it_leaves(tmp_path):
    """Else it would be waited for when the budget grows."""
    study = Study(SPACE, ("x", "y"), 1, name="trial run", pace="rounds")
    x, y = members(tmp_path, study)
    turns((x, y), 2)
    x.leave()
    assert feed(tmp_path / "x.db")[-1].content["act"] == "leave"


def test_a_folder_that_is_away_gets_it_later(tmp_path):
    study = Study(SPACE, ("x", "y"), 4, name="trial run", pace="rounds")
    x, y = members(tmp_path, study)
    turns((x, y), 2)
    shutil.move(tmp_path / "shared", tmp_path / "away")
    assert x.leave() != ""
    with pytest.raises(Left, match="have not heard that yet"):
        cboc.join(storage=tmp_path / "x.db").ask()
    shutil.move(tmp_path / "away", tmp_path / "shared")
    with pytest.raises(Waiting):
        y.ask()
    with pytest.raises(Left, match="cannot be taken back.$"):
        cboc.join(storage=tmp_path / "x.db").ask()
    assert y.ask().turn.answer.weights == (0.0, 1.0)


def test_who_has_left_moves_as_one_that_has_left(engine, serving, tmp_path):
    study = Study(SPACE, ("x", "y"), 4, name="trial run", pace="rounds")
    Transactions(engine).create(study)
    with serving(engine) as url:
        x, y = joined(tmp_path, engine, study, url)
        turns((x, y), 2)
    assert cboc.join(storage=tmp_path / "x.db", patience=0.2).leave()  # nobody hears it
    place = f"folder:{tmp_path / 'shared'}"
    with pytest.raises(Left):
        move(place, storage=tmp_path / "x.db", patience=0.2).ask()
    y = move(place, storage=tmp_path / "y.db", patience=0.2)
    assert y.ask().turn.answer.weights == (0.0, 1.0)
