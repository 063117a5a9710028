"""The command line, most of it in this process; what has to survive signals, in a real one."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import cboc
from cboc.cli.app import app
from cboc.errors import CbocError
from cboc.evidence import demo
from cboc.runs.compare import compare
from cboc.runs.run import Run, begin
from cboc.runs.simulation import simulate
from cboc.site.trial import Status
from cboc.storage.journal import read_journal
from cboc.storage.lock import only_writer
from cboc.strategy.guide.decision import UNDRAWN
from cboc.studyfile import read, template

from ..storage.tampering import reseal_lines

FROZEN = Path(__file__).parent.parent / "frozen"
STUDY = """
[study]
name = "two labs"
horizon = 4
initial = 3
[[site]]
name = "a"
direction = "minimise"
problem = "levy-2"
noise = 0.1
[[site]]
name = "b"
direction = "minimise"
problem = "levy-2"
scale = 2.0
"""

SLOW = """
[study]
name = "slow"
horizon = 5
initial = 3
rule = "leader"
[space]
T = [20, 90]
p = [1, 9]
[[site]]
name = "a"
direction = "maximise"
experiment = "lab.py:measure"
[[site]]
name = "b"
direction = "minimise"
experiment = "lab.py:measure"
"""
LAB = """
import time

def measure(x):
    print("measuring")
    time.sleep(0.03)
    return (x["T"] - 50) ** 2 + x["p"]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of two seeds, together and alone."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.toml").write_text(STUDY)
    result = call("simulate", folder / "study.toml", "--out", folder / "run", "--seeds", 2, "--format", "json")
    assert result.exit_code == 0, result.output
    return folder / "run", json.loads(result.stdout)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def sentence(result):
    """The one sentence of a user's mistake."""
    assert result.exit_code == 2 and result.stdout == ""
    assert "Traceback" not in result.stderr and result.stderr.count("\n") == 1
    return result.stderr


# --------------------------------------------------------------------------------------------------- in this process


def test_without_arguments_it_explains_itself():
    text = call().output
    assert all(command in text for command in ("init", "simulate", "best", "advise", "export", "plot", "demo"))


@pytest.mark.parametrize("command", [command for command in get_command(app).commands if command != "evidence"])
def test_the_help_of_every_command_has_an_example(command):
    parts = ("people", "add") if command == "people" else (command,)
    text = re.sub(r"\s+", " ", call(*parts, "--help").output)
    assert re.search(rf"Examples?:.*cboc {' '.join(parts)}", text)


def test_the_library_itself_needs_none_of_this():
    code = "import cboc, sys; print({'typer', 'rich', 'matplotlib', 'pandas'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_version():
    assert call("--version").stdout == f"cboc {cboc.__version__}\n"


def test_init_writes_the_template_and_does_not_overwrite(here):
    assert call("init").stderr == "Wrote study.toml; run it with cboc simulate study.toml --seeds 8.\n"
    assert (here / "study.toml").read_text(encoding="utf-8") == template()
    (here / "study.toml").write_text("mine")
    assert sentence(call("init")) == "study.toml exists already; --force overwrites it.\n"
    assert (here / "study.toml").read_text() == "mine"
    assert call("init", "--force").exit_code == 0
    assert (here / "study.toml").read_text(encoding="utf-8") == template()
    assert sentence(call("init", "no/study.toml")) == "cannot read or write no/study.toml: No such file or directory.\n"


def test_init_writes_the_pace_that_is_asked_for(here):
    assert call("init", "--pace", "rounds").exit_code == 0
    assert read(here / "study.toml").study.pace.name == "rounds"
    assert call("init", "--force").exit_code == 0
    assert read(here / "study.toml").study.pace.name == "free"
    assert sentence(call("init", "--force", "--pace", "quick")) == "'quick' is not a pace; known: rounds, free.\n"


def test_the_comment_beside_the_pace_that_init_writes_is_about_that_pace():
    for pace, words in (("free", "nobody waits"), ("rounds", "everybody waits for everybody (the paper)")):
        (line,) = [line for line in template(pace).splitlines() if line.lstrip("# ").startswith("pace = ")]
        assert f'pace = "{pace}"' in line and words in line
        assert (line[0] == "#") == (pace == "free")
    assert template("free").count("\n") == template("rounds").count("\n")


def test_the_help_of_simulate_names_what_the_study_file_says_about_time_plates_and_costs():
    text = call("simulate", "--help").output
    assert all(word in text for word in ("pace", "plate", "same", "duration", "most_cost"))


