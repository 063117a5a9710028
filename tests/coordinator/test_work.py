"""A site whose experiments run by themselves: `cboc work`, with a real program and a coordinator on a real socket."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Policy
from cboc.cli.app import app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile
from cboc.studyfile import read_experiment, read_terms

STUDY = """
[study]
name = "trial run"
horizon = 3
[space]
x = {low = 0, high = 1}
[[site]]
name = "plant"
[site.program]
command = ["./solver", "{folder}", "{x}"]
timeout = "none"
"""
SOLVER = """#!/bin/sh
echo "$2" >> "$1/log"
while test -e "$1/hold"; do sleep 0.05; done
awk -v x="$2" 'BEGIN { if (x > 0.8) exit 3; printf "%.17g", x * (1 - x) }'
"""
PATIENCE = 60.0  # seconds
SETTINGS = {"direction": "maximise", "policy": Policy(initial=4, seed=3)}


@pytest.fixture
def plant(tmp_path, serving, monkeypatch):
    """A folder with a study file, a program and the file of a site that has joined."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "solver").write_text(SOLVER)
    (tmp_path / "solver").chmod(0o755)
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    Transactions(engine).create(read_terms("study.toml").study)
    with serving(engine) as url:
        cboc.join(url, Tokens(engine).invite("trial run", "plant"), storage="site.db", **SETTINGS)
        yield tmp_path
    engine.dispose()


def work(*options, code=0):
    result = CliRunner().invoke(app, ["work", "study.toml", *options])
    assert result.exit_code == code, result.output
    return result.stderr


def interrupted(plant, by):
    """What a worker says that is ended by a signal while its next experiment is running."""
    known = len((plant / "log").read_text().splitlines())
    (plant / "hold").touch()
    command = [sys.executable, "-m", "cboc", "work", "study.toml"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}) as process:
        until = time.monotonic() + PATIENCE
        while len((plant / "log").read_text().splitlines()) == known and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(by)
        said = process.stderr.read()
    (plant / "hold").unlink()
    return process.returncode, said


def test_a_worker_that_is_stopped_and_killed_goes_on_as_if_nothing_had_happened(plant):
    said = work("--most", "2").splitlines()
    assert len(said) == 3 and said[0].startswith("Up to 2 experiments to run, one after the other; Ctrl-C stops")
    code, said = interrupted(plant, signal.SIGINT)
    assert code == 130 and said.splitlines()[1].startswith("Stopped; the same command goes on")
    code, said = interrupted(plant, signal.SIGKILL)
    assert code == -signal.SIGKILL and said.startswith("Up to 5 experiments to run") and said.count("\n") == 1
    first, *said = work().splitlines()
    assert first.startswith("Up to 5 experiments to run") and said[0].startswith("Trial 2, 3 of 7 (x ")
    assert "plant' has finished: 3 of 3 experiments" in said[-1]
    assert said[-1].endswith("cboc best shows what it has found.")
    assert len(said) == 6 and work().splitlines() == said[-1:]  # once more: there is nothing left to do
    ran = (plant / "log").read_text().splitlines()
    assert len(ran) == 9 and ran[2] == ran[3] == ran[4] and len(set(ran)) == 7
    site = cboc.join(storage="site.db")
    expected = cboc.simulate(site.study, {"plant": read_experiment("study.toml", site)}, **SETTINGS)
    untimed = [replace(trial, began=None, ended=None) for trial in SiteFile("site.db").trials()]
    assert untimed == [replace(trial, began=None, ended=None) for trial in expected.of("plant")]


def test_a_failed_experiment_is_kept_with_its_reason(plant):
    said = work()
    failed = [trial for trial in SiteFile("site.db").trials() if trial.status == Status.FAILED]
    assert failed and said.count(": failed, it ended with exit code 3; see work/failed-") == len(failed)
    assert all((plant / trial.note.rpartition("see ")[2]).is_dir() for trial in failed)
    best = cboc.join(storage="site.db").best
    assert f"best so far {best.y:.6g}." in said


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\necho no licence >&2; exit 7", "it ended with exit code 7, saying 'no licence'; see work/failed-"),
        ("#!/bin/sh\necho rubbish: 12:30", "'12:30' is not a plain number"),
        ("#!/usr/bin/env python3\nimport no_such_module", "No module named 'no_such_module'"),
        ("#!/bin/sh\nsleep 30", "it did not end within 0.2 s"),
    ],
)
def test_a_program_that_is_set_up_wrongly_does_not_cost_a_night(plant, program, reason):
    (plant / "study.toml").write_text(STUDY.replace('"none"', '"0.2 s"' if "sleep" in program else '"60 s"'))
    (plant / "solver").write_text(program)
    said = " ".join(work(code=2).split())
    assert "the first 3 runs of 'plant' have all failed, the last one so: " in said and reason in said
    assert "correct that, and start this again; --keep-going goes on." in said
    trials = SiteFile("site.db").trials()
    assert [trial.status for trial in trials] == ["failed"] * 3 and reason in trials[2].note
    assert "the first run of 'plant' has failed" in " ".join(work("--most", "1", code=2).split())
    (plant / "solver").write_text(SOLVER)
    assert "3 of 3 experiments" in work("--keep-going")  # mended, it goes on


