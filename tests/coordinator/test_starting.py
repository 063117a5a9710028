"""A start that is refused leaves everything as it was; and what a coordinator says when something is wrong."""

import json
import logging
import os
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from cboc import CbocError, Study
from cboc.cli import coordinator, rehearsal
from cboc.cli.app import app
from cboc.coordinator import database
from cboc.coordinator.certificate import make
from cboc.coordinator.database import open_database
from cboc.coordinator.log import Lines
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.studyfile import read_terms
from cboc.studyfile.section import seconds

STUDY = """
[study]
name = "buffer study"
horizon = 2
deadline = "36 h"
pace = "rounds"
[space]
pH = {low = 2, high = 9}
[[site]]
name = "lab-a"
[[site]]
name = "lab-b"
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_DATABASE", "sqlite:///coordinator.db")
    Path("study.toml").write_text(STUDY)
    return tmp_path


def call(*command, code=2):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result.stderr


def held(database="coordinator.db"):
    """The studies of a database; None if it is not even there."""
    if not Path(database).exists():
        return None
    engine = open_database(f"sqlite:///{database}")
    try:
        return Transactions(engine).names()
    finally:
        engine.dispose()


def somebody_joins():
    engine = open_database("sqlite:///coordinator.db")
    door = Tokens(engine)
    door.join(door.invite("buffer study", "lab-a"), 43 * "a")
    engine.dispose()


@pytest.fixture
def taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


# -------------------------------------------------------------------------------------------------------- the start


def test_a_start_that_is_refused_begins_no_study(taken):
    assert "--workers above 1" in call("serve", "study.toml", "--workers", "2")
    assert "cannot listen" in call("serve", "study.toml", "--port", taken)
    assert "needs its key" in call("serve", "study.toml", "--certificate", "a.pem")
    Path("wrong.toml").write_text("[study")
    assert "is not valid TOML" in call("serve", "study.toml", "wrong.toml")
    assert held() is None


def test_of_two_studies_none_begins_if_one_is_refused(monkeypatch):
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)
    call("serve", "study.toml", code=0)
    somebody_joins()
    Path("study.toml").write_text(STUDY.replace("horizon = 2", "horizon = 3"))
    Path("new.toml").write_text(STUDY.replace("buffer study", "new study"))
    refused = call("serve", "new.toml", "study.toml")
    assert "other terms: horizon is 3 here and 2 there. Use the old ones" in refused
    assert held() == ["buffer study"]


@pytest.mark.parametrize("database", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
def test_a_database_has_a_name(database):
    assert "an SQLite database is a file, sqlite:///FILE.db" in call("serve", "study.toml", "--database", database)


@pytest.mark.parametrize("deadline", ["99999999 d", "9" * 400 + " d", "3651 d", "0 d", "1e3 d"])
def test_a_deadline_is_of_this_world(deadline):
    Path("study.toml").write_text(STUDY.replace("36 h", deadline))
    assert "at most 3650 d" in call("serve", "study.toml")
    assert held() is None


@pytest.mark.parametrize("deadline", [0.0, -1.0, float("nan"), float("inf"), 3651 * 86400.0])
def test_a_study_takes_no_other(deadline):
    with pytest.raises(CbocError, match="a deadline is above 0 and at most"):
        Study({"a": (0.0, 1.0)}, ("x",), 2, deadline=deadline, pace="rounds")


def test_the_deadline_of_a_study_that_has_begun_does_not_change(monkeypatch):
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)
    call("serve", "study.toml", code=0)
    somebody_joins()
    Path("study.toml").write_text(STUDY.replace("36 h", "48 h"))
    assert "other terms: deadline is 172800 here and 129600 there. Use the old ones" in call("serve", "study.toml")
    engine = open_database("sqlite:///coordinator.db")
    assert Transactions(engine).study("buffer study").deadline == 129_600.0
    engine.dispose()


def test_the_longest_deadline_is_ten_years():
    Path("study.toml").write_text(STUDY.replace("36 h", "3650 d"))
    assert read_terms("study.toml").study.deadline == seconds("3650 d") == 315_360_000.0


@pytest.mark.parametrize("wrong", ["x = " + "[" * 5000 + "]" * 5000, "x = " + "9" * 5000])
def test_a_study_file_that_nobody_can_read_is_one_sentence(wrong):
    Path("study.toml").write_text(wrong)
    said = call("serve", "study.toml")
    assert said.startswith("study.toml ") and "Traceback" not in said and said.count("\n") == 1


# ---------------------------------------------------------------------------------------------------------- commands


def test_an_invitation_is_good_for_a_while(monkeypatch):
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)
    call("serve", "study.toml", code=0)
    for days in ("0", "-1", "nan", "1e300"):
        assert "--days is above 0 and at most 3650" in call("invite", "--days", days)
    assert "Earlier codes for these sites that were not used are no longer valid" in call("invite", code=0)


def test_what_cannot_be_written_is_named_as_it_was_typed():
    engine = open_database("sqlite:///coordinator.db")
    upgrade(engine)
    engine.dispose()
    said = call("backup", "nosuch/b.cboc")
    assert "cannot write nosuch/b.cboc: No such file or directory" in said and ".b.cboc." not in said
    assert "nosuch/x.db cannot be made" in call("join", "http://127.0.0.1:1", "code", "--file", "nosuch/x.db")


def test_a_key_does_not_stay_behind_without_its_certificate():
    Path("folder").mkdir()
    with pytest.raises(FileNotFoundError):
        make(["localhost"], Path("nosuch/own.pem"), Path("folder/own.key"))
    assert list(Path("folder").iterdir()) == []


class Ended:
    """A process that has ended, without an error."""

    def poll(self):
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def test_a_rehearsal_whose_sites_end_early_ends(monkeypatch):
    monkeypatch.setattr(rehearsal, "join", lambda *_, **__: None)
    monkeypatch.setattr(rehearsal, "_process", lambda *_, **__: Ended())
    monkeypatch.setattr(rehearsal, "_told", lambda *_: 2)
    place = rehearsal.prepare(Path("demo"), 12)
    engine = open_database(place.database)
    upgrade(engine)
    Transactions(engine).create(read_terms(place.study).study)
    engine.dispose()
    with pytest.raises(CbocError, match="the sites have stopped after 6 of 51 experiments"):
        rehearsal.take_part(place)


# -------------------------------------------------------------------------------------------------------- the service


def test_health_is_that_of_our_own_tables(serving):
    engine = open_database("sqlite:///coordinator.db")  # which answers, and holds nothing
    with serving(engine) as url:
        assert httpx2.get(f"{url}/healthz").status_code == 503
        upgrade(engine)
        assert httpx2.get(f"{url}/healthz").json() == {"status": "well"}
    engine.dispose()


def test_a_database_that_another_process_has_locked_is_not_waited_for_for_ever(postgres_engine, serving, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 1.0)
    engine = open_database(postgres_engine.url.render_as_string())
    with serving(engine) as url:
        with postgres_engine.begin() as other:
            other.exec_driver_sql("LOCK TABLE studies")
            assert httpx2.get(f"{url}/healthz", timeout=30.0).status_code == 503
        assert httpx2.get(f"{url}/healthz").status_code == 200
    engine.dispose()


def test_a_database_server_that_says_nothing_is_not_waited_for_for_ever(serving, monkeypatch):
    monkeypatch.setitem(database.GONE, "connect_timeout", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = open_database(f"postgresql+psycopg://cboc@127.0.0.1:{silent.getsockname()[1]}/cboc")
        with serving(engine) as url:
            assert httpx2.get(f"{url}/healthz", timeout=30.0).status_code == 503
        engine.dispose()


def test_the_log_says_what_is_wrong_with_the_database(serving, caplog):
    engine = open_database("sqlite:///coordinator.db")
    upgrade(engine)
    Transactions(engine).create(Study({"a": (0.0, 1.0)}, ("x",), 2, name="trial run", pace="rounds"))
    code = Tokens(engine).invite("trial run", "x")
    with closing(sqlite3.connect("coordinator.db")) as connection, connection:
        connection.execute("DROP TABLE proposals")
    caplog.set_level(logging.ERROR, logger="cboc.coordinator")
    with serving(engine) as url:
        token = {"Authorization": f"Bearer {'t' * 43}"}
        httpx2.post(f"{url}/v2/join", json={"code": code, "token": "t" * 43})
        assert httpx2.put(f"{url}/v2/turns/0/proposal", json={"X": [[0.123456789]]}, headers=token).status_code == 503
    engine.dispose()
    *_, line = [Lines().format(record) for record in caplog.records if record.name == "cboc.coordinator"]
    assert json.loads(line)["code"] == "SQLITE_ERROR" and "0.123" not in line


def test_a_mistyped_address_is_a_page_for_people_and_json_for_programs(serving):
    engine = open_database("sqlite:///coordinator.db")
    upgrade(engine)
    with serving(engine) as url:
        page = httpx2.get(f"{url}/studys", headers={"Accept": "text/html,*/*"})
        assert page.status_code == 404 and "There is no such page here" in page.text and "<html" in page.text
        assert httpx2.get(f"{url}/studys").json() == {"error": "there is no such thing here."}
    engine.dispose()


def test_optional_parts_are_installed_from_the_clone():
    """cboc is on no package index: whoever says how to get a part says that."""
    root = Path(__file__).parents[2]
    places = [*root.glob("src/**/*.py"), *root.glob("docs/**/*.md"), *root.glob("deploy/*"), root / "README.md"]
    wrong = [path for path in places if "install" in (text := path.read_text()) and "cboc[" in text]
    assert wrong == [] and os.path.exists(root / "pyproject.toml")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (
            "UPDATE studies SET agreement = '{'",
            "the agreement of study 'buffer study' cannot be read; restore a backup",
        ),
        ("UPDATE studies SET agreement = '{}'", "cannot be read; restore a backup"),
        ("UPDATE studies SET agreement = '[3]'", "cannot be read; restore a backup"),
        ("UPDATE studies SET agreement = replace(agreement, 'uniform', 'unform')", "cannot be read"),
        ("UPDATE studies SET agreement = CAST(x'7bff7d' AS TEXT)", "is not one, or is damaged"),
    ],
)
def test_a_coordinator_that_could_answer_nothing_does_not_start(monkeypatch, damage, complaint):
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)
    call("serve", "study.toml", code=0)
    with closing(sqlite3.connect("coordinator.db")) as connection, connection:
        connection.execute(damage)
    for command in (("serve",), ("serve", "study.toml"), ("invite", "lab-a")):
        said = call(*command)
        assert complaint in " ".join(said.split()) and "Traceback" not in said


def test_a_flipped_bit_in_the_schema_is_one_sentence(monkeypatch):
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)
    call("serve", "study.toml", code=0)
    data = Path("coordinator.db").read_bytes()
    place = data.index(b"CREATE TABLE studies") + 7
    Path("coordinator.db").write_bytes(data[:place] + b"\xff" + data[place + 1 :])
    assert "is not one, or is damaged" in " ".join(call("serve").split())
