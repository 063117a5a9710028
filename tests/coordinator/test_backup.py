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
from cboc.coordinator.seal import NAME, PIECE, SALT, TAG, TITLE, Key, Sealing, unsealed
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal

from ..machine.postgresql import fresh

FROZEN = Path(__file__).parent / "frozen"
OLD = Path(__file__).parents[1] / "frozen" / "format2" / "backup.cboc"  # of before there were seals
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


@pytest.fixture
def key(tmp_path):
    """The file of a new key."""
    return Key.make(tmp_path / "backup.key").path


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


def test_a_study_moves_from_any_database_to_any_and_goes_on(url, engine, other, tmp_path, key):
    code, path = begin(engine), tmp_path / "monday.cboc"
    counts = backup(url, path, key)
    begun = {"studies": 1, "earlier": 0, "sites": 2, "invites": 3, "proposals": 7, "people": 1, "logins": 1}
    assert counts == begun | {"roles": 0, "acts": 0}
    assert restore(path, other, key) == counts
    with opened(other) as moved:
        assert contents(moved) == contents(engine) and mixes(moved) == mixes(engine)
        assert Tokens(moved).who(TOKENS["x"]) == (STUDY.name, "x")
        Transactions(moved).submit(STUDY.name, proposal("x", 3))
        assert Transactions(moved).standing(STUDY.name).round == 4
        assert Tokens(moved).join(code, 43 * "z") == (STUDY.name, "x")


def packed(path, key):
    """The compressed lines under the seal."""
    with path.open("rb") as file:
        return unsealed(file, Key.read(key), path).read()


def seal(path, content, key):
    with path.open("wb") as file:
        sealing = Sealing(file, Key.read(key))
        sealing.write(content)
        sealing.finish()
    return path


