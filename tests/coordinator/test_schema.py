import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, event, inspect, make_url, select
from sqlalchemy.exc import DBAPIError

from cboc import CbocError, Study
from cboc.coordinator import database, schema
from cboc.coordinator.backup import restore
from cboc.coordinator.database import metadata, open_database
from cboc.coordinator.people import People
from cboc.coordinator.rights import Roles
from cboc.coordinator.schema import changing, configuration, downgrade, latest, revision_of, revisions, upgrade
from cboc.coordinator.store import to_bytes
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Mix, Proposal
from cboc.exchange.network import Standing

FROZEN = Path(__file__).parent / "frozen"
COORDINATOR = Path(__file__).parents[1] / "frozen" / "coordinator"  # of cboc 0.1.0, in the middle of a round
TOGETHER = """
import sys
from cboc.coordinator.schema import upgrade
from cboc.coordinator.database import open_database
print("ready", flush=True)
sys.stdin.readline()
upgrade(open_database(sys.argv[1]))
"""


@pytest.fixture
def empty(url):
    engine = open_database(url)
    yield engine
    engine.dispose()


def differences(engine):
    """Between the tables that are there and those that the code expects."""
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


def revision(engine):
    with engine.connect() as connection:
        return revision_of(connection)


def test_up_down_and_up_again(empty):
    assert revision(empty) is None
    upgrade(empty)
    assert revision(empty) == latest() and differences(empty) == []
    for step in (*reversed(revisions()[:-1]), "base"):
        downgrade(empty, step)
    assert revision(empty) is None and inspect(empty).get_table_names() == ["alembic_version"]
    for step in revisions():
        upgrade(empty, step)
    assert revision(empty) == latest() and differences(empty) == []
    upgrade(empty)  # the same again is fine


def test_a_difference_would_be_found(empty):
    upgrade(empty)
    with changing(empty) as connection:
        connection.exec_driver_sql("ALTER TABLE proposals DROP COLUMN reward")
    assert [difference[0] for difference in differences(empty)] == ["add_column"]


def test_every_constraint_has_the_name_that_the_convention_gives_it(empty):
    upgrade(empty)
    found = inspect(empty)
    for table in metadata.tables:
        assert found.get_pk_constraint(table)["name"] == f"pk_{table}"
        for key in found.get_foreign_keys(table):
            assert key["name"] == f"fk_{table}_{key['referred_table']}"
        for unique in found.get_unique_constraints(table):
            assert unique["name"] == f"uq_{table}_{'_'.join(unique['column_names'])}"


def thaw(frozen, url):
    """An old database, as it was."""
    if make_url(url).get_backend_name() == "sqlite":
        shutil.copy(frozen.with_suffix(".sqlite"), make_url(url).database)
        return
    address, file = url.replace("+psycopg", ""), frozen.with_suffix(".sql")
    subprocess.run(["psql", address, "-q", "-v", "ON_ERROR_STOP=1", "-f", file], check=True, capture_output=True)


@pytest.mark.parametrize("frozen", sorted(FROZEN.glob("*.json")), ids=lambda path: path.stem)
def test_an_old_study_goes_on(frozen, url, empty):
    facts = json.loads(frozen.read_text())
    thaw(frozen, url)
    assert revision(empty) == frozen.stem
    upgrade(empty)
    assert revision(empty) == latest() and differences(empty) == []
    exchange, door = Transactions(empty, lambda: facts["now"]), Tokens(empty, lambda: facts["now"])
    for known in facts["designs"]:
        found = exchange.mix(facts["study"], known["site"], known["round"])
        assert found == Mix(
            known["site"],
            known["round"],
            [known["x"]],
            tuple(known["weights"]),
            known["round"],
            known["leader"],
            known["others"],
        )
    assert door.who(facts["token"]) == (facts["study"], "lab-a")
    assert door.join(facts["code"], 43 * "b") == (facts["study"], "lab-b")
    assert exchange.standing(facts["study"]) == Standing(3, ("lab-b",), facts["now"] + 3600.0)
    assert exchange.study(facts["study"]).deadline == 3600.0
    exchange.submit(facts["study"], Proposal("lab-b", 3, [(0.25, 0.75)], reward=0.5))
    assert exchange.standing(facts["study"]).round == 4
    assert exchange.mix(facts["study"], "lab-b", 3).snapshot == 3


