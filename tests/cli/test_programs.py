"""`cboc simulate` where experiments are programs: nothing is run for nothing, and a broken one is told at once."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.cli.progress_bar import SOON, bar, in_words

STUDY = """
[study]
name = "programs"
horizon = 2
initial = 3
[space]
x = {low = 0, high = 1}
"""
SITE = '[[site]]\nname = "{}"\ndirection = "max"\n[site.program]\ncommand = ["./solver", "{{x}}"]\ntimeout = "60 s"\n'
SOLVER = "#!/bin/sh\nawk -v x=$1 'BEGIN { print x * (1 - x) }'\n"


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """A folder with a study of two sites, whose experiments are one program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY + SITE.format("a") + SITE.format("b"))
    (tmp_path / "solver").write_text(SOLVER)
    (tmp_path / "solver").chmod(0o755)
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == code, result.output
    return result


def simulated(*options, code=0):
    return " ".join(call("simulate", "study.toml", "--out", "run", *options, code=code).stderr.split())


def test_programs_are_not_run_for_sites_alone_unless_that_is_asked_for(plant):
    said = simulated()
    assert "10 experiments of 2 sites, together, 1 seed. To run every site alone as well" in said
    assert [path.name for path in plant.glob("run/*.jsonl")] == ["together-0.jsonl"]
    said = simulated("--alone", "--resume")
    assert "20 experiments of 2 sites, together and alone, 1 seed, 10 of which are done." in said
    assert (plant / "run" / "alone-0.jsonl").exists()
    assert "gain" in call("simulate", "study.toml", "--out", "run", "--resume").stdout, "a run that has both keeps both"


def test_test_problems_are_compared_with_alone_as_before(plant):
    (plant / "study.toml").write_text(
        '[study]\nhorizon = 1\ninitial = 2\n[[site]]\nname = "a"\ndirection = "min"\nproblem = "levy-2"\n'
    )
    assert "experiments of" not in simulated() and (plant / "run" / "alone-0.jsonl").exists()


def test_a_program_that_always_fails_stops_the_simulation_with_the_reason(plant):
    (plant / "solver").write_text("#!/bin/sh\necho no licence >&2\nexit 9\n")
    said = simulated(code=2)
    assert (
        "the first 3 runs of 'a' have all failed, the last one so: it ended with exit code 9, saying 'no licence'"
        in said
    )
    assert "--fresh" in said and "--keep-going" in said
    rows = json.loads(call("export", "run", "--format", "json").stdout)
    failed = [row for row in rows if row["status"] == "failed"]
    assert 3 <= len(failed) <= 6 and all("saying 'no licence'" in row["note"] for row in failed)
    (plant / "solver").write_text(SOLVER)
    simulated("--resume")
    page = Path(call("report", "run").stdout.strip()).read_text()
    assert "What failed" in page and "no licence" in page


def test_going_on_regardless_has_to_be_asked_for(plant):
    (plant / "solver").write_text("#!/bin/sh\nexit 9\n")
    simulated("--keep-going")
    rows = json.loads(call("export", "run", "--format", "json").stdout)
    assert len(rows) == 10 and {row["status"] for row in rows} == {"failed"}


def test_without_a_terminal_the_first_estimate_comes_soon(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("cboc.cli.progress_bar.time.monotonic", lambda: now[0])
    with bar(100) as advance:
        for _ in range(4):
            now[0] += SOON / 2
            advance("")
    assert capsys.readouterr().err == "2 of 100 experiments, about 8 min left.\n"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "5 s"), (119, "119 s"), (120, "2 min"), (7000, "117 min"), (7200, "2 h"), (86400 * 3, "3 d")],
)
def test_times_are_said_as_people_say_them(seconds, words):
    assert in_words(seconds) == words