def test_a_mistake_in_the_study_is_one_sentence_on_stderr(here):
    (here / "study.toml").write_text(STUDY.replace("horizon", "horizn"))
    assert "did you mean 'horizon'?" in sentence(call("simulate", "study.toml"))
    assert "there is no file nothing.toml" in sentence(call("simulate", "nothing.toml"))
    assert "is not the directory of a run" in sentence(call("best", here))


def test_the_journals_of_simulate_are_those_of_the_library(finished):
    directory, _ = finished
    file = read(directory.parent / "study.toml").with_seed(1)
    for how, study in (("together", file), ("alone", file.alone())):
        expected = simulate(**study.arguments)
        assert Run(directory).history(how, 1).trials == expected.trials


TIMED = (
    STUDY.replace("horizon = 4", 'horizon = 4\npace = "rounds"\nquorum = 2\ndeadline = "1 d"')
    .replace('name = "a"', 'name = "a"\nduration = 1')
    .replace('name = "b"', 'name = "b"\nduration = 3')
)


def test_who_works_alone_waits_for_nobody_also_in_rounds(here):
    (here / "study.toml").write_text(TIMED)
    assert call("simulate", "study.toml", "--out", "run").exit_code == 0
    run = Run(here / "run")
    times = {how: [(t.began, t.ended) for t in run.history(how, 0).of("a")] for how in ("together", "alone")}
    assert times["alone"] == [(float(k), k + 1.0) for k in range(7)]
    assert times["together"] == [(0, 1), (1, 2), (2, 3), (9, 10), (12, 13), (15, 16), (18, 19)]


def test_a_run_in_which_who_works_alone_has_waited_is_read_but_not_continued(here):
    (here / "study.toml").write_text(TIMED)
    file = read(here / "study.toml")
    run = begin(here / "run", file, is_resumed=False, is_fresh=False)
    simulate(**file.arguments, journal=run.journal("together", 0))
    before = replace(file, study=replace(file.study, rule="identity", shares_best=False))  # as it was
    simulate(**before.arguments, journal=run.journal("alone", 0))
    assert call("best", "run").exit_code == 0
    said = sentence(call("simulate", "study.toml", "--out", "run", "--resume"))
    assert "a site alone waited for the slowest" in said and "--fresh" in said
    assert call("simulate", "study.toml", "--out", "run", "--resume", "--no-alone").exit_code == 0
    assert call("simulate", "study.toml", "--out", "run", "--fresh").exit_code == 0


def test_a_limit_to_costs_in_the_study_file_ends_a_simulated_site(here):
    (here / "study.toml").write_text(SLOW.replace("horizon = 5", "horizon = 5\nmost_cost = 10"))
    (here / "lab.py").write_text(
        "import cboc\ndef measure(x): return cboc.Measurement((x['T'] - 50) ** 2 + x['p'], cost=2.5)\n"
    )
    assert call("simulate", "study.toml", "--out", "run").exit_code == 0
    rows = json.loads(call("export", "run", "--format", "json").stdout)
    assert len(rows) == 16 and {row["cost"] for row in rows} == {2.5}
    advice = " ".join(call("advise", "run", "--site", "a").stdout.split())
    assert "Your budget is spent." in advice and "4 experiments cost 10, 2.5 each. The limit of 10 is" in advice
    (here / "study.toml").write_text(SLOW.replace("horizon = 5", "horizon = 5\nmost_cost = 12"))
    assert "it differs in: most_cost" in sentence(call("simulate", "study.toml", "--out", "run", "--resume"))
    (here / "lab.py").write_text(LAB)
    said = call("simulate", "study.toml", "--out", "other")
    assert said.exit_code == 2 and "most_cost = 12 has no effect where an experiment does not say" in said.stderr


@pytest.mark.parametrize("command", ["export", "plot", "report"])
def test_a_file_that_is_neither_a_run_nor_a_site_s_is_named(here, command):
    (here / "notes.txt").write_text("hello")
    assert "notes.txt" in sentence(call(command, "notes.txt"))


def test_the_table_compares_the_best_of_both(finished):
    directory, rows = finished
    run = Run(directory)
    ends = {
        how: [[history.best_so_far(site)[-1] for history in run.histories(how)] for site in ("a", "b")]
        for how in ("together", "alone")
    }
    for k, row in enumerate(rows):
        together, alone = np.array(ends["together"][k]), np.array(ends["alone"][k])
        assert row["best together"] == pytest.approx(together.mean())
        assert row["best alone"] == pytest.approx(alone.mean())
        assert row["gain"] == pytest.approx((alone - together).mean())  # minimised: lower is better
        assert 0 <= row["experiments alone took"] <= 4


