"""A study between peers is amended by its sites: their servers run all the time, and learn of it from their files."""

from contextlib import ExitStack

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Changed, Finished, Waiting
from cboc.cli.app import app
from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.arrival import between_peers

from ..machine.peers import code_of, feeds_beside, serving
from .test_amending_a_folder import turn, written


@pytest.fixture
def at(tmp_path, monkeypatch):
    """`at("x", "ask")`: a command at a site; returns all that it says."""
    monkeypatch.chdir(tmp_path)

    def call(site, *command, code=0):
        result = CliRunner().invoke(app, [*map(str, command), "--file", f"{site}.db"])
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return call


def join(at, site, study):
    at(site, "join", "peers:", "--site", site, "--study", study, "--direction", "maximise", "--initial", 0)


class Places:
    """Where the servers of the sites are, which run until the end of a test."""

    def __init__(self, path, stack):
        self.path, self.stack, self.urls, self.said = path, stack, {}, []

    def file(self, site):
        return feeds_beside(self.path / f"{site}.db")

    def serve(self, *sites):
        for site in sites:
            self.urls[site] = self.stack.enter_context(serving(self.file(site), self.said.append))

    def add(self, at, site, *others, code=0):
        added = [("peer", "add", other, self.urls[other], code_of(self.file(other))) for other in others]
        return " ".join(at(site, *command, code=code) for command in added)

    def ask_around(self, *sites):
        """What the servers do every now and then, once around."""
        for site in sites:
            between_peers(self.file(site)).sync()


@pytest.fixture
def places(tmp_path):
    with ExitStack() as stack:
        yield Places(tmp_path, stack)


def begun(at, places, study, *sites, edges=None):
    for site in sites:
        join(at, site, study)
    places.serve(*sites)
    for site in sites:
        places.add(at, site, *[other for other in sites if other != site and (not edges or {site, other} in edges)])


@pytest.mark.parametrize("pace", ["rounds", "free"])
@pytest.mark.parametrize("sites", [("x", "y"), ("x", "y", "w")], ids=len)
def test_the_horizon_is_extended(at, places, tmp_path, sites, pace):
    begun(at, places, written(tmp_path / "study.toml", pace, 2, sites), *sites)
    turn(*sites), turn(*sites)
    at(sites[0], "ask", code=4)  # it is done
    changed = written(tmp_path / "study.toml", pace, 3, sites)
    for site in sites:
        said = at(site, "amend", changed, "--yes")
    assert "Signed by all stewards: it is in force" in said
    turn(*sites)
    for site in sites:
        with pytest.raises(Finished):
            cboc.join(storage=f"{site}.db").ask()
    trials = cboc.join(storage="x.db").trials
    assert len(trials) == 3 and all(min(trial.answer.weights) >= 0.0 for trial in trials)


def test_one_steward_on_a_ring_is_heard_of_by_those_who_are_not_its_neighbours(at, places, tmp_path):
    """x signs; its neighbours w and y pass that on to z, across the ring, without the designs of x."""
    ring = [{"x", "y"}, {"y", "z"}, {"z", "w"}, {"w", "x"}]
    more = 'graph = "ring"\nstewards = ["x"]'
    begun(at, places, written(tmp_path / "study.toml", "rounds", 2, "xyzw", more), *"xyzw", edges=ring)
    places.ask_around(*"xyzw")
    turn(*"xyzw")
    at("x", "amend", written(tmp_path / "study.toml", "rounds", 3, "xyzw", more), "--yes")
    places.ask_around("y")
    with pytest.raises(Changed, match="the horizon grows from 2 to 3"):
        cboc.join(storage="z.db").ask()
    assert "the horizon grows from 2 to 3" in at("z", "accept", "--yes")
    heard = cboc.join(storage="z.db").network.replica.feeds["x"]
    assert heard.turns and all(entry.proposal is None for entry in heard.turns)
    for site in ("y", "w"):
        at(site, "accept", "--yes")
    turn(*"xyzw"), turn(*"xyzw")
    assert [len(cboc.join(storage=f"{site}.db").trials) for site in "xyzw"] == [3] * 4