def test_before_0006_everybody_saw_every_study_and_that_stays_so(url, empty):
    thaw(FROZEN / "0005", url)
    upgrade(empty)
    rights = Roles(empty).of("ada")
    assert rights.sees("frozen") and not rights.owns("frozen") and not rights.is_admin
    assert People(empty).who(People(empty).log_in("ada", "correct horse")) == "ada"
    later = Study({"a": (0.0, 1.0)}, ("x", "y"), 2, name="later")
    Transactions(empty).create(later)
    assert not rights.sees("later") and Roles(empty).record("frozen") == []
    downgrade(empty, "0005")
    assert revision(empty) == "0005" and "roles" not in rows(empty)


def rows(engine):
    """Everything that the tables hold, as they are now: by table, in no order, columns by their names."""
    found = MetaData()
    found.reflect(engine)
    with engine.connect() as connection:
        return {
            table.name: sorted((sorted(row.items()) for row in connection.execute(select(table)).mappings()), key=str)
            for table in found.sorted_tables
        }


def of(rows, table):
    return [dict(row) for row in rows[table]]


def test_from_0_1_0_the_deadline_is_agreed_on_and_proposals_have_turns(url, empty):
    thaw(COORDINATOR, url)
    before = rows(empty)
    (was,) = of(before, "studies")
    assert revision(empty) == "0002" and was["deadline"] == 3600.0 and "deadline" not in json.loads(was["agreement"])
    upgrade(empty)
    assert revision(empty) == latest() and differences(empty) == []
    after = rows(empty)
    (study,) = of(after, "studies")
    agreed = Study.from_agreement(json.loads(study["agreement"]))
    assert agreed.deadline == 3600.0 and agreed.canonical == study["agreement"] and "deadline" not in study
    assert agreed.agreement() == json.loads(was["agreement"]) | {
        "deadline": 3600.0,
        "pace": "rounds",
        "objectives": ["y"],
    }
    assert (study["closed"], study["opened_at"]) == (was["rounds_closed"], was["opened_at"])
    kept = {(row["site"], row["turn"]): row for row in of(after, "proposals")}
    assert len(kept) == len(before["proposals"]) == 8
    for row in of(before, "proposals"):
        assert kept[row["site"], row["round"]] == {
            "study": row["study"],
            "site": row["site"],
            "turn": row["round"],
            "state": row["round"],
            "designs": 1,
            "X": row["x"],
            "bests": row["best"] or b"",
            "reward": row["reward"],
            "earlier": sum(
                other["round"] < row["round"] for other in of(before, "proposals") if other["site"] == row["site"]
            ),
            "arrived_at": None,
            "version": 0,
        }
    assert of(after, "sites") == [row | {"accepted": 0, "heard_at": None, "is_ended": 0} for row in of(before, "sites")]
    assert of(after, "people") == [row | {"is_admin": 0} for row in of(before, "people")]
    for table in ("invites", "logins"):
        assert after[table] == before[table]


def test_who_was_ended_for_good_stays_so_and_who_left_by_itself_may_be_invited(empty):
    """Until 0006, who was ended for good had no token any more, and who had said so itself had one."""
    upgrade(empty, "0006")
    with changing(empty) as connection:
        connection.exec_driver_sql(
            "INSERT INTO studies (study, agreement, closed, departures) VALUES ('s', '{}', 0, 2)"
        )
        for site, has_left, token in (("here", "false", "'a'"), ("gone", "true", "'b'"), ("ended", "true", "NULL")):
            connection.exec_driver_sql(
                f"INSERT INTO sites (study, site, has_left, token) VALUES ('s', '{site}', {has_left}, {token})"
            )
    with changing(empty) as connection:
        command.upgrade(configuration(connection), "head")
    assert {row["site"]: row["is_ended"] for row in of(rows(empty), "sites")} == {"here": 0, "gone": 0, "ended": 1}