def test_a_gain_is_positive_where_together_is_better_and_rounds_count_to_alone_s_end():
    """Alone ends at 1, in round 2; together is there in round 1 and ends at 0.5."""
    design = {"together": iter([4, 1, 0.5]), "alone": iter([4, 2, 1])}

    def history(how):
        study = cboc.Study({"x": (0, 1)}, ("a",), 2, pace="rounds")
        return simulate(study, {"a": lambda _: next(design[how])}, direction="minimise", policy=cboc.Policy(initial=1))

    (row,) = compare([history("together")], [history("alone")])
    assert row == {
        "site": "a",
        "best alone": 1.0,
        "best together": 0.5,
        "gain": 0.5,
        "experiments to match alone": 1.0,
        "experiments alone took": 2.0,
    }


def test_an_existing_run_is_neither_overwritten_nor_mixed_with_another(finished, here):
    directory, _ = finished
    study = directory.parent / "study.toml"
    assert "--resume continues it, --fresh starts it anew." in sentence(call("simulate", study, "--out", directory))
    (here / "other.toml").write_text(STUDY + "\n[space]\nx1 = [0, 1]\nx2 = [0, 1]\n")
    refused = sentence(call("simulate", "other.toml", "--out", directory, "--resume"))
    assert "was begun with another study file (it differs in: space)" in refused
    (here / "notes.txt").write_text("mine")
    assert "holds other files, not a run" in sentence(call("simulate", study, "--out", here, "--fresh"))
    assert (here / "notes.txt").read_text() == "mine"
    assert "give only one of them" in sentence(call("simulate", study, "--resume", "--fresh"))


def test_resuming_a_finished_run_changes_nothing_and_shows_the_same(finished):
    directory, rows = finished
    before = {path: path.read_bytes() for path in directory.glob("*.json*")}
    result = call(
        "simulate", directory.parent / "study.toml", "--out", directory, "--resume", "--seeds", 2, "--format", "json"
    )
    assert json.loads(result.stdout) == rows
    assert {path: path.read_bytes() for path in directory.glob("*.json*")} == before


def test_fresh_forgets_the_journals_and_nothing_else(here):
    (here / "study.toml").write_text(STUDY)
    file, directory = read("study.toml"), here / "run"
    begin(directory, file, is_resumed=False, is_fresh=False)
    (directory / "together-0.jsonl").write_text("{}\n")
    (directory / "notes.txt").write_text("mine")
    begin(directory, file, is_resumed=False, is_fresh=True)
    assert sorted(path.name for path in directory.iterdir()) == ["notes.txt", "run.json"]


def test_fresh_forgets_what_was_written_about_the_old_run_and_nothing_else(here):
    (here / "study.toml").write_text(STUDY)
    assert call("simulate", "study.toml", "--out", "run", "--no-alone").exit_code == 0
    assert call("plot", "run", "--kind", "matrix").exit_code == call("report", "run").exit_code == 0
    assert (here / "run/report.html").is_file() and (here / "run/plots/matrix.png").is_file()
    assert call("simulate", "study.toml", "--out", "run", "--no-alone", "--fresh").exit_code == 0
    assert {path.name for path in (here / "run").iterdir()} == {"run.json", "together-0.jsonl"}
    (here / "run/plots").mkdir()
    for name in ("run/plots/matrix.png", "run/plots/mine.png", "run/report.html", "run/report-of-mine.html"):
        (here / name).write_text("drawn")
    assert call("simulate", "study.toml", "--out", "run", "--no-alone", "--fresh").exit_code == 0
    kept = {path.name for path in (here / "run").rglob("*")}
    assert kept == {"run.json", "together-0.jsonl", "plots", "mine.png", "report-of-mine.html"}


def test_resuming_goes_on_with_the_seeds_of_the_run(finished, copy):
    """All that it was begun with, also those that had no journal yet when it was interrupted."""
    directory, rows = finished
    for path in copy.glob("*-1.jsonl"):
        path.unlink()
    resume = ("simulate", directory.parent / "study.toml", "--out", copy, "--resume", "--format", "json")
    result = call(*resume)
    assert json.loads(result.stdout) == rows and Run(copy).seeds("alone") == [0, 1]
    assert result.stderr.startswith(f"Going on with seeds 0 to 1 of {copy}; --seeds gives another number.\n")
    record = json.loads((copy / "run.json").read_text())
    del record["seeds"], record["checksum"]  # as written by an earlier version: what has begun counts
    (copy / "run.json").write_text(json.dumps(record))
    assert json.loads(call(*resume).stdout) == rows
    assert "Going on" not in call(*resume, "--seeds", 2).stderr


