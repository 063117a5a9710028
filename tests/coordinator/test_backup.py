import gzip
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import typer
from sqlalchemy import func, insert, select
from typer.testing import CliRunner

from cboc import CbocError, Study
from cboc.cli import operations
from cboc.coordinator import backup as files
from cboc.coordinator.backup import backup, restore
from cboc.coordinator.database import logins, metadata, open_database, people, proposals, studies
from cboc.coordinator.schema import changing, latest, revision_of, upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal

from ..machine.postgresql import fresh

FROZEN = Path(__file__).parent / "frozen"
SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
STUDY = Study(SPACE, ("x", "y"), 10_000, rule="leader", name="trial run", deadline=86400.1, pace="rounds")
TOKENS = {"x": 43 * "x", "y": 43 * "y"}


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request, tmp_path):
    """The address of a second, empty database, on either kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'other.db'}"
        return
    with fresh(request.getfixturevalue("postgres")) as url:
        yield url


@contextmanager
def opened(url):
    engine = open_database(url)
    yield engine
    engine.dispose()


def proposal(site, turn):
    random = np.random.default_rng([turn, ord(site)])
    X, reward, bests = [random.random(2)], float(random.normal()) / 3, [random.random(2)]
    return Proposal(site, turn, X, bests, reward)


def begin(engine, rounds=3):
    """A study in the middle of a round, an invitation that is out, and somebody who looks."""
    exchange, door = Transactions(engine), Tokens(engine)
    exchange.create(STUDY)
    for site, token in TOKENS.items():
        door.join(door.invite(STUDY.name, site), token)
    for round in range(rounds):
        for site in STUDY.sites:
            exchange.submit(STUDY.name, proposal(site, round))
    exchange.submit(STUDY.name, proposal("y", rounds))
    with changing(engine) as connection:
        connection.execute(insert(people), {"person": "Ada", "password": "$argon2id$..."})
        connection.execute(insert(logins), {"cookie": 64 * "c", "person": "Ada", "expires_at": 1.1e9 + 0.1})
    return door.invite(STUDY.name, "x")


def contents(engine):
    with engine.connect() as connection:
        return {table.name: set(connection.execute(select(table))) for table in metadata.sorted_tables}


def mixes(engine, rounds=3):
    return [Transactions(engine).mix(STUDY.name, site, turn) for turn in range(rounds) for site in STUDY.sites]


def test_a_study_moves_from_any_database_to_any_and_goes_on(url, engine, other, tmp_path):
    code, path = begin(engine), tmp_path / "monday.cboc"
    counts = backup(url, path)
    begun = {"studies": 1, "earlier": 0, "sites": 2, "invites": 3, "proposals": 7, "people": 1, "logins": 1}
    assert counts == begun | {"roles": 0, "acts": 0}
    assert restore(path, other) == counts
    with opened(other) as moved:
        assert contents(moved) == contents(engine) and mixes(moved) == mixes(engine)
        assert Tokens(moved).who(TOKENS["x"]) == (STUDY.name, "x")
        Transactions(moved).submit(STUDY.name, proposal("x", 3))
        assert Transactions(moved).standing(STUDY.name).round == 4
        assert Tokens(moved).join(code, 43 * "z") == (STUDY.name, "x")


def test_the_file_is_for_its_owner_and_the_same_database_gives_the_same_file(url, engine, tmp_path):
    begin(engine)
    first, second = tmp_path / "first", tmp_path / "second"
    before = os.umask(0)
    try:
        backup(url, first)
    finally:
        os.umask(before)
    backup(url, second)
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert first.read_bytes() == second.read_bytes()
    assert all(token.encode() not in gzip.decompress(first.read_bytes()) for token in TOKENS.values())


def test_what_comes_in_after_a_backup_has_begun_is_not_in_it(url, engine, tmp_path, monkeypatch):
    begin(engine)
    before, read = contents(engine), files._rows

    def first_a_round_closes(*given):
        Transactions(engine).submit(STUDY.name, proposal("x", 3))
        return read(*given)

    with monkeypatch.context() as patched:
        patched.setattr(files, "_rows", first_a_round_closes)
        backup(url, tmp_path / "monday.cboc")
    assert Transactions(engine).standing(STUDY.name).round == 4
    restore(tmp_path / "monday.cboc", f"sqlite:///{tmp_path / 'other.db'}")
    with opened(f"sqlite:///{tmp_path / 'other.db'}") as moved:
        assert contents(moved) == before


def test_a_backup_that_is_taken_while_proposals_come_in_is_of_one_moment(url, engine, tmp_path):
    Transactions(engine).create(STUDY)
    is_over, failures = threading.Event(), []

    def take_part(site):
        exchange, turn = Transactions(engine), 0
        try:
            while not is_over.is_set():
                exchange.submit(STUDY.name, proposal(site, turn))
                while exchange.standing(STUDY.name).round == turn and not is_over.is_set():
                    time.sleep(0.002)
                turn += 1
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=take_part, args=(site,)) for site in STUDY.sites]
    for thread in threads:
        thread.start()
    while Transactions(engine).standing(STUDY.name).round < 2:
        time.sleep(0.01)
    counts = [backup(url, tmp_path / f"{k}.cboc")["proposals"] for k in range(3)]
    is_over.set()
    for thread in threads:
        thread.join()
    assert not failures and counts == sorted(counts) and len(set(counts)) > 1
    restore(tmp_path / "2.cboc", f"sqlite:///{tmp_path / 'other.db'}")
    with opened(f"sqlite:///{tmp_path / 'other.db'}") as moved:
        with moved.connect() as connection:
            closed = connection.execute(select(studies.c.closed)).scalar_one()
            assert connection.execute(select(func.count()).select_from(proposals)).scalar_one() == counts[-1]
        assert 2 * closed <= counts[-1] < 2 * closed + 2  # all of the closed rounds, and some of the open one
        assert mixes(moved, closed) == mixes(engine, closed)


def test_a_file_that_was_cut_or_altered_is_refused_and_nothing_of_it_is_taken(url, engine, other, tmp_path):
    begin(engine)
    path, wrong = tmp_path / "whole", tmp_path / "wrong"
    backup(url, path)
    whole = path.read_bytes()
    text = gzip.decompress(whole)
    lines = text.splitlines(keepends=True)
    digit = re.search(rb"0\.\d{15}", text).end() - 1
    another = text[:digit] + (b"1" if text[digit : digit + 1] != b"1" else b"2") + text[digit + 1 :]
    spoilt = [whole[:end] for end in range(0, len(whole), len(whole) // 50)]
    spoilt += [whole[:-1], whole + b"more", b"no backup", gzip.compress(b"no backup\n")]
    spoilt += [
        gzip.compress(b"".join(lines[:-1])),
        gzip.compress(b"".join(lines[:-2] + lines[-1:])),
        gzip.compress(another),
    ]
    for content in spoilt:
        wrong.write_bytes(content)
        with pytest.raises(CbocError, match="is not a backup, or was truncated or altered after it was written"):
            restore(wrong, other)
    wrong.write_bytes(gzip.compress(text))
    restore(wrong, other)  # the same content is fine, however it was compressed


def rewritten(path, **changes):
    """The same backup with another first line, and a sum that fits."""
    first, *lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    body = json.dumps(json.loads(first) | changes).encode() + b"\n" + b"".join(lines[:-1])
    path.write_bytes(gzip.compress(body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": "cboc backup 2"}, "has the format 'cboc backup 2'; this cboc reads 'cboc backup 1'"),
        ({"cboc": "7.0", "revision": "9999"}, "was written by cboc 7.0, whose tables this one does not know"),
    ],
)
def test_a_newer_backup_is_refused(tmp_path, changes, complaint):
    url, path = f"sqlite:///{tmp_path / 'coordinator.db'}", tmp_path / "newer"
    with opened(url) as engine:
        upgrade(engine)
    backup(url, path)
    rewritten(path, **changes)
    with pytest.raises(CbocError, match=complaint):
        restore(path, f"sqlite:///{tmp_path / 'other.db'}")
    assert not (tmp_path / "other.db").exists()


def test_a_table_that_is_not_ours_is_left_alone(url, engine, other, tmp_path):
    begin(engine)
    with changing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE about (what VARCHAR(9))")
        connection.exec_driver_sql("INSERT INTO about VALUES ('a study')")
    counts = backup(url, tmp_path / "monday.cboc")
    assert set(counts) == set(metadata.tables)
    assert restore(tmp_path / "monday.cboc", other) == counts


def test_a_file_with_a_table_that_is_not_ours_is_refused(tmp_path):
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    path = tmp_path / "old.cboc"
    backup(f"sqlite:///{tmp_path / 'old.db'}", path)
    tables = json.loads(gzip.decompress(path.read_bytes()).splitlines()[0])["tables"]
    rewritten(path, tables=[*tables, ["about", ["what"], 0], ["people", ["person"], 0]])  # those came with 0002
    with pytest.raises(CbocError, match="tables that are not cboc's: about, people; back up again"):
        restore(path, f"sqlite:///{tmp_path / 'other.db'}")
    assert not (tmp_path / "other.db").exists()


def test_an_older_database_is_backed_up_as_it_is_and_restored_as_the_latest(other, tmp_path):
    facts = json.loads((FROZEN / "0001.json").read_text())
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    counts = backup(f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "old.cboc")
    assert set(counts) == {"studies", "sites", "invites", "proposals"}
    restore(tmp_path / "old.cboc", other)
    with opened(other) as moved:
        with moved.connect() as connection:
            assert revision_of(connection) == latest()
        for design in facts["designs"]:
            found = Transactions(moved, lambda: facts["now"]).mix(facts["study"], design["site"], design["round"])
            assert list(found.X[0]) == design["x"]


def test_what_is_there_is_not_overwritten(url, engine, tmp_path):
    begin(engine)
    path = tmp_path / "monday.cboc"
    path.write_text("of last week")
    with pytest.raises(CbocError, match="monday.cboc exists already"):
        backup(url, path)
    assert path.read_text() == "of last week"
    backup(url, path, is_replaced=True)
    before = contents(engine)
    with pytest.raises(CbocError, match="is in use already; restore into an empty one"):
        restore(path, url)
    assert contents(engine) == before


def test_a_database_that_a_coordinator_has_only_prepared_counts_as_empty(url, engine, tmp_path):
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    backup(f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "old.cboc")
    restore(tmp_path / "old.cboc", url)
    assert Transactions(engine).study("frozen").sites == ("lab-a", "lab-b")


def test_a_backup_that_fails_leaves_no_file(tmp_path, monkeypatch):
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    files = set(tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", _full)
    with pytest.raises(OSError, match="No space left"):
        backup(f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "old.cboc")
    assert set(tmp_path.iterdir()) == files


def _full(_):
    raise OSError(28, "No space left on device")


def test_a_mistyped_address_makes_no_database(tmp_path):
    with pytest.raises(CbocError, match="there is no database sqlite"):
        backup(f"sqlite:///{tmp_path / 'mistyped.db'}", tmp_path / "monday.cboc")
    (tmp_path / "empty.db").touch()
    with pytest.raises(CbocError, match="is empty; there is nothing to back up"):
        backup(f"sqlite:///{tmp_path / 'empty.db'}", tmp_path / "monday.cboc")
    assert not (tmp_path / "monday.cboc").exists() and not (tmp_path / "mistyped.db").exists()


@pytest.fixture
def app():
    app = typer.Typer()
    app.command()(operations.backup)
    app.command()(operations.restore)
    return app


def test_the_commands_do_it(app, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(FROZEN / "0001.sqlite", "coordinator.db")
    run = CliRunner().invoke
    saved = run(app, ["backup", "monday.cboc"])
    assert saved.exit_code == 0 and "Wrote monday.cboc: studies 1, " in saved.stderr
    restored = run(app, ["restore", "monday.cboc"], env={"CBOC_DATABASE": "sqlite:///other.db"})
    assert restored.exit_code == 0 and "proposals 7" in restored.stderr
    with opened("sqlite:///other.db") as engine:
        assert Transactions(engine).study("frozen").horizon == 6


def test_without_the_extra_they_say_so(app, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    result = CliRunner().invoke(app, ["backup", "monday.cboc"])
    assert str(result.exception) == "this needs an extra; in a clone of the repository, run: pip install '.[service]'."


def test_the_help_needs_nothing_of_the_extra():
    loaded = (
        "import sys, cboc.cli.operations; print([name for name in ('sqlalchemy', 'alembic') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
