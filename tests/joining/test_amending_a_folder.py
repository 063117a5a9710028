"""A study in a shared folder is amended by its sites, each with its own files and by its commands."""

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Changed, Finished, Policy, Study
from cboc.cli.app import app
from cboc.storage.sitefile import SiteFile

SPACE = {"a": (0.0, 1.0)}
TOML = """
[study]
name = "ours"
horizon = {horizon}
pace = "{pace}"
deadline = "none"
{more}
[space]
a = {{low = 0, high = 1}}
"""


def written(path, pace="free", horizon=10, sites=("x", "y"), more=""):
    names = "".join(f'[[site]]\nname = "{site}"\n' for site in sites)
    text = TOML.format(horizon=horizon, pace=pace, more=more) + names
    path.write_text(text if pace == "rounds" else text.replace('deadline = "none"\n', ""))
    return path


@pytest.fixture
def at(tmp_path, monkeypatch):
    """`at("x", "ask")`: a command at a site; returns all that it says."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shared").mkdir()

    def call(site, *command, code=0):
        result = CliRunner().invoke(app, [*map(str, command), "--file", f"{site}.db"])
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return call


def join(at, site, *more, study=None):
    given = () if study is None else ("--study", study)
    return at(site, "join", "folder:shared", "--site", site, "--direction", "maximise", "--initial", 0, *given, *more)


def turn(*names):
    sites = [cboc.join(storage=f"{name}.db") for name in names]
    for site in sites:
        site.propose()
    for site in sites:
        trial = site.ask()
        site.tell(trial, 1.0 - (trial.x[0] - 0.4) ** 2)


@pytest.mark.parametrize("sealed", [(), ("--sealed",)], ids=["open", "sealed"])
@pytest.mark.parametrize("pace", ["rounds", "free"])
def test_a_site_is_admitted_at_round_5_of_10(at, tmp_path, pace, sealed):
    for site in ("x", "y"):
        join(at, site, *sealed, study=written(tmp_path / "study.toml", pace))
    for _ in range(5):
        turn("x", "y")
    changed = written(tmp_path / "study.toml", pace, sites=("x", "y", "z"))
    with pytest.raises(CbocError, match="'z' is not a site"):
        cboc.join("folder:shared", site="z", storage="z.db", direction="maximise")
    said = at("x", "amend", changed, "--yes")
    assert "'z' is admitted" in said and "in force when y has done the same, with the same study file" in said
    assert "a change is proposed x: 'z' is admitted" in at("y", "status")
    turn("x", "y")  # it stops nobody
    assert "Signed by all stewards: it is in force" in at("y", "amend", changed, "--yes")
    join(at, "z", *sealed)
    for _ in range(4):
        turn("x", "y", "z")  # who has signed is not asked again
    sites = [cboc.join(storage=f"{name}.db") for name in ("x", "y", "z")]
    assert [len(trial.answer.weights) for trial in sites[0].trials] == [2] * 6 + [3] * 4
    assert all(min(trial.answer.weights) > 0.0 for trial in sites[2].trials)
    assert "version 1 'z' is admitted" in at("x", "status")
    with pytest.raises(Finished):
        sites[1].ask()
    about = SiteFile("z.db").about
    assert len(about["agreements"]) == 1 and about["agreement"]["version"] == 1
    assert '"act": "amend"' in at("x", "audit", "--format", "csv").replace('""', '"')


def test_one_steward_signs_and_the_others_accept(at, tmp_path):
    file = written(tmp_path / "study.toml", more='stewards = ["x"]')
    for site in ("x", "y"):
        join(at, site, study=file)
    turn("x", "y")
    changed = written(file, horizon=12, more='stewards = ["x"]')
    assert "is signed by x; you accept it then" in at("y", "amend", changed, "--yes", code=2)
    assert "Signed by all stewards" in at("x", "amend", changed, "--yes")
    assert "a change waits the horizon grows from 10 to 12" in at("y", "status")
    with pytest.raises(Changed, match="the horizon grows from 10 to 12"):
        cboc.join(storage="y.db").ask()
    for _ in range(2):
        turn("x")  # nobody waits for y
    at("y", "accept", "--yes")
    assert "Nothing to accept" in at("y", "accept", "--yes")
    turn("y", "x")
    assert "12" in at("y", "status")
    assert "is agreed exactly so" in at("x", "amend", changed, "--yes", code=2)
    said = at("x", "move", "https://127.0.0.1:1", "code", code=2)
    assert "does not move between a coordinator and feeds then: go on" in said and "cboc join --data" in said


def test_a_study_that_was_amended_moves_to_another_folder(at, tmp_path):
    file = written(tmp_path / "study.toml", "rounds")
    for site in ("x", "y"):
        join(at, site, study=file)
    turn("x", "y")
    changed = written(file, "rounds", sites=("x", "y", "z"))
    at("x", "amend", changed, "--yes"), at("y", "amend", changed, "--yes")
    join(at, "z")
    turn("x", "y", "z")
    (tmp_path / "other").mkdir()
    for site in ("z", "x", "y"):
        at(site, "move", "folder:other")
    (tmp_path / "shared").rename(tmp_path / "away")
    turn("x", "y", "z")
    for site in ("x", "z"):
        assert min(cboc.join(storage=f"{site}.db").trials[-1].answer.weights) > 0.0


def test_the_horizon_is_extended_after_everybody_has_finished(at, tmp_path):
    file = written(tmp_path / "study.toml", "rounds", horizon=1)
    for site in ("x", "y"):
        join(at, site, study=file)
    turn("x", "y")
    for site in ("x", "y"):
        at(site, "ask", code=4)
    changed = written(file, "rounds", horizon=2)
    at("x", "amend", changed, "--yes"), at("y", "amend", changed, "--yes")
    turn("x", "y")
    at("x", "ask", code=4)


def test_a_kill_between_keeping_and_saying_loses_nothing(at, tmp_path, monkeypatch):
    file = written(tmp_path / "study.toml", "rounds", more='stewards = ["x"]')
    for site in ("x", "y"):
        join(at, site, study=file)
    at("x", "amend", written(file, "rounds", horizon=12, more='stewards = ["x"]'), "--yes")
    y = cboc.join(storage="y.db")
    y.offered()
    with monkeypatch.context() as patch:
        patch.setattr(y.network, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            y.accept()
    turn("x", "y")
    y = cboc.join(storage="y.db")
    assert y.study.version == 1 and y.network.feed.turns[0].study == y.study.digest


def test_by_stick(at, tmp_path):
    file = written(tmp_path / "study.toml", more='stewards = ["x"]')
    at("x", "join", "stick:", "--site", "x", "--study", file, "--direction", "maximise", "--initial", 0)
    at("x", "ask")
    at("x", "amend", written(file, sites=("x", "y", "z"), more='stewards = ["x"]'), "--yes")
    at("x", "feed", "export", "x.cboc")
    at("z", "join", "stick:x.cboc", "--site", "z", "--direction", "maximise", "--initial", 0)
    at("z", "ask")
    at("z", "feed", "export", "z.cboc")
    site = cboc.join(storage="x.db")
    site.tell(site.to_run[0], 1.0)
    at("x", "feed", "import", "z.cboc")
    at("x", "ask")
    assert min(cboc.join(storage="x.db").trials[-1].answer.weights[::2]) > 0.0


def test_a_study_in_python(tmp_path):
    (tmp_path / "shared").mkdir()
    agreed = Study(SPACE, ("x",), 1, name="ours", pace="rounds")
    x = cboc.join(
        f"folder:{tmp_path / 'shared'}",
        site="x",
        storage=tmp_path / "x.db",
        study=agreed,
        direction="maximise",
        policy=Policy(initial=0),
    )
    x.tell(x.ask(), 1.0)
    new = cboc.Study(SPACE, ("x",), 2, name="ours", pace="rounds", version=1)
    assert x.network.amend(new) == []
    with pytest.raises(Changed):
        x.ask()
    x.accept()
    x.tell(x.ask(), 1.0)
    assert x.turns == 2 and x.study.version == 1