def test_a_line_under_the_table_says_what_it_shows(finished, here):
    directory, _ = finished
    several = call("simulate", directory.parent / "study.toml", "--out", directory, "--resume").stdout.splitlines()
    assert several[0].startswith("site") and len(several) == 1 + 2 + 1
    assert several[-1].startswith("Means over 2 seeds; of experiments, medians.")
    assert several[-1].endswith("±: its standard error; -: not reached.")
    (here / "study.toml").write_text(STUDY)
    result = call("simulate", "study.toml", "--out", "run")
    *_, meaning, warning = result.stdout.splitlines()
    assert meaning == "gain: positive if better together; experiments: without the initial ones; -: not reached."
    assert "±" not in result.stdout
    assert warning == "One seed says little; --resume --seeds 8 adds more."
    assert "cboc report, best, export or plot run." in result.stderr
    lonely = call("simulate", "study.toml", "--out", "lonely", "--no-alone").stdout.splitlines()
    assert lonely[-1] == warning and lonely[-2] == "experiments: without the initial ones."


def test_only_one_process_writes_a_journal(here, monkeypatch):
    monkeypatch.setattr("cboc.storage.lock.PATIENCE", 0.1)
    with (
        only_writer(here / "journal.jsonl"),
        pytest.raises(CbocError, match="another process is writing"),
        only_writer(here / "journal.jsonl"),
    ):
        pass


def test_advice_is_a_row_and_a_sentence_for_every_site(finished):
    directory, _ = finished
    table, *paragraphs = call("advise", directory).stdout.split("\n\n")
    assert table.count("\n") == 2 and [each[:3] for each in paragraphs] == ["a: ", "b: "]
    assert max(len(line) for each in paragraphs for line in each.splitlines()) <= 80  # a terminal's width
    (row,) = json.loads(call("advise", directory, "--site", "b", "--format", "json").stdout)
    rounds = [trial for trial in Run(directory).history("together", 0).of("b") if trial.turn is not None]
    assert (
        row["site"] == "b"
        and row["shared"] + row["own"] == len(rounds)
        and f"b: {row['advice']}" == " ".join(paragraphs[1].split())
    )
    best = [Run(directory).history(how, 0).best_so_far("b") for how in ("together", "alone")]
    assert row["mean gain"] == pytest.approx((best[1] - best[0])[1:].mean())  # both were run, and need no model
    better = "better" if row["mean gain"] > 0 else "worse"
    assert (
        f"Compared with the run alone: {better} on average over the experiments ({abs(row['mean gain']):.2g})"
        in row["advice"]
    )
    assert "This is the repetition with seed 0; there are 2" in call("advise", directory).stderr
    assert "has the seeds 0, 1; got 99" in sentence(call("advise", directory, "--seed", "99"))
    assert "is not a site of study" in sentence(call("advise", directory, "--site", "c"))


TOGETHER = """
[study]
horizon = 5
initial = 4
utility = "{}"
[space]
T = [20, 90]
p = [1, 9]
""" + "".join(f'[[site]]\nname = "{name}"\ndirection = "minimise"\nexperiment = "lab.py:{name}"\n' for name in "abcdef")
ALIKE = "def {}(x): return (x['T'] - {}) ** 2 / 100 + (x['p'] - {}) ** 2\n"  # optima that lie together


@pytest.mark.parametrize("utility", ["ei", "log_ei"])
def test_advice_says_where_the_guide_cannot_draw(here, utility):
    """The best designs of these sites lie together, but only a logarithm can be drawn to them: the site is told so."""
    (here / "study.toml").write_text(TOGETHER.format(utility))
    lab = "".join(ALIKE.format(name, 38 + k, 5.5 + 0.2 * k) for k, name in enumerate("abcdef"))
    (here / "lab.py").write_text(lab)
    assert call("simulate", "study.toml", "--out", "run", "--no-alone").exit_code == 0
    rows = json.loads(call("advise", "run", "--format", "json").stdout)
    together = [row for row in rows if (row["log odds"] or 0.0) > 4.0]  # who has run all of theirs has no odds
    assert len(rows) == 6 and len(together) >= 3
    for row in together:
        assert ("together, though " + UNDRAWN in row["advice"]) == (utility == "ei")