def test_a_study_of_0_1_0_stands_where_it_stood(url, empty):
    thaw(COORDINATOR, url)
    upgrade(empty)
    exchange = Transactions(empty)
    study, (opened_at,) = exchange.study("frozen"), (row["opened_at"] for row in of(rows(empty), "studies"))
    assert exchange.standing("frozen") == Standing(2, ("lab-c",), opened_at + 3600.0)
    known = json.loads(COORDINATOR.with_name("expected.json").read_text())
    answered = [row for site in study.sites for row in known[site] if row.get("round") in (0, 1)]
    assert len(answered) == 6
    for row in answered:
        mix = exchange.mix("frozen", row["site"], row["round"])
        assert list(mix.weights) == row["weights"]
        assert study.space.project(mix.array[0]).tolist() == row["agreed"]


def test_down_to_0_1_0_and_up_again_gives_the_same_rows(url, empty):
    thaw(COORDINATOR, url)
    before = rows(empty)
    upgrade(empty)
    after = rows(empty)
    downgrade(empty, "0002")
    assert rows(empty) == before and revision(empty) == "0002"
    upgrade(empty)
    assert rows(empty) == after and differences(empty) == []


def test_a_backup_of_0_1_0_gives_the_same_rows_as_the_database_itself(url, empty, tmp_path):
    restore(COORDINATOR.with_name("backup.json"), url, None)
    other = open_database(f"sqlite:///{tmp_path / 'other.db'}")
    thaw(COORDINATOR, f"sqlite:///{tmp_path / 'other.db'}")
    upgrade(other)
    assert rows(empty) == rows(other)
    other.dispose()


def test_what_the_tables_of_before_cannot_hold_is_left_out(empty):
    """Designs after the first, best designs after the first; a turn, which was the round."""
    upgrade(empty)
    study = Study(
        {"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 4, name="plates", quorum=1, deadline=60.0, pace="rounds"
    )
    now = [1000.0]
    exchange = Transactions(empty, lambda: now[0])
    exchange.create(study)
    exchange.submit("plates", Proposal("x", 0, [(0.25, 0.5), (0.75, 1.0)], [(0.125, 0.0), (1.0, 1.0)]))
    now[0] += 61.0
    exchange.submit("plates", Proposal("y", 0, [(0.5, 0.5)]))  # too late for round 0
    exchange.submit("plates", Proposal("x", 1, [(0.5, 0.0)]))
    downgrade(empty, "0002")
    kept = {(row["round"], row["site"]): row for row in of(rows(empty), "proposals")}
    assert set(kept) == {(0, "x"), (1, "x"), (1, "y")}
    assert kept[0, "x"]["x"] == to_bytes([(0.25, 0.5)]) and kept[0, "x"]["best"] == to_bytes([(0.125, 0.0)])
    assert kept[1, "y"]["x"] == to_bytes([(0.5, 0.5)]) and kept[1, "y"]["best"] is None
    (row,) = of(rows(empty), "studies")
    assert row["deadline"] == 60.0 and (row["rounds_closed"], row["opened_at"]) == (2, None)


def test_several_that_start_at_once_find_it_done(url, empty):
    starting = [
        subprocess.Popen([sys.executable, "-c", TOGETHER, url], stdin=-1, stdout=-1, stderr=-1, text=True)
        for _ in range(2)
    ]
    for process in starting:
        assert process.stdout.readline() == "ready\n"
    for process in starting:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in starting:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    assert revision(empty) == latest() and differences(empty) == []


def test_an_upgrade_that_fails_leaves_nothing_behind(empty):
    upgrade(empty, "0001")
    with changing(empty) as connection:
        connection.exec_driver_sql("CREATE TABLE logins (in_the_way INTEGER)")  # 0002 makes people first, then logins
    with pytest.raises(DBAPIError, match="logins"):  # not the user's mistake: it comes through as it is
        upgrade(empty)
    assert revision(empty) == "0001" and "people" not in inspect(empty).get_table_names()


def test_a_database_that_is_not_ours_or_newer_is_refused_and_left_alone(empty):
    with changing(empty) as connection:
        connection.exec_driver_sql("CREATE TABLE recipes (name TEXT)")
    for of_another_program in (False, True):
        if of_another_program:
            with changing(empty) as connection:
                connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32))")
                connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('1ae4cf12')")
        with pytest.raises(CbocError, match="holds tables that are not cboc's; give the coordinator its own"):
            upgrade(empty)
        assert "studies" not in inspect(empty).get_table_names()


