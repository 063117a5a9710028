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
    assert len(work("--most", "2").splitlines()) == 2
    code, said = interrupted(plant, signal.SIGINT)
    assert code == 130 and said.startswith("Stopped; the same command goes on")
    assert interrupted(plant, signal.SIGKILL) == (-signal.SIGKILL, "")
    said = work().splitlines()
    assert said[0].startswith("Trial 2, 3 of 7 (x ") and "plant' has finished: 3 of 3 turns" in said[-1]
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
    said = work().splitlines()
    assert len(said) == 4 and all(", cost 2.5)" in line for line in said[:3])
    assert "has finished: 0 of 3 turns, 7.5 of 7 spent" in said[-1]
    assert [trial.cost for trial in SiteFile("site.db").trials()] == 3 * [2.5]


def test_work_says_that_a_limit_has_no_effect_where_nobody_tells_a_cost(plant):
    limited(plant, 7.0)
    (plant / "study.toml").write_text(STUDY + "pattern = 'y (.*)'\n")
    said = work()
    assert said.count("The limit of 7 has no effect: this experiment does not say what it cost") == 1
    assert "has finished: 3 of 3 turns, 0 of 7 spent" in said