def test_advice_knows_what_was_measured_before(here):
    (here / "earlier.csv").write_text(
        "T,p,y\n" + "\n".join(f"{20 + 7 * k},{1 + k % 5},{-abs(7 * k - 30) / 10}" for k in range(9))
    )
    one(here, "return -abs(x['T'] - 50) / 10", 'data = "earlier.csv"\n')
    assert call("simulate", here / "study.toml", "--out", here / "run", "--no-alone").exit_code == 0
    run = Run(here / "run")
    (name,) = run.study.sites
    site = run.site(run.history("together", 0), name, 0)
    assert len(site.data) == 9 and np.isnan(site.data.sem).all() and len(site.dataset) > 9
    assert call("advise", here / "run").exit_code == 0


def test_advice_on_what_is_no_run(here, finished):
    assert "there is no" in sentence(call("advise", here / "nowhere"))
    (here / "run").mkdir()
    assert "is not the directory of a run" in sentence(call("advise", here / "run"))
    record = json.loads((finished[0] / "run.json").read_text())
    del record["checksum"]
    for name in ("together-0.jsonl", "run.json"):
        (here / "run" / name).write_bytes((finished[0] / name).read_bytes())
    for damaged in (record | {"surrogate": "none"}, {key: value for key, value in record.items() if key != "data"}):
        (here / "run" / "run.json").write_text(json.dumps(damaged))
        assert "run.json is damaged" in sentence(call("advise", here / "run"))


def test_best_is_the_best_trial_of_each_site(finished):
    directory, _ = finished
    rows = json.loads(call("best", directory, "--format", "json").stdout)
    assert [(row["site"], row["how"]) for row in rows] == [(s, h) for s in "ab" for h in ("together", "alone")]
    run = Run(directory)
    for row in rows:
        assert row["y"] == min(history.best_so_far(row["site"])[-1] for history in run.histories(row["how"]))
        source = run.history(row["how"], row["seed"])
        designs = [trial.design(source.study.space) for trial in source.of(row["site"]) if trial.y == row["y"]]
        assert {"x1": row["x1"], "x2": row["x2"]} in designs
        exported = json.loads(call("export", directory, "--format", "json").stdout)
        same = [t for t in exported if all(t[key] == row[key] for key in ("site", "how", "seed", "y"))]
        assert row["turn"] in [t["turn"] for t in same]
        kinds = {trial.kind for trial in source.of(row["site"]) if trial.y == row["y"]}
        assert row["design"] in kinds and (row["how"] == "together" or row["design"] != "shared")


@pytest.mark.parametrize("to_file", [False, True])
def test_export_has_a_row_for_every_trial(finished, here, to_file):
    directory, _ = finished
    result = call("export", directory, *(("--output", "trials.csv") if to_file else ()))
    text = (here / "trials.csv").read_text() if to_file else result.stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 2 * 2 * 2 * (3 + 4)  # ways, seeds, sites, trials
    assert result.stdout == "" or not to_file
    first = Run(directory).history("together", 0).trials[0]
    assert float(rows[0]["y"]) == first.y and rows[0]["how"] == "together" and rows[0]["explanation"]


def test_export_as_json_is_json_and_as_a_table_is_for_people(finished):
    directory, _ = finished
    rows = json.loads(call("export", directory, "--format", "json").stdout)
    assert {row["status"] for row in rows} == {"complete"}
    assert call("export", directory, "--format", "table").stdout.startswith("how")


def test_plot_writes_every_picture(finished, here):
    directory, _ = finished
    result = call("plot", directory, "--output", here / "pictures")
    kinds = ("progress", "paths", "matrix", "moves", "gain", "importance", "predicted", "slices", "contours")
    names = [f"{kind}.png" for kind in kinds]
    assert result.stdout.split() == [str(here / "pictures" / name) for name in names]
    assert all((here / "pictures" / name).read_bytes().startswith(b"\x89PNG") for name in names)