@pytest.mark.parametrize("pace", ["rounds", "free"])
@pytest.mark.parametrize("stewards", ["", 'stewards = ["x"]'], ids=["all", "one"])
def test_a_site_is_admitted(at, places, tmp_path, pace, stewards):
    begun(at, places, written(tmp_path / "study.toml", pace, 4, "xy", stewards), "x", "y")
    turn("x", "y"), turn("x", "y")
    changed = written(tmp_path / "new.toml", pace, 4, "xyz", stewards)
    join(at, "z", changed)  # somebody has given it the file
    places.serve("z")
    said = places.add(at, "z", "x", "y")
    assert "'x' refuses this site" in said and "'y' refuses this site" in said
    assert "'z' is not a site" in places.add(at, "x", "z", code=2)
    at("x", "amend", changed, "--yes")
    at("y", "amend" if not stewards else "accept", *([changed] if not stewards else []), "--yes")
    with pytest.raises(Waiting, match="no neighbour has answered this site"):
        cboc.join(storage="z.db").ask()
    assert not places.file("z").written("z"), "it has said nothing under its name"
    places.ask_around("x")  # it hears that the last one has signed
    places.add(at, "x", "z")
    places.add(at, "y", "z")
    places.ask_around("z")  # its server, which has run since before it was admitted
    for _ in range(2):
        turn("x", "y", "z")
    sites = {name: cboc.join(storage=f"{name}.db") for name in "xyz"}
    assert [len(trial.answer.weights) for trial in sites["x"].trials] == [2, 2, 3, 3]
    assert min(sites["z"].trials[-1].answer.weights) > 0.0 and min(sites["x"].trials[-1].answer.weights) > 0.0
    assert [study.version for study in places.file("z").membership()[1]] == [0, 1]
    assert "z took 0" not in places.said and any(line.startswith("z took") for line in places.said)
    assert "answers" in at("z", "peer", "list")


def test_a_site_with_another_file_than_the_one_in_force_is_told_so(at, places, tmp_path):
    begun(at, places, written(tmp_path / "study.toml", "free", 4, "xy", 'stewards = ["x"]'), "x", "y")
    at("x", "amend", written(tmp_path / "new.toml", "free", 4, "xyz", 'stewards = ["x"]'), "--yes")
    join(at, "z", written(tmp_path / "other.toml", "free", 5, "xyz", 'stewards = ["x"]'))
    places.serve("z")
    places.add(at, "x", "z")
    assert "'x' has another study than this site: horizon is 5 here and 4 there" in places.add(at, "z", "x")
    with pytest.raises(Waiting, match="no neighbour has answered"):
        cboc.join(storage="z.db").ask()


def test_who_comes_with_an_earlier_version_is_asked_about_the_later_one(at, places, tmp_path):
    begun(at, places, written(tmp_path / "study.toml", "free", 4, "xy", 'stewards = ["x"]'), "x", "y")
    turn("x")
    for horizon in (4, 6):
        at("x", "amend", written(tmp_path / "new.toml", "free", horizon, "xyz", 'stewards = ["x"]'), "--yes")
        cboc.join(storage="x.db")
    join(at, "z", written(tmp_path / "older.toml", "free", 4, "xyz", 'stewards = ["x"]'))
    places.serve("z")
    places.add(at, "x", "z"), places.add(at, "z", "x")
    with pytest.raises(Changed, match="the horizon grows from 4 to 6"):
        cboc.join(storage="z.db").ask()
    at("z", "accept", "--yes")
    turn("z", "x")
    assert min(cboc.join(storage="z.db").trials[-1].answer.weights[::2]) > 0.0


def test_before_all_who_signed_were_added_the_version_cannot_be_checked(at, places, tmp_path):
    begun(at, places, written(tmp_path / "study.toml", "free", 4, "xy"), "x", "y")
    changed = written(tmp_path / "new.toml", "free", 4, "xyz")
    at("x", "amend", changed, "--yes"), at("y", "amend", changed, "--yes")
    join(at, "z", changed)
    places.serve("z")
    places.ask_around("x")
    places.add(at, "x", "z"), places.add(at, "y", "z")
    assert "cannot check before it has heard of those who signed it" in places.add(at, "z", "x")
    Addresses(places.file("z")).add("y", "https://127.0.0.1:1", code_of(places.file("y")))  # x passes on what it says
    turn("z")
    assert cboc.join(storage="z.db").study.version == 1
