"""Files with outcomes or secrets are for their owner alone, whoever writes them, and none gets into git by chance."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.cli.report.command import _draft
from cboc.coordinator.certificate import make as make_certificate
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.data.dataset import Dataset
from cboc.exchange.invitation import Invitation
from cboc.private_files import for_owner, is_open_to_others, make, write_bytes, write_text
from cboc.space.space import Space

ROOT = Path(__file__).parent.parent
STUDY = """
[study]
name = "private"
horizon = 4
initial = 2
[[site]]
name = "lab-a"
problem = "levy-2"
direction = "minimise"
[[site]]
name = "lab-b"
problem = "levy-2"
direction = "minimise"
"""
AGREED = {"study.toml", "own.pem", "a.feed"}  # what is for others, too


@pytest.fixture(autouse=True)
def careless(tmp_path, monkeypatch):
    """A folder of its own, and an account whose new files everybody may read and change."""
    monkeypatch.chdir(tmp_path)
    kept = os.umask(0)
    yield
    os.umask(kept)


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


def call(*command):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == 0, result.output
    return result


def open_to_others():
    return sorted(str(path) for path in Path().rglob("*") if path.is_file() and is_open_to_others(path))


def test_what_the_commands_of_a_site_write_is_for_its_owner_alone():
    Path("study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "maximise")
    for y in (0.5, 0.7, 0.4):
        call("ask", "--output", "sheet.csv")
        call("tell", y)
    for output in ("results.csv", "results.xlsx", "results.json"):
        call("export", "--output", output)
    call("plot", "--kind", "progress")
    call("report")
    call("feed", "export", "a.feed")
    written = {path.suffix for path in Path().rglob("*") if path.is_file()}
    assert written == {".toml", ".db", ".feeds", ".csv", ".xlsx", ".json", ".png", ".html", ".feed"}
    assert set(open_to_others()) <= AGREED
    assert "only you can read the file" in CliRunner().invoke(app, ["doctor"]).stdout


def test_what_a_simulation_writes_is_for_its_owner_alone():
    Path("study.toml").write_text(STUDY)
    call("simulate", "study.toml", "--out", "run")
    call("plot", "run", "--kind", "paths")
    call("export", "run", "--output", "trials.csv")
    assert {path.suffix for path in Path("run").rglob("*") if path.is_file()} == {".json", ".jsonl", ".png"}
    assert set(open_to_others()) <= AGREED


def test_secrets_of_a_coordinator_are_for_its_owner_alone():
    engine = open_database("sqlite:///coordinator.db")
    upgrade(engine)
    engine.dispose()
    call("backup", "monday.cboc")
    Invitation("private", "lab-a", "http://127.0.0.1:1", 43 * "c", None, 2e9).write(Path("lab-a.cboc"))
    make_certificate(["localhost"], Path("own.pem"), Path("own.key"))
    assert set(open_to_others()) <= AGREED
    assert {path.name for path in Path().iterdir()} >= {"coordinator.db", "monday.cboc", "backup.key", "own.key"}


def test_a_table_from_python_is_for_its_owner_alone():
    Dataset([[0.5]], [1.0], direction="minimise").to_csv("data.csv", Space({"a": (0.0, 1.0)}))
    assert mode("data.csv") == 0o600


def test_a_file_that_is_there_keeps_its_mode():
    """Somebody has chosen it: who writes results for a group goes on doing so."""
    for write in (lambda path: write_text(path, "new"), lambda path: write_bytes(path, b"new")):
        for chosen in (0o644, 0o660, 0o600):
            path = Path(f"{chosen:o}")
            path.write_text("what was there, and longer")
            path.chmod(chosen)
            write(path)
            assert mode(path) == chosen and path.read_text() == "new"
    with pytest.raises(FileExistsError):
        make(Path("600"))


def test_a_page_that_is_written_anew_keeps_its_mode():
    for chosen in (0o600, 0o640):
        with _draft(Path("report.html")) as draft:
            draft.write("page")
        assert mode("report.html") == chosen and not Path("report.html.part").exists()
        Path("report.html").chmod(0o640)


def test_a_narrower_umask_is_honoured():
    os.umask(0o277)
    with open("narrow", "w", opener=for_owner) as file:
        file.write("x")
    assert mode("narrow") == 0o400


def test_doctor_names_the_files_that_others_can_read():
    Path("study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "maximise")
    Path("site.db.feeds").chmod(0o604)
    assert "BAD  privacy: others can read it: chmod 600 site.db.feeds\n" in CliRunner().invoke(app, ["doctor"]).stdout
    Path("site.db").chmod(0o640)
    assert "others can read it: chmod 600 site.db site.db.feeds\n" in CliRunner().invoke(app, ["doctor"]).stdout


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="not a git working copy")
def test_git_takes_in_no_outcomes_and_no_secrets_by_chance():
    secret = [
        *("site.db", "lab-b.db", "site.db-journal", "coordinator.db-wal", "site.db.feeds", "site.db.feeds.1"),
        *("lab-a.cboc", "backups/monday.cboc", "backup.key", "cboc.key", "cboc.pem", "deploy/backup.key", ".env"),
        *("run.jsonl", "runs/first/together-0.jsonl", "results.csv", "results.xlsx", "results.json", "report.html"),
        *("plots/progress.png", "sheet.csv", "deploy/password", "coordinator.log", "examples/plates/site.db"),
    ]
    said = subprocess.run(["git", "check-ignore", *secret], cwd=ROOT, capture_output=True, text=True).stdout
    assert set(said.split()) == set(secret)
    kept = subprocess.run(
        ["git", "ls-files", "-i", "-c", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    assert kept.stdout == ""  # nothing that belongs here is shut out