def test_a_program_that_fails_at_first_or_now_and_then_is_not_stopped(plant):
    (plant / "solver").write_text(
        "#!/usr/bin/env python3\nimport sys, pathlib\nlog = pathlib.Path(sys.argv[1], 'log')\n"
        "count = len(log.read_text()) if log.exists() else 0\nlog.write_text('x' * (count + 1))\n"
        "sys.exit(1) if count in (0, 1, 3, 4, 5) else print(count)\n"
    )
    assert work().count(": failed, ") == 5


def test_going_on_regardless_has_to_be_asked_for(plant):
    (plant / "solver").write_text("#!/bin/sh\nexit 7")
    assert work("--keep-going").count(": failed, it ended with exit code 7") == 7


@pytest.mark.usefixtures("plant")
def test_before_long_work_its_extent_is_said_and_then_how_long_it_takes(monkeypatch):
    ticks = iter(range(0, 10_000_000, 3600))
    monkeypatch.setattr("cboc.cli.work.monotonic", lambda: float(next(ticks)))
    said = work("--most", "4").splitlines()
    assert said[0].startswith("Up to 4 experiments to run")
    assert [line[line.index(" About") + 1 :] for line in said[1:4]] == [
        "About 3 h left.", "About 2 h left.", "About 60 min left.",
    ]  # fmt: skip
    assert "About" not in said[4]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("horizon = 3", "horizon = 4", "horizon is 4 here and 3 there"),
        ('name = "plant"', 'name = "plant"\ndirection = "minimise"', "has joined to maximise; correct its direction"),
        ("./solver", "./solve", "'plant': there is no program"),
        ('"{x}"', '"{y}"', "'plant': the command: the field {y} is not a parameter"),
        ("[site.program]", "[site.programme]", "unknown key 'programme'; did you mean 'program'?"),
        (STUDY[STUDY.index("[site.program]"):], "", "'plant': it has to say where outcomes come from"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_before_anything_is_asked_for(plant, old, new, sentence):
    (plant / "study.toml").write_text(STUDY.replace(old, new))
    assert sentence in work(code=2)
    assert SiteFile("site.db").trials() == []


def test_any_other_source_works_as_well(plant):
    (plant / "study.toml").write_text(STUDY[: STUDY.index("[site.program]")] + 'experiment = "lab.py:measure"\n')
    (plant / "lab.py").write_text("import cboc\ndef measure(design): return cboc.Measurement(design['x'], 0.1)\n")
    assert "best so far" in work("--most", "1")
    assert SiteFile("site.db").trials()[0].sem == 0.1


def limited(plant, most_cost):
    """A program that also says what it cost, and a site with a limit to that."""
    (plant / "study.toml").write_text(STUDY + "pattern = 'y (.*)'\ncost_pattern = 'hours (.*)'\n")
    (plant / "solver").write_text(
        SOLVER.replace("printf", 'printf "y "; printf') + "code=$?; echo; echo hours 2.5; exit $code"
    )
    cboc.join(storage="site.db", policy=Policy(initial=4, seed=3, most_cost=most_cost))


def test_work_ends_when_a_limit_to_costs_is_reached(plant):
    limited(plant, 7.0)
    _, *said = work().splitlines()
    assert len(said) == 4 and all(", cost 2.5)" in line for line in said[:3])
    assert "has finished: 0 of 3 experiments, 7.5 of 7 spent" in said[-1]
    assert [trial.cost for trial in SiteFile("site.db").trials()] == 3 * [2.5]


def test_work_says_that_a_limit_has_no_effect_where_nobody_tells_a_cost(plant):
    limited(plant, 7.0)
    (plant / "study.toml").write_text(STUDY + "pattern = 'y (.*)'\n")
    said = work()
    assert said.count("The limit of 7 has no effect: this experiment does not say what it cost") == 1
    assert "has finished: 3 of 3 experiments, 0 of 7 spent" in said
