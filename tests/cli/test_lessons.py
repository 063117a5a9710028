"""`cboc plot` of what was learned: of a site's file and of a run, rebuilt without running anything again."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import cboc
from cboc.cli import pictures
from cboc.cli.app import app
from cboc.cli.pictures import Kind
from cboc.cli.view import View
from cboc.errors import CbocError
from cboc.insight import Learned
from cboc.insight.measured import Kind as Shape
from cboc.plots import terrain
from cboc.runs.course import OwnCourse
from cboc.runs.run import Run

STUDY = """[study]
name = "a study"
horizon = 3
initial = 4
[space]
T = {low = 20, high = 90, unit = "°C"}
p = {low = 1, high = 9}
solvent = {options = ["water", "ethanol"]}
[[site]]
name = "a"
direction = "max"
experiment = "lab.py:measure"
[[site]]
name = "b"
direction = "max"
experiment = "lab.py:measure"
"""
LAB = """import cboc
def measure(x):
    if x["T"] > 80:
        raise cboc.ExperimentFailed("too hot")
    return -abs(x["T"] - 50) / 10 - abs(x["p"] - 3) + (x["solvent"] == "water")
"""
LEARNED = (Kind.IMPORTANCE, Kind.PREDICTED, Kind.SLICES, Kind.CONTOURS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two sites with functions of their own, two seeds, together and alone."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "study.toml").write_text(STUDY)
    (folder / "lab.py").write_text(LAB)
    call("simulate", folder / "study.toml", "--out", folder / "run", "--seeds", 2)
    return folder / "run"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of a site that has joined."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "a", "--study", "study.toml", "--direction", "max", "--initial", 4)
    return tmp_path / "site.db"


def call(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2 and result.stdout == "" and result.stderr.count("\n") == 1, result.output
    return result.stderr


def title(figure):
    return figure.texts[0].get_text()


def test_of_a_run_it_is_the_first_site_and_seed_unless_others_are_named(run):
    before = {path.name: path.read_bytes() for path in run.glob("*.jsonl")}
    for view, whose in (
        (View(Run(run)), "a in a study, together, seed 0"),
        (View(Run(run), "b", 1), "b in a study, together, seed 1"),
    ):
        assert title(pictures.framed(view, Kind.SLICES)) == f"{whose}: slices"
        history = Run(run).history("together", view.seed or 0)
        told = [trial for trial in history.of(view.name) if trial.y is not None]
        assert view.learned.surface.dataset.y.tolist() == [trial.y for trial in told]
        kinds = [point.kind for point in view.learned.points if point.kind is not Shape.FAILED]
        assert kinds == [trial.kind for trial in told]
        assert len(view.learned.points) == len(history.of(view.name))
    assert {path.name: path.read_bytes() for path in run.glob("*.jsonl")} == before


def test_the_command_draws_the_site_that_it_is_told(run, tmp_path):
    drawn = call("plot", run, "--site", "b", "--seed", 1, "--output", tmp_path).stdout.split()
    names = [Path(line).stem for line in drawn]
    assert names == ["progress", "paths", "matrix", "moves", "gain", *map(str, LEARNED)]
    one = call("plot", run, "--kind", "importance", "--output", tmp_path / "first").stdout.split()
    assert Path(one[0]).read_bytes() != (tmp_path / "importance.png").read_bytes()


def test_who_is_not_there_is_refused_in_a_sentence(run, file):
    assert "'c'" in refused("plot", run, "--site", "c") and "has the seeds 0, 1; got 7" in refused(
        "plot", run, "--kind", "slices", "--seed", 7
    )
    assert "gain is a picture of all sites; leave --site out" in refused("plot", run, "--kind", "gain", "--site", "a")
    assert "site.db is one site with one history" in refused("plot", file.name, "--site", "a")


def test_too_few_experiments_are_one_sentence(file):
    site = cboc.join(storage=file)
    site.tell(site.ask(), 1.0)
    said = call("plot").stderr
    few = "importance, predicted, slices and contours (a: 1 outcome is too little to learn from; from 3 on there is"
    assert few in said and said.count("\n") == 1
    assert f"cannot draw site.db: slices ({few.partition('(')[2]}" in refused("plot", "--kind", "slices")


def test_a_file_says_what_is_expected_of_the_next_design(file):
    site = cboc.join(storage=file)
    for number in range(6):
        site.tell(site.ask(), float(number % 4))
    trial = site.ask()
    view = View(OwnCourse(site, file))
    expected = Learned.of(site).expected(trial.x)
    for kind in (Kind.SLICES, Kind.CONTOURS):
        caption = " ".join(pictures.framed(view, kind).get_supxlabel().split())
        assert f"Star: the next design, trial {trial.number}; {expected} is expected of it." in caption
        assert "From 6 outcomes, by the site's own model." in caption
    assert title(pictures.framed(view, Kind.IMPORTANCE)) == "a in a study: which parameter matters"
    assert view.learned.importance.sentence in " ".join(pictures.framed(view, Kind.IMPORTANCE).get_supxlabel().split())


def test_paths_are_on_contours_of_what_each_site_knows_over_the_two_that_matter_most(run):
    view = View(Run(run))
    assert {ground.source for ground in view.grounds.values()} == {terrain.OWN}
    figure = pictures.framed(view, Kind.PATHS)
    for site, ax in zip(("a", "b"), figure.axes, strict=False):
        learned = Learned.of(Run(run).site(Run(run).history("together", 0), site, 0))
        assert [ax.get_xlabel().partition(" ")[0], ax.get_ylabel().partition(" ")[0]] == list(learned.contours().names)
        np.testing.assert_array_equal(-view.grounds[site].cost, learned.contours().middle)
    caption = " ".join(figure.get_supxlabel().split())
    assert "Contours: the site's own surrogate, the best white." in caption and "Of 3 parameters the two" in caption


def test_asking_for_too_little_in_python_raises_the_sentence(file):
    site = cboc.join(storage=file)
    site.tell(site.ask(), 1.0)
    with pytest.raises(CbocError, match="1 outcome is too little"):
        _ = View(OwnCourse(site, file)).learned