def test_without_matplotlib_plot_names_the_extra(finished, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install '.[plot]'" in sentence(call("plot", finished[0], "--kind", "matrix", "--output", here))
    assert "pip install '.[plot]'" in sentence(call("demo", "--out", here))  # and at once


def test_gaps_are_of_noiseless_outcomes(finished):
    run = Run(finished[0])
    history = run.noiseless(run.history("together", 0))
    exact = run.problems["a"]
    assert all(trial.y == exact(trial.design(history.study.space)) for trial in history.of("a"))
    assert run.optima == {"a": 0.0, "b": pytest.approx(0.0, abs=1e-8)}


# ------------------------------------------------------------------------------------------- what users and disks do


ONE = """
[study]
horizon = 2
initial = 3
[space]
T = [20, 90]
p = [1, 9]
[[site]]
name = "[red] lab"
direction = "maximise"
experiment = "lab.py:measure"
"""


def one(folder, code, extra=""):
    """A study of one site."""
    (folder / "study.toml").write_text(ONE + extra)
    (folder / "lab.py").write_text(f"import sys\nimport cboc\n\ndef measure(x):\n    {code}\n")


@pytest.fixture
def copy(finished, here):
    """A run to be damaged."""
    shutil.copytree(finished[0], here / "run")
    return here / "run"


def test_best_counts_results_from_before_the_study(here):
    (here / "earlier.csv").write_text("T,p,y\n30,2,99\n40,3,1\n")
    one(here, "return -abs(x['T'] - 50) / 10", 'data = "earlier.csv"\n')
    simulated = call("simulate", "study.toml", "--out", "run", "--format", "json")
    assert json.loads(simulated.stdout)[0]["best together"] == 99.0
    together, alone = json.loads(call("best", "run", "--format", "json").stdout)
    assert {key: together[key] for key in ("y", "T", "p", "turn")} == {"y": 99.0, "T": 30.0, "p": 2.0, "turn": None}
    assert together["design"] == "before the study" and alone == together | {"how": "alone"}
    assert "[red] lab" in call("best", "run").stdout  # a name is a name, not markup


def test_where_no_experiment_has_succeeded_nobody_is_told_of_a_gain(here):
    one(here, "raise cboc.ExperimentFailed('no')", ONE[ONE.index("[[site]]") :].replace("[red] lab", "other"))
    assert call("simulate", "study.toml", "--out", "run", "--keep-going").exit_code == 0
    said = {"mean gain": None, "advice": "Nothing to judge by yet: you have no outcome."}
    rows = json.loads(call("advise", "run", "--format", "json").stdout)
    assert len(rows) == 2 and all(said.items() <= row.items() for row in rows)


@pytest.mark.usefixtures("here")
def test_nothing_that_is_not_there_is_taken_for_an_unfinished_run():
    for command in ("plot", "export", "advise", "best"):
        assert "there is no nowhere; name a site's own file, or the dir" in sentence(call(command, "nowhere"))
    for command in ("advise", "best"):
        refused = sentence(call(command))
        assert "there is no site file site.db here" in refused and "the directory of a run" in refused


def test_where_no_experiment_has_succeeded_best_says_so_and_plot_draws_the_rest(here):
    one(here, "raise cboc.ExperimentFailed('no')")
    assert call("simulate", "study.toml", "--out", "run", "--keep-going").exit_code == 0
    assert "no experiment has succeeded so far" in sentence(call("best", "run"))
    result = call("plot", "run")
    assert result.exit_code == 0 and "progress (no experiment has succeeded so far)" in result.stderr
    assert "run/plots/matrix.png" in result.stdout.split()


@pytest.mark.parametrize("code", ["sys.exit(3)", "return float('nan')", "return (1.0, float('inf'))"])
def test_an_experiment_that_ends_the_program_or_returns_no_number_is_one_sentence(here, code):
    one(here, code)
    refused = sentence(call("simulate", "study.toml", "--out", "run"))
    assert "site '[red] lab': " in refused and "lab.py:measure" in refused and "raise cboc.ExperimentFailed" in refused
    assert "fail(trial)" not in refused and ("called sys.exit(3) (lab.py, line 5)" in refused) == ("exit" in code)


def test_a_module_that_ends_the_program_is_one_sentence(here):
    one(here, "return 1")
    (here / "lab.py").write_text("import sys\nsys.exit()\n")
    refused = sentence(call("simulate", "study.toml"))
    assert refused == "study.toml, [[site]] '[red] lab': cannot import lab.py: it called sys.exit().\n"


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense", '{"study": {}}'])
@pytest.mark.parametrize("command", ["best", "export", "plot", "simulate"])
def test_a_damaged_record_is_one_sentence(copy, finished, command, content):
    (copy / "run.json").write_text(content)
    resume = (finished[0].parent / "study.toml", "--out", copy, "--resume")
    assert "run.json" in sentence(call(command, *(resume if command == "simulate" else [copy])))


def test_a_record_with_an_empty_study_is_one_sentence(copy):
    record = json.loads((copy / "run.json").read_text()) | {"study": {}}
    del record["checksum"]
    (copy / "run.json").write_text(json.dumps(record))
    assert "run.json is damaged" in sentence(call("best", copy))


def test_a_record_that_is_not_as_it_was_written_is_one_sentence(copy):
    path = copy / "run.json"
    record = json.loads(path.read_text())
    for changes in ({"gate": 0.2}, {"earlier": {"lab-a": 3.0}}, {"seeds": record["seeds"] + 1}, {"checksum": "0"}):
        path.write_text(json.dumps(record | changes))
        assert "run.json is damaged" in sentence(call("export", copy))
    path.write_text(json.dumps(record))
    assert call("export", copy).exit_code == 0


def test_what_a_run_writes_is_for_its_owner_alone(finished):
    assert {path.stat().st_mode & 0o777 for path in finished[0].glob("*.json*")} == {0o600}


@pytest.mark.parametrize("command", ["best", "export", "plot"])
@pytest.mark.parametrize("header", [{}, {"study": {}, "directions": {}}])
@pytest.mark.parametrize("format", [1, 2])
def test_a_journal_with_half_a_header_is_one_sentence(copy, command, format, header):
    (copy / "alone-0.jsonl").write_text(json.dumps({"format": format, **header}) + "\n")
    assert "alone-0.jsonl is damaged" in sentence(call(command, copy))


@pytest.mark.parametrize("value", ['"abc"', "NaN", "true", "1e999", "[1]"])
def test_an_outcome_that_is_no_number_is_a_damaged_line(copy, value):
    journal = copy / "together-0.jsonl"
    lines = journal.read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if '"mean"' in line)
    lines[place] = re.sub(r'"mean": [^,}]+', f'"mean": {value}', lines[place])
    journal.write_text("\n".join(lines) + "\n")
    assert f"together-0.jsonl, line {place + 1} is damaged" in sentence(call("best", copy))