def test_the_file_is_for_its_owner_and_says_nothing_without_its_key(url, engine, tmp_path, key):
    begin(engine)
    first, second = tmp_path / "first", tmp_path / "second"
    before = os.umask(0)
    try:
        backup(url, first, key)
        Key.make(tmp_path / "another.key")
    finally:
        os.umask(before)
    backup(url, second, key)
    for path in (first, tmp_path / "another.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert packed(first, key) == packed(second, key)  # the same database gives the same lines
    one, other = (path.read_bytes()[len(TITLE) + NAME :] for path in (first, second))
    assert not any(one[k : k + 8] in other for k in range(0, len(one) - 8, 8))  # and nothing else that is the same
    assert all(token.encode() not in gzip.decompress(packed(first, key)) for token in TOKENS.values())


def test_what_comes_in_after_a_backup_has_begun_is_not_in_it(url, engine, tmp_path, monkeypatch, key):
    begin(engine)
    before, read = contents(engine), files._rows

    def first_a_round_closes(*given):
        Transactions(engine).submit(STUDY.name, proposal("x", 3))
        return read(*given)

    with monkeypatch.context() as patched:
        patched.setattr(files, "_rows", first_a_round_closes)
        backup(url, tmp_path / "monday.cboc", key)
    assert Transactions(engine).standing(STUDY.name).round == 4
    restore(tmp_path / "monday.cboc", f"sqlite:///{tmp_path / 'other.db'}", key)
    with opened(f"sqlite:///{tmp_path / 'other.db'}") as moved:
        assert contents(moved) == before


def test_a_backup_that_is_taken_while_proposals_come_in_is_of_one_moment(url, engine, tmp_path, key):
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
    counts = [backup(url, tmp_path / f"{k}.cboc", key)["proposals"] for k in range(3)]
    is_over.set()
    for thread in threads:
        thread.join()
    assert not failures and counts == sorted(counts) and len(set(counts)) > 1
    restore(tmp_path / "2.cboc", f"sqlite:///{tmp_path / 'other.db'}", key)
    with opened(f"sqlite:///{tmp_path / 'other.db'}") as moved:
        with moved.connect() as connection:
            closed = connection.execute(select(studies.c.closed)).scalar_one()
            assert connection.execute(select(func.count()).select_from(proposals)).scalar_one() == counts[-1]
        assert 2 * closed <= counts[-1] < 2 * closed + 2  # all of the closed rounds, and some of the open one
        assert mixes(moved, closed) == mixes(engine, closed)


CHANGED = r"^[^ ]*wrong was changed or cut off after it was sealed; use another copy\.$"
NO_BACKUP = r"^[^ ]*wrong is not a backup, or was truncated or altered after it was written; use another copy\.$"


def test_a_sealed_file_that_was_cut_or_changed_is_refused_and_nothing_of_it_is_taken(url, engine, other, tmp_path, key):
    begin(engine)
    path, wrong = tmp_path / "whole", tmp_path / "wrong"
    backup(url, path, key)
    whole, head = path.read_bytes(), len(TITLE) + NAME + SALT
    spoilt = [whole[:end] for end in range(len(TITLE), len(whole), len(whole) // 50)] + [whole[:-1], whole + b"more"]
    for content in spoilt:
        wrong.write_bytes(content)
        with pytest.raises(CbocError, match=CHANGED):
            restore(wrong, other, key)
    for place in (*range(0, head, 3), *range(head, len(whole), len(whole) // 50), len(whole) - 1):
        wrong.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        named = len(TITLE) <= place < len(TITLE) + NAME
        sentence = NO_BACKUP if place < len(TITLE) else "is sealed with the key" if named else CHANGED
        with pytest.raises(CbocError, match=sentence):
            restore(wrong, other, key)
    restore(path, other, key)


def test_a_backup_that_was_sealed_anew_or_is_of_another_coordinator_is_refused(url, engine, other, tmp_path, key):
    begin(engine)
    path, own = tmp_path / "monday", Key.read(key).name
    strange = Key.make(tmp_path / "strange.key")
    content = packed(path, key) if backup(url, path, key) else b""
    sentence = (
        "is sealed with the key {}, and [^ ]*{} is {}: it is of another coordinator, or somebody has sealed it anew"
    )
    with pytest.raises(CbocError, match=sentence.format(own.hex(), "strange.key", strange.name.hex())):
        restore(path, other, strange.path)
    resealed = seal(tmp_path / "resealed", content, strange.path)
    with pytest.raises(CbocError, match=sentence.format(strange.name.hex(), "backup.key", own.hex())):
        restore(resealed, other, key)
    resealed.write_bytes(TITLE + own + resealed.read_bytes()[len(TITLE) + NAME :])  # under the name of ours
    with pytest.raises(CbocError, match="was changed or cut off after it was sealed"):
        restore(resealed, other, key)


def test_pieces_of_a_large_backup_stay_in_their_order_and_in_their_file(tmp_path, key):
    content = os.urandom(3 * PIECE + 17)
    for size in (0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, len(content)):
        assert packed(seal(tmp_path / "some", content[:size], key), key) == content[:size]
    whole, another = (seal(tmp_path / name, content, key).read_bytes() for name in ("one", "two"))
    begin, size, wrong = len(TITLE) + NAME + SALT, PIECE + TAG, tmp_path / "wrong"
    a, b, c, d = (whole[begin + k * size :][:size] for k in range(4))
    for pieces in ([b, a, c, d], [a, b, d], [a, b, c], [a, a, b, c, d], [a, b, c, d, d], [d], [], [another[begin:]]):
        wrong.write_bytes(whole[:begin] + b"".join(pieces))
        with pytest.raises(CbocError, match=CHANGED):
            packed(wrong, key)


def test_a_backup_without_a_seal_is_taken_only_if_that_is_said(other, tmp_path, key):
    with pytest.raises(CbocError, match="backup.cboc has no seal, so anybody may have changed it; .* with --unsealed"):
        restore(OLD, other, key)
    assert restore(OLD, other, None)["proposals"] > 0
    with opened(other) as engine:
        assert Transactions(engine).study("format 2").sites == ("lab-a", "lab-b")
    sealed = seal(tmp_path / "sealed", OLD.read_bytes(), key)
    with pytest.raises(CbocError, match="is sealed; give its key, and leave out --unsealed"):
        restore(sealed, other, None)


def test_an_unsealed_file_that_was_cut_or_altered_is_refused_and_nothing_of_it_is_taken(other, tmp_path):
    wrong, whole = tmp_path / "wrong", OLD.read_bytes()
    text = gzip.decompress(whole)
    lines = text.splitlines(keepends=True)
    digit = re.search(rb"\d{10}\.\d{3}", text).end() - 1
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
        with pytest.raises(CbocError, match=NO_BACKUP):
            restore(wrong, other, None)
    wrong.write_bytes(gzip.compress(text))
    restore(wrong, other, None)  # the same content is fine, however it was compressed


def rewritten(path, key, **changes):
    """The same backup with another first line, a sum that fits, and our seal."""
    first, *lines = gzip.decompress(packed(path, key)).splitlines(keepends=True)
    body = json.dumps(json.loads(first) | changes).encode() + b"\n" + b"".join(lines[:-1])
    summed = body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
    seal(path, gzip.compress(summed), key)


@pytest.mark.parametrize(
    "lines",
    [
        ["[]"],
        ['{"format": "cboc backup 1"}'],
        ['{"format": "cboc backup 1", "revision": "0001", "cboc": "1", "tables": 5}'],
        ['{"format": "cboc backup 1", "revision": "0001", "cboc": "1", "tables": [["studies", ["study"], 1]]}', "[{}]"],
        ['{"format": "cboc backup 1", "revision": "0001", "cboc": "1", "tables": [["studies", ["what"], 1]]}', "[1]"],
        [
            '{"format": "cboc backup 1", "revision": "0001", "cboc": "1", "tables": [["studies", ["study"], 1]]}',
            "[1, 2]",
        ],
        [
            '{"format": "cboc backup 1", "revision": "0001", "cboc": "1", "tables": [["studies", ["study"], 1]]}',
            "[null]",
        ],
        ['{"format": "cboc backup 1", "revision": "0001", "cboc": "1", "tables": [["studies", ["study"], 1]]}', "{"],
    ],
)
def test_what_no_backup_holds_is_one_sentence_and_restores_nothing(other, tmp_path, lines):
    body = "".join(f"{line}\n" for line in lines).encode()
    summed = body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
    (tmp_path / "wrong").write_bytes(gzip.compress(summed))
    with pytest.raises(CbocError, match="wrong holds something that no backup holds; nothing was restored"):
        restore(tmp_path / "wrong", other, None)
    assert restore(OLD, other, None)["studies"] == 1  # it is empty still


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": "cboc backup 2"}, "has the format 'cboc backup 2'; this cboc reads 'cboc backup 1'"),
        ({"cboc": "7.0", "revision": "9999"}, "was written by cboc 7.0, whose tables this one does not know"),
    ],
)
def test_a_newer_backup_is_refused(tmp_path, changes, complaint, key):
    url, path = f"sqlite:///{tmp_path / 'coordinator.db'}", tmp_path / "newer"
    with opened(url) as engine:
        upgrade(engine)
    backup(url, path, key)
    rewritten(path, key, **changes)
    with pytest.raises(CbocError, match=complaint):
        restore(path, f"sqlite:///{tmp_path / 'other.db'}", key)
    assert not (tmp_path / "other.db").exists()


def test_a_table_that_is_not_ours_is_left_alone(url, engine, other, tmp_path, key):
    begin(engine)
    with changing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE about (what VARCHAR(9))")
        connection.exec_driver_sql("INSERT INTO about VALUES ('a study')")
    counts = backup(url, tmp_path / "monday.cboc", key)
    assert set(counts) == set(metadata.tables)
    assert restore(tmp_path / "monday.cboc", other, key) == counts


def test_a_file_with_a_table_that_is_not_ours_is_refused(tmp_path, key):
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    path = tmp_path / "old.cboc"
    backup(f"sqlite:///{tmp_path / 'old.db'}", path, key)
    tables = json.loads(gzip.decompress(packed(path, key)).splitlines()[0])["tables"]
    rewritten(path, key, tables=[*tables, ["about", ["what"], 0], ["people", ["person"], 0]])  # those came with 0002
    with pytest.raises(CbocError, match="tables that are not cboc's: about, people; back up again"):
        restore(path, f"sqlite:///{tmp_path / 'other.db'}", key)
    assert not (tmp_path / "other.db").exists()


def test_an_older_database_is_backed_up_as_it_is_and_restored_as_the_latest(other, tmp_path, key):
    facts = json.loads((FROZEN / "0001.json").read_text())
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    counts = backup(f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "old.cboc", key)
    assert set(counts) == {"studies", "sites", "invites", "proposals"}
    restore(tmp_path / "old.cboc", other, key)
    with opened(other) as moved:
        with moved.connect() as connection:
            assert revision_of(connection) == latest()
        for design in facts["designs"]:
            found = Transactions(moved, lambda: facts["now"]).mix(facts["study"], design["site"], design["round"])
            assert list(found.X[0]) == design["x"]


def test_what_is_there_is_not_overwritten(url, engine, tmp_path, key):
    begin(engine)
    path = tmp_path / "monday.cboc"
    path.write_text("of last week")
    with pytest.raises(CbocError, match="monday.cboc exists already"):
        backup(url, path, key)
    assert path.read_text() == "of last week"
    backup(url, path, key, is_replaced=True)
    before = contents(engine)
    with pytest.raises(CbocError, match="is in use already; restore into an empty one"):
        restore(path, url, key)
    assert contents(engine) == before


def test_a_database_that_a_coordinator_has_only_prepared_counts_as_empty(url, engine, tmp_path, key):
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    backup(f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "old.cboc", key)
    restore(tmp_path / "old.cboc", url, key)
    assert Transactions(engine).study("frozen").sites == ("lab-a", "lab-b")


def test_a_backup_that_fails_leaves_no_file(tmp_path, monkeypatch, key):
    shutil.copy(FROZEN / "0001.sqlite", tmp_path / "old.db")
    files = set(tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", _full)
    with pytest.raises(OSError, match="No space left"):
        backup(f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "old.cboc", key)
    assert set(tmp_path.iterdir()) == files


def _full(_):
    raise OSError(28, "No space left on device")


def test_a_mistyped_address_makes_no_database(tmp_path, key):
    with pytest.raises(CbocError, match="there is no database sqlite"):
        backup(f"sqlite:///{tmp_path / 'mistyped.db'}", tmp_path / "monday.cboc", key)
    (tmp_path / "empty.db").touch()
    with pytest.raises(CbocError, match="is empty; there is nothing to back up"):
        backup(f"sqlite:///{tmp_path / 'empty.db'}", tmp_path / "monday.cboc", key)
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
    assert saved.exit_code == 0 and "Wrote monday.cboc, sealed with backup.key: studies 1, " in saved.stderr
    assert "Keep a copy of it apart from the backups" in saved.stderr
    assert stat.S_IMODE(os.stat("backup.key").st_mode) == 0o600
    again = run(app, ["backup", "tuesday.cboc"])  # with the same key, of which nothing more has to be said
    assert again.exit_code == 0 and "apart" not in again.stderr and "Others can read" not in again.stderr
    for path, database in (("monday.cboc", "other.db"), ("tuesday.cboc", "third.db")):
        restored = run(app, ["restore", path], env={"CBOC_DATABASE": f"sqlite:///{database}"})
        assert restored.exit_code == 0 and "proposals 7" in restored.stderr
        with opened(f"sqlite:///{database}") as engine:
            assert Transactions(engine).study("frozen").horizon == 6
    restored = run(app, ["restore", str(OLD), "--unsealed", "--database", "sqlite:///old.db"])
    assert restored.exit_code == 0 and "had no seal: whether somebody has changed it is not known" in restored.stderr


def test_a_key_that_is_named_has_to_be_there(app, tmp_path, monkeypatch):
    """It would be made where nobody looks for it, as in a container that is thrown away."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(FROZEN / "0001.sqlite", "coordinator.db")
    run = CliRunner().invoke
    for given in ({"args": ["--key", "nosuch.key"]}, {"args": [], "env": {"CBOC_BACKUP_KEY": "nosuch.key"}}):
        refused = run(app, ["backup", "monday.cboc", *given["args"]], env=given.get("env"))
        assert "nosuch.key cannot be read: No such file or directory; name the one" in str(refused.exception)
    Path("short.key").write_text("00" * 31)
    refused = run(app, ["backup", "monday.cboc", "--key", "short.key"])
    assert str(refused.exception).startswith("short.key is not a key of backups, which has 64 hexadecimal digits")
    assert not Path("monday.cboc").exists() and not Path("backup.key").exists()
    Path("own.key").write_text("0a" * 32)
    Path("own.key").chmod(0o644)
    assert "Others can read own.key; chmod 600" in run(app, ["backup", "monday.cboc", "--key", "own.key"]).stderr
    assert run(app, ["backup", "other.cboc", "--database", "sqlite:///nosuch.db"]).exception is not None
    assert not Path("backup.key").exists()  # it would be the key of nothing


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