def test_a_newer_database_is_refused(empty):
    upgrade(empty)
    with changing(empty) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(
        CbocError, match=f"is at revision 9999, but this cboc knows only up to {latest()}; install a newer"
    ):
        upgrade(empty)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(kind, tmp_path):
    nowhere = {
        "sqlite": f"sqlite:///{tmp_path}/missing/coordinator.db",
        "postgresql": "postgresql+psycopg://cboc:secret@127.0.0.1:9/cboc",
    }
    with pytest.raises(CbocError, match="cannot be opened; does its folder exist|cannot be reached") as refusal:
        upgrade(open_database(nowhere[kind]))
    assert "secret" not in str(refusal.value) and "\n" not in str(refusal.value)


def refusal(engine):
    with pytest.raises(CbocError) as refused:
        upgrade(engine)
    engine.dispose()
    return str(refused.value)


@pytest.mark.parametrize("content", ["old", "latest", "nothing"])
def test_a_file_that_may_not_be_written_to(tmp_path, content):
    path = tmp_path / "coordinator.db"
    if content == "nothing":
        path.touch()
    else:
        shutil.copy(FROZEN / "0001.sqlite", path)
    if content == "latest":
        engine = open_database(f"sqlite:///{path}")
        upgrade(engine)
        engine.dispose()
    assert "is read-only" in refusal(open_database(f"sqlite:///file:{path}?mode=ro&uri=true"))


@pytest.mark.parametrize("is_latest", [True, False])
def test_a_server_that_may_only_be_read(postgres_engine, is_latest):
    readonly = open_database(f"{postgres_engine.url.render_as_string()}?options=-cdefault_transaction_read_only%3Don")
    with readonly.connect() as connection:
        assert connection.exec_driver_sql("SHOW transaction_read_only").scalar_one() == "on"
    if not is_latest:
        downgrade(postgres_engine, "base")
    assert "is read-only" in refusal(readonly)


def test_a_new_file_is_for_its_owner(tmp_path):
    before = os.umask(0o022)
    try:
        engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
        assert not list(tmp_path.iterdir())  # an address alone makes no file
        upgrade(engine)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("coordinator.db", "coordinator.db-wal", "coordinator.db-shm"), 0o600)
    engine.dispose()


def test_a_file_that_another_process_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    path = tmp_path / "coordinator.db"
    shutil.copy(FROZEN / "0001.sqlite", path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert "is in use by another process" in refusal(open_database(f"sqlite:///{path}"))
    holder.close()


def test_a_new_file_that_another_process_holds_for_a_moment(tmp_path):
    """SQLite refuses at once to change the mode of such a file."""
    path = tmp_path / "coordinator.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError), closing(sqlite3.connect(path, timeout=60.0)) as another:
        another.execute("PRAGMA journal_mode=WAL")
    release = threading.Timer(0.5, holder.close)
    release.start()
    engine = open_database(f"sqlite:///{path}")
    upgrade(engine)
    release.join()
    assert revision(engine) == latest()
    engine.dispose()


def test_a_lock_that_another_process_holds(postgres_engine, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 1.0)
    with changing(postgres_engine):
        assert "is in use by another process" in refusal(open_database(postgres_engine.url.render_as_string()))


def test_a_full_disk(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")

    @event.listens_for(engine, "connect")
    def _(connection, _):
        connection.execute("PRAGMA max_page_count = 8")

    assert "is on a disk that is full" in refusal(engine)
    again = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    assert revision(again) is None and inspect(again).get_table_names() == []
    again.dispose()


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be taken for one" * 20)
    assert "is not one, or is damaged" in refusal(open_database(f"sqlite:///{tmp_path / 'notes.txt'}"))


def test_a_new_revision_can_be_drafted(empty, tmp_path):
    """As env.py says; in a copy of the folder, from tables that lack a column."""
    migrations = tmp_path / "migrations"
    shutil.copytree(Path(schema.__file__).parent / "migrations", migrations)
    upgrade(empty)
    with changing(empty) as connection:
        connection.exec_driver_sql("ALTER TABLE proposals DROP COLUMN reward")
        config = configuration(connection)
        config.set_main_option("script_location", str(migrations))
        command.revision(config, "Rewards", autogenerate=True, rev_id="9999")
    draft = (migrations / "versions" / "9999_rewards.py").read_text()
    compile(draft, "draft", "exec")
    assert "revision = '9999'" in draft and "add_column(sa.Column('reward', sa.Float()" in draft