def test_files_that_are_not_ours_are_left_alone(copy, finished):
    for name in ("alone-x.jsonl", "together-01.jsonl", "together-.jsonl"):
        (copy / name).write_text("mine")
    assert call("best", copy).stdout == call("best", finished[0]).stdout
    begin(copy, read(finished[0].parent / "study.toml"), is_resumed=False, is_fresh=True)
    assert len(list(copy.glob("*.jsonl"))) == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full disk")
def test_a_full_disk_is_one_sentence(finished):
    full = "cannot write: No space left on device; free some space or choose another place.\n"
    assert sentence(call("export", finished[0], "--output", "/dev/full")) == full
    assert sentence(call("init", "/dev/full", "--force")) == full
    for arguments in (["export", str(finished[0])], ["--version"], ["--help"]):
        command = [sys.executable, "-c", "from cboc.cli.app import main; main()", *arguments]
        with open("/dev/full", "w") as stdout:
            result = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True)
        assert (result.returncode, result.stderr) == (2, full)


def test_plot_before_the_first_round_draws_what_there_is_and_names_the_rest(copy):
    for journal in copy.glob("*.jsonl"):
        lines = journal.read_text().splitlines()
        journal.write_text("".join(f"{line}\n" for line in lines if '"turn"' not in line))
        reseal_lines(journal)
    assert {trial.status for trial in Run(copy).history("together", 0).trials} == {Status.COMPLETE}
    result = call("plot", copy)
    assert result.exit_code == 0, result.output
    drawn = ("progress", "paths", "importance", "predicted", "slices", "contours")
    assert result.stdout.split() == [str(copy / "plots" / f"{kind}.png") for kind in drawn]
    assert result.stderr.startswith("Left out: ") and result.stderr.count("\n") == 1
    assert "matrix and moves (no proposal has been answered yet)" in result.stderr and "gain (no" in result.stderr
    assert "matrix (no proposal has been answered yet)" in sentence(call("plot", copy, "--kind", "matrix"))


# ------------------------------------------------------------------------------------------------------------ demo


def test_the_sites_of_the_demo_have_their_optima_where_they_say_and_not_in_the_centre():
    optima = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for problem in demo.displaced_sites(rng):
            assert problem.known_optimum is not None
        optimum = demo.REACH * np.random.default_rng(seed).uniform(-10.0, 10.0, demo.DIMENSION)
        optima.append(optimum)
    assert np.abs(np.mean(optima, axis=0)).max() < 3.0 < np.std(optima)
    rng = np.random.default_rng(0)
    problem = demo.displaced_sites(rng)[0]
    nearby = problem.space.sample(2000, rng)
    assert problem.values(nearby).min() > problem.optimum


def curves(*levels):
    """Gap curves (seeds, sites, rounds + 1) that rise to a level each."""
    return np.array([[level * np.linspace(0, 1, demo.ROUNDS + 1)] * demo.SITES for level in levels])


