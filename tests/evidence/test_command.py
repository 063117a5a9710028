"""`cboc evidence`, most of it in this process; what has to survive a kill, in a real one."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from cboc.cli import progress_bar as progress
from cboc.cli.app import app
from cboc.evidence import theory
from cboc.evidence.methods import tuning
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables import simulation

ONE = ("--workers", 1)  # where the work is less than the start of a second process
SMALL = ["evidence", "run", "levy-2", "--sites", "2", "--rounds", "3"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cboc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def one_sentence(result):
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_a_comparison_of_ones_own(here):
    result = cboc(*SMALL, "--seeds", 2, "--method", "individual", "--method", "random", "--out", "here")
    assert result.exit_code == 0, result.stderr
    assert "individual" in result.stdout and "area - alone, 95 %" in result.stdout
    assert len((here / "here/results.jsonl").read_text().splitlines()) == 4
    assert r"\begin{tabular}" in (here / "here/run.tex").read_text()


def test_what_is_there_is_not_run_again_and_more_seeds_add_up(here):
    command = [*SMALL, *ONE, "--method", "random", "--out", "here"]
    cboc(*command, "--seeds", 2)
    costs = (here / "here/costs.jsonl").read_text()
    assert cboc(*command, "--seeds", 2).exit_code == 0
    assert (here / "here/costs.jsonl").read_text() == costs
    cboc(*command, "--seeds", 3)
    assert len((here / "here/costs.jsonl").read_text().splitlines()) == 3


def test_a_smaller_command_takes_nothing_from_the_tables(here):
    cboc(*SMALL, *ONE, "--seeds", 2, "--method", "individual", "--method", "random", "--out", "here")
    tables = (here / "here/run.md").read_text()
    smaller = cboc(*SMALL, *ONE, "--seeds", 1, "--method", "random", "--out", "here")
    assert (here / "here/run.md").read_text() == tables and "individual" in smaller.stdout
    assert cboc("evidence", "show", "here").stdout == smaller.stdout


def test_a_quick_run_has_as_many_seeds_as_it_is_told(here, monkeypatch):
    monkeypatch.setattr(simulation, "HONEST", {"displaced": [Scenario("branin", 2, is_displaced=True, rounds=1)]})
    command = ["evidence", "honest", "--quick", "--method", "random", *ONE]
    for more, seeds in ((("--out", "some"), 2), (("--out", "more", "--seeds", 3), 3)):
        assert cboc(*command, *more).exit_code == 0
        assert len((here / more[1] / "results.jsonl").read_text().splitlines()) == seeds


def test_without_a_terminal_progress_is_lines(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SOON", 0.0)
    with progress.bar(10, 4) as advance:
        advance("first", 2)
        advance("second", 4)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "6 of 10 experiments, about 0 s left. first"


def test_the_papers_tables_and_pictures(here, monkeypatch):
    monkeypatch.setattr("cboc.cli.evidence.command.QUICK", (Scenario("levy-2", 5, Kind.SAME), Scenario("branin", 10)))
    monkeypatch.setattr(
        "cboc.cli.evidence.reports.illustrate", lambda seed, surrogates: bench_illustrate(seed, surrogates, rounds=3)
    )
    result = cboc(
        "evidence", "paper", "--quick", "--method", "random", "--method", "individual", "--seeds", 1, "--out", "o"
    )
    assert result.exit_code == 0, result.stderr
    assert "Table 1. Levy" in result.stdout and "[0.931]" in result.stdout and "[0.975]" in result.stdout
    assert "Table 3" not in result.stdout  # nothing was run there
    names = {"paper.txt", "paper.md", "paper.tex", "path.png", "published.png", "gains-default.png", "gains-paper.png"}
    assert names <= {path.name for path in (here / "o").iterdir()}
    assert "Table 4 in full, paper surrogate" in (here / "o/paper.md").read_text()


def bench_illustrate(seed, surrogates, rounds):
    from cboc.evidence.illustration import illustrate

    return illustrate(seed, surrogates, rounds=rounds)


def test_the_honest_rows(here, monkeypatch):
    rows = [Scenario("levy-2", 3, is_displaced=True, rounds=2), Scenario("levy-2", 3, Kind.UNRELATED, rounds=2)]
    monkeypatch.setattr(simulation, "HONEST", {"displaced": rows[:1], "further": rows[1:]})
    result = cboc("evidence", "honest", "--quick", "--method", "random", "--method", "individual", "--out", "o", *ONE)
    assert result.exit_code == 0, result.stderr
    assert (here / "o/honest-default.png").exists()


def test_theory_in_runs_shown_and_verified(here, monkeypatch):
    monkeypatch.setattr(theory, "SCENARIOS", (Scenario("branin", 2, Kind.SAME, rounds=8),))
    result = cboc("evidence", "theory", "--seeds", 1, "--out", "o", *ONE)
    assert result.exit_code == 0, result.stderr
    assert "slope of log R" in result.stdout and (here / "o/theory.png").exists()
    made = {path.name: path.read_bytes() for path in (here / "o").glob("theory.*")}
    for name in ("txt", "md", "tex", "png"):
        (here / f"o/theory.{name}").unlink()
    assert cboc("evidence", "show", "o").stdout == result.stdout
    assert {path.name: path.read_bytes() for path in (here / "o").glob("theory.*")} == made
    verified = cboc("evidence", "verify", "o", "--rows", 2, *ONE)
    assert verified.exit_code == 0 and "2 of 2 rows are the same bit for bit" in verified.stdout
    path = here / "o/theory.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row | {"regret": [0.5] * 8}) + "\n" for row in rows[:1]))
    changed = cboc("evidence", "verify", "o", *ONE)
    assert changed.exit_code == 1 and "differs: theory: branin K=2 same T=8" in changed.stdout


def test_results_of_the_tuning_are_shown_as_such(here, monkeypatch):
    monkeypatch.setattr(tuning, "SCENARIOS", (Scenario("branin", 2, rounds=1),))
    variants = ("cboc-u-gated: ratio 0.1", "cboc-l-gated: ratio 0.1")
    monkeypatch.setattr(tuning, "VARIANTS", {name: tuning.VARIANTS[name] for name in variants})
    result = cboc("evidence", "tune", "--out", "o", *ONE)
    assert result.exit_code == 0, result.stderr
    (here / "o/tuning.md").unlink()
    assert cboc("evidence", "show", "o").stdout == result.stdout
    assert (here / "o/tuning.md").exists() and not (here / "o/run.md").exists()


@pytest.mark.usefixtures("here")
def test_few_seeds_have_a_table_too(monkeypatch):
    """No row has seeds enough for a score."""
    rows = [Scenario("levy-2", 2, is_displaced=True, rounds=1)]
    monkeypatch.setattr(simulation, "HONEST", {"displaced": rows})
    honest = cboc("evidence", "honest", "--quick", "--method", "random", "--out", "honest", *ONE)
    assert "The displaced rows in full" in honest.stdout and "displaced levy-2 K=2 T=1" in honest.stdout
    monkeypatch.setattr("cboc.cli.evidence.command.QUICK", (Scenario("levy-2", 5, Kind.SAME),))
    monkeypatch.setattr(
        "cboc.cli.evidence.reports.illustrate", lambda seed, surrogates: bench_illustrate(seed, surrogates, rounds=3)
    )
    more = ("--method", "random", "--seeds", 1, "--surrogate", "default", "--out", "paper", *ONE)
    assert "Table 1 in full, default surrogate" in cboc("evidence", "paper", "--quick", *more).stdout


def test_verify_finds_a_row_that_was_changed(here):
    cboc(*SMALL, *ONE, "--seeds", 3, "--method", "random", "--out", "o")
    assert "3 of 3 rows are the same bit for bit" in cboc("evidence", "verify", "o", *ONE).stdout
    path = here / "o/results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["final"][0] += 1e-6
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = cboc("evidence", "verify", "o")  # by as many workers as there are cores
    assert result.exit_code == 1
    assert "2 of 3 rows" in result.stdout and "differs: levy-2 K=2 T=3, default surrogate, random" in result.stdout


def test_bad_input_is_one_sentence(here):
    assert "'lvy-2' is not a problem of this library; did you mean 'levy-2'?" in one_sentence(
        cboc("evidence", "run", "lvy-2")
    )
    assert "did you mean 'cboc-u'?" in one_sentence(cboc(*SMALL, "--method", "cbocu"))
    assert "did you mean 'paper'?" in one_sentence(cboc(*SMALL, "--surrogate", "papper"))
    assert "there is no engine 'dsk'; did you mean 'dask'?" in one_sentence(cboc(*SMALL, "--engine", "dsk"))
    assert "holds no results" in one_sentence(cboc("evidence", "verify", "nowhere"))
    (here / "o").mkdir()
    (here / "o/edition.json").write_text('{"edition": 99}')
    assert "was written by edition 99" in one_sentence(cboc(*SMALL, "--out", "o"))
    (here / "file").write_text("")
    for command in (
        (*SMALL, "--out", "file"),
        ("evidence", "show", "file"),
        ("evidence", "theory", "--out", "file/below"),
    ):
        assert "results live in a directory, but file is a file; give another path" in one_sentence(cboc(*command))
    assert "--out is a directory for the results" in one_sentence(cboc(*SMALL, "--out", ""))
    assert list(here.glob("*.jsonl")) == []


def test_a_dimension_that_a_family_does_not_have_is_one_sentence():
    assert "levy has 1 to 100 dimensions, but got '0'; try 'levy-2'." in one_sentence(cboc("evidence", "run", "levy-0"))
    for name in ("levy-101", "levy-²", "levy-x", "levy-" + "9" * 5000):
        assert "1 to 100 dimensions" in " ".join(cboc("evidence", "run", name).stderr.split())
    assert "rosenbrock has 2 to 100 dimensions" in one_sentence(cboc("evidence", "run", "rosenbrock-0"))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", [("paper",), ("honest",), ("run", "levy-2"), ("theory",)])
def test_too_many_seeds_are_refused_at_once(command):
    sentence = one_sentence(cboc("evidence", *command, "--seeds", 100_000_000))
    assert sentence == "a benchmark has up to 10000 seeds, but got 100000000; give fewer."


def test_nothing_is_lost_when_the_run_is_killed(here):
    command = [sys.executable, "-m", "cboc", *SMALL, "--method", "individual", "--out", "o", "--workers", "1"]
    with subprocess.Popen(
        [*command, "--seeds", "200"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as running:
        path = here / "o/results.jsonl"
        deadline = time.monotonic() + 60
        while not (path.exists() and path.read_text().count("\n") >= 2) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGKILL)
    done = path.read_text().count("\n")
    assert 2 <= done < 200
    whole = cboc(*SMALL, *ONE, "--method", "individual", "--seeds", done + 2, "--out", "o")
    assert whole.exit_code == 0, whole.stderr
    cboc(*SMALL, "--method", "individual", "--seeds", done + 2, "--out", "fresh")
    assert path.read_bytes() == (here / "fresh/results.jsonl").read_bytes()


def test_ctrl_c_says_how_to_go_on(here):
    command = [sys.executable, "-m", "cboc", *SMALL, "--seeds", "500", "--method", "individual", "--out", "o"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        path = here / "o/results.jsonl"
        deadline = time.monotonic() + 60
        while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Stopped; the finished runs are in o. The same command goes on from there." in stderr
    assert "Traceback" not in stderr