def test_the_demo_reports_a_gain_a_loss_and_nothing_as_what_they_are():
    high, low = curves(1.0, 0.8, 0.9), curves(0.45, 0.35, 0.4)
    assert demo.finding(high, low) == "Together, 9 rounds were enough on average for what took 20 alone"
    assert demo.finding(low, high).startswith("Together did worse than alone: area under the curve -0.")
    assert demo.finding(high, curves(0.8, 1.0, 0.9)).startswith("No clear difference")
    assert demo.finding(high[:1], low[:1]).startswith("One seed, which says little")


def test_the_demo_measures_mean_worst_and_rounds():
    rows = {row[""]: row for row in demo.measures(curves(0.9, 0.9), curves(0.5, 0.5))}
    assert rows["mean Gap at the end"] == {
        "": "mean Gap at the end",
        "together": "0.90",
        "alone": "0.50",
        "difference": "+0.40 ± 0.00",
    }
    assert rows["rounds to a Gap of 0.8 (20 if never)"]["alone"] == "20.00"
    assert rows["rounds to a Gap of 0.8 (20 if never)"]["together"] == "18.00"


def test_demo_prints_a_table_and_draws_one_picture(here, monkeypatch):
    monkeypatch.setattr(
        demo, "race_all", lambda seeds, _: (curves(*[0.9, 0.8] * seeds)[:seeds], curves(*[0.5, 0.3] * seeds)[:seeds])
    )
    result = call("demo", "--out", "pictures", "--seeds", 2)
    assert result.exit_code == 0, result.output
    assert result.stdout.rstrip().endswith("Picture: pictures/cboc-demo.png") and "2 seeds" in result.stdout
    assert (here / "pictures" / "cboc-demo.png").exists()


# ------------------------------------------------------------------------------------------------- in a real process


@contextmanager
def process(*arguments):
    """`cboc ...` in a session of its own, as a terminal would start it."""
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell's '&' ignores Ctrl-C
    command = [sys.executable, "-c", f"{listen}; from cboc.cli.app import main; main()", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()


INTERRUPTED_AT = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
runpy.run_module("cboc", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["cboc.cli.app", "cboc.cli.evidence", "rich.console"])
def test_ctrl_c_while_the_command_is_being_loaded_is_quiet(module):
    code = INTERRUPTED_AT.format(module=module)
    ran = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")


def test_ctrl_c_in_a_command_with_nothing_to_say_about_it_is_quiet(monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("cboc.cli.app.Run", interrupt)
    result = call("best", Path(__file__).parent)
    assert (result.exit_code, result.output) == (130, "")


def wait_for_lines(journal, count):
    deadline = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, "the journal does not grow"
        time.sleep(0.01)


def latest_trials(directory):
    return {path.name: read_journal(path)[1] for path in sorted(directory.glob("*.jsonl"))}


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A study of slow experiments, and what an uninterrupted run of it gives."""
    folder = tmp_path_factory.mktemp("slow")
    (folder / "study.toml").write_text(SLOW)
    (folder / "lab.py").write_text(LAB)
    result = call("simulate", folder / "study.toml", "--out", folder / "whole", "--no-alone")
    assert result.exit_code == 0, result.output
    return folder / "study.toml", latest_trials(folder / "whole")


def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(slow, here):
    study, whole = slow
    for lines in (6, 20):
        with process("simulate", study, "--out", here / "run", "--no-alone", "--resume") as running:
            wait_for_lines(here / "run" / "together-0.jsonl", lines)
            os.kill(running.pid, signal.SIGKILL)
    journal = here / "run" / "together-0.jsonl"
    with only_writer(journal), journal.open("a") as file:
        file.write('{"site": "a", "num')  # what a kill in the middle of a line leaves
    with process("simulate", study, "--out", here / "run", "--no-alone", "--resume", "--format", "json") as running:
        stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 0, stderr
    assert latest_trials(here / "run") == whole
    assert [row["site"] for row in json.loads(stdout)] == ["a", "b"]  # and what experiments print is not in there


def test_ctrl_c_keeps_what_was_done_and_says_how_to_continue(slow, here):
    study, whole = slow
    with process("simulate", study, "--out", here / "run", "--no-alone") as running:
        wait_for_lines(here / "run" / "together-0.jsonl", 8)
        os.killpg(running.pid, signal.SIGINT)
        stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130 and stdout == "" and "Traceback" not in stderr
    command = stderr.partition("Continue with: cboc ")[2].split()
    assert command == ["simulate", str(study), "--out", str(here / "run"), "--no-alone", "--resume"]
    assert call(*command).exit_code == 0
    assert latest_trials(here / "run") == whole
