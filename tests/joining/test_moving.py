"""A study moves from a coordinator to a folder and back, and its designs are those of one that has stayed."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import cboc
from cboc import CbocError, Finished, Ledger, Policy, Study, Waiting, simulate
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.feeds.bundle import read_bundle, write_bundle
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.folder import STUDY
from cboc.exchange.feeds.handover import read_handover
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Replica
from cboc.joining import move
from cboc.joining import moving as moving_module
from cboc.storage.lock import only_writer
from cboc.storage.sitefile import SiteFile

SITES = ("x", "y", "z")
SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
FIXED = [[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.4, 0.0, 0.6]]
CENTRES = {"x": 0.3, "y": 0.35, "z": 0.45}
POLICY = Policy(initial=2, seed=5)
ALL = 1000  # more often than anybody reads the study of a folder


def experiment(name):
    return lambda design: (design["a"] - CENTRES[name]) ** 2 + (design["b"] - 0.4) ** 2


class Move:
    """A study at a coordinator, whose sites can move; nothing but their files is kept between two steps."""

    def __init__(self, path, study, engine, url):
        self.path, self.study, self.engine, self.url = path, study, engine, url
        (path / "shared").mkdir()
        Transactions(engine).create(study)
        for site in study.sites:
            cboc.join(url, self.code(site), storage=self.file(site), direction="minimise", policy=POLICY)

    def code(self, site):
        return Tokens(self.engine).invite(self.study.name, site)

    def file(self, site):
        return self.path / f"{site}.db"

    def site(self, site):
        return cboc.join(storage=self.file(site), patience=30.0, goes_on_alone=False)

    def to_folder(self, *sites, folder="shared", **options):
        for site in sites or self.study.sites:
            move(f"folder:{self.path / folder}", storage=self.file(site), **options)

    def run(self, until, sites=None):
        """Let the sites ask and tell by turns, until each has taken so many turns or nobody can go on."""
        sites = list(sites or self.study.sites)
        idle = 0
        while idle < 2:  # once around for the proposals, once more for who closes the round
            idle += 1
            for name in sites:
                site = self.site(name)
                if sum(trial.turn is not None and trial.y is not None for trial in site.trials) >= until:
                    continue
                try:
                    trial = site.ask()
                except (Waiting, Finished):
                    continue
                site.tell(trial, experiment(name)(trial.design(site.study.space)))
                idle = 0

    def export(self, site):
        path = self.path / f"{site}.cboc"
        write_bundle(path, self.site(site).network.to_pass_on())
        return path

    def designs(self):
        return {name: [(t.proposed, t.executed, t.y) for t in self.site(name).trials] for name in self.study.sites}


@pytest.fixture
def engine(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def moving(tmp_path, engine, serving):
    """`moving(study)`: a study at a real coordinator, which `moving.stop()` ends."""
    running = serving(engine)
    url = running.__enter__()
    stopped = []

    def start(study):
        return Move(tmp_path, study, engine, url)

    def stop():
        if not stopped:
            stopped.append(running.__exit__(None, None, None))

    start.stop = stop
    yield start
    stop()


def simulated(study):
    run = simulate(study, {name: experiment(name) for name in SITES}, direction="minimise", policy=POLICY)
    return {name: [(t.proposed, t.executed, t.y) for t in run.of(name)] for name in SITES}


@pytest.mark.parametrize(
    "rule", ["identity", "uniform", "leader", FIXED], ids=["identity", "uniform", "leader", "fixed"]
)
def test_in_rounds_the_designs_are_those_of_a_study_that_stayed(moving, rule):
    study = Study(SPACE, SITES, 4, rule=rule, pace="rounds", name="a study")
    of = moving(study)
    of.run(until=2)
    if rule == "leader":
        moving.stop()  # it is gone when they move
    of.to_folder("z", "x")
    of.run(until=4, sites=("x", "z"))  # they wait for y, which has not moved
    of.to_folder("y", sealed=True)
    of.run(until=4)
    assert of.designs() == simulated(study)


@pytest.mark.parametrize("answered", ["nobody", "one", "all but one"])
def test_a_proposal_that_was_not_answered_when_the_coordinator_died_is_in_the_same_round(moving, answered, monkeypatch):
    monkeypatch.setattr(moving_module, "QUICK", 0.3)
    study = Study(SPACE, SITES, 3, rule="leader", pace="rounds", name="a study")
    of = moving(study)
    of.run(until=1)
    for name in SITES[: 2 if answered == "nobody" else 3]:  # the round is open, or has closed with all of them
        of.site(name).propose()
    for name in {"nobody": (), "one": "x", "all but one": "xz"}[answered]:
        of.site(name).ask()
    moving.stop()
    of.to_folder("y", "z", "x")
    of.run(until=3)
    assert of.designs() == simulated(study)


class Pipe:
    """The study in a folder as a pipe: whoever reads it waits until it is given."""

    def __init__(self, path, content):
        self.path, self.content = path, content
        path.unlink()
        os.mkfifo(path)

    def give(self, readers, is_over=lambda: False):
        """Give it to so many readers, one after the other, or until it is over."""
        while readers and not is_over():
            try:
                place = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads yet
                time.sleep(0.005)
                continue
            os.write(place, self.content)
            os.close(place)
            readers -= 1
            time.sleep(0.02)  # or the same reader would have it twice


@pytest.mark.parametrize("reads", [0, 2, ALL])
def test_a_move_that_was_killed_is_completed_by_another(moving, reads):
    study = Study(SPACE, SITES, 2, rule="leader", pace="rounds", name="a study")
    of = moving(study)
    of.run(until=1)
    of.to_folder("x")
    content = (of.path / "shared" / STUDY).read_bytes()
    pipe = Pipe(of.path / "shared" / STUDY, content)
    command = [sys.executable, "-m", "cboc", "move", f"folder:{of.path / 'shared'}", "--file", str(of.file("y"))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        pipe.give(reads, lambda: process.poll() is not None or is_in_folder(of.file("y")))
        process.send_signal(signal.SIGKILL)
    pipe.path.unlink()
    pipe.path.write_bytes(content)
    assert is_in_folder(of.file("y")) == (reads == ALL), "until it is complete the site is where it was"
    if reads == ALL:
        with pytest.raises(CbocError, match="is at folder:.* already"):
            of.to_folder("y")
    else:
        of.site("y").network.standing()
        of.to_folder("y")
    of.to_folder("z")
    of.run(until=2)
    assert of.designs() == simulated(study)


def is_in_folder(file):
    return SiteFile(file).about["url"].startswith("folder:")


def killed(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "step",
    [(FeedFile, "fill"), (moving_module, "_put_aside"), (moving_module.os, "replace"), (moving_module, "_remember")],
)
def test_wherever_a_move_is_killed_the_site_goes_on_where_it_was_and_moves_later(moving, monkeypatch, step):
    study = Study(SPACE, SITES, 2, pace="rounds", name="a study")
    of = moving(study)
    with monkeypatch.context() as patched:
        patched.setattr(*step, killed)
        with pytest.raises(KeyboardInterrupt):
            of.to_folder("y")
    of.run(until=1)  # with the coordinator
    of.to_folder()
    assert [of.site(name).network.feed.moved for name in SITES] == [1, 1, 1]
    of.run(until=2)
    assert of.designs() == simulated(study)


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_at_the_free_pace_a_replay_gives_the_answers_of_the_coordinator_and_of_the_folder(moving, rule):
    study = Study(SPACE, SITES, 4, rule=rule, name="a study")
    of = moving(study)
    of.run(until=2)
    of.site("y").propose()  # not answered
    given = {(name, turn): of.site(name).network.mix(name, turn) for name in SITES for turn in range(2 + (name == "y"))}
    of.to_folder("y", "x", "z")
    moving.stop()
    first = of.site("x").network
    first.sync()
    for (name, turn), answer in given.items():
        assert Ledger(study, Record(first.replica, name)).mix(name, turn) == answer, "to the last bit"
    of.run(until=4)
    networks = {name: of.site(name).network for name in SITES}
    stranger = Replica(study)
    stranger.load(entry for name in SITES for entry in networks[name].feed.entries)
    for name in SITES:
        ledger, site = Ledger(study, Record(stranger, name)), of.site(name)
        for trial in (trial for trial in site.trials if trial.turn is not None):
            mix = ledger.mix(name, trial.turn.number)
            assert mix.weights == trial.answer.weights and mix.snapshot == trial.answer.snapshot
            assert mix.others == trial.answer.others
        assert len(networks[name].feed.turns) == 4 and networks[name].feed.moved == 2 + (name == "y")


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_from_a_folder_back_to_a_coordinator_in_rounds(moving, rule, engine):
    study = Study(SPACE, SITES, 4, rule=rule, pace="rounds", name="a study")
    of = moving(study)
    of.run(until=1)
    of.to_folder()
    of.run(until=2)
    of.site("x").propose()  # for round 2, which is open
    files = [of.export(name) for name in SITES]
    with engine.begin() as connection:  # the old coordinator is gone, with all that it had
        for table in ("proposals", "invites", "sites", "studies"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    transactions = Transactions(engine)
    transactions.create(study)
    transactions.go_on_from(study.name, read_handover(study, files))
    with pytest.raises(CbocError, match="study 'a study' has entries here already; use another database"):
        transactions.go_on_from(study.name, read_handover(study, files))
    assert transactions.standing(study.name).round == 2
    assert transactions.progress(study.name, "x") == (3, 3) and transactions.progress(study.name, "y") == (2, 2)
    for name in SITES:
        move(of.url, of.code(name), storage=of.file(name))
    of.run(until=3)
    (of.path / "again").mkdir()
    of.to_folder(folder="again")
    of.run(until=4)
    assert of.designs() == simulated(study)


def test_from_a_folder_to_a_coordinator_at_the_free_pace(moving, engine):
    study = Study(SPACE, SITES, 4, name="a study")
    of = moving(study)
    of.run(until=1)
    of.to_folder()
    of.run(until=2)
    files = [of.export(name) for name in SITES]
    past = read_handover(study, files)
    assert past == read_handover(study, files[::-1] + files), "whatever the order of the files"
    arrivals = [entry.proposal for (entry,) in past.closed]
    seen = {name: [] for name in SITES}
    for name in SITES:
        for entry in of.site(name).network.feed.turns:
            seen[name].append((entry.proposal, entry.said["seen"] or {}))
    for name in SITES:
        for proposal, counts in seen[name]:
            place = arrivals.index(proposal)
            for other, count in counts.items():
                before = [each for each in of.site(name).network.replica.feeds[other].entries[:count] if each.proposal]
                assert all(arrivals.index(each.proposal) < place for each in before), "after what it had seen"
    with engine.begin() as connection:
        for table in ("proposals", "invites", "sites", "studies"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    transactions = Transactions(engine)
    transactions.create(study)
    transactions.go_on_from(study.name, past)
    code = of.code("x")
    of.run(until=3, sites=("x",))  # it goes on in the folder, and the coordinator does not know
    with pytest.raises(CbocError, match="knows 'x' up to turn 1, and the site has taken turn 2: it has to begin anew"):
        move(of.url, code, storage=of.file("x"))
    assert SiteFile(of.file("x")).about["url"].startswith("folder:")
    for name in ("y", "z"):
        move(of.url, of.code(name), storage=of.file(name))
    of.run(until=4, sites=("y", "z"))
    assert transactions.progress(study.name, "y") == (4, 4)


def test_what_is_missing_for_a_coordinator_is_named(moving):
    study = Study(SPACE, SITES, 3, pace="rounds", graph=[("x", "y"), ("y", "z")], name="a study")
    of = moving(study)
    of.run(until=1)
    of.to_folder()
    old = of.export("z")
    shutil.copy(old, of.path / "old.cboc")
    of.run(until=2)
    files = [of.export(name) for name in SITES]
    assert read_handover(study, files).turns == {"x": 2, "y": 2, "z": 2}
    with pytest.raises(CbocError, match="and what z did is not all in these files: let each of them run cboc feed"):
        read_handover(study, files[:2])
    with pytest.raises(CbocError, match="what z did is not all"):
        read_handover(study, [*files[:2], of.path / "old.cboc"])
    with pytest.raises(CbocError, match="hold no entry of study 'a study' with these terms"):
        read_handover(Study(SPACE, SITES, 9, name="a study"), files)


def test_with_a_deadline_the_past_is_settled_when_all_have_moved(moving):
    study = Study(SPACE, SITES, 4, pace="rounds", deadline=3600.0, name="a study")
    of = moving(study)
    of.run(until=2)
    of.to_folder("x", "y")
    standing = of.site("x").network.standing()
    assert standing.round == 0 and standing.missing == ("z",) and standing.closes_at is None
    of.to_folder("z")
    assert of.site("x").network.standing().round == 2
    of.run(until=4)
    assert of.designs() == simulated(study)


def test_refusals_are_one_sentence_and_change_nothing(moving, tmp_path):
    study = Study(SPACE, SITES, 2, name="a study")
    of = moving(study)
    opened = of.site("x")
    other = Study(SPACE, SITES, 3, name="another")
    (tmp_path / "other").mkdir()
    cboc.join(f"folder:{tmp_path / 'other'}", site="x", storage=tmp_path / "o.db", direction="minimise", study=other)
    cboc.join(f"folder:{tmp_path / 'shared'}", site="x", storage=tmp_path / "i.db", direction="minimise", study=study)
    before = SiteFile(of.file("x")).about
    for given, complaint in (
        (f"folder:{tmp_path / 'other'}", "holds study 'another', which differs from yours"),
        (f"folder:{tmp_path / 'shared'}", "has entries of 'x' with other keys"),
        (f"folder:{tmp_path / 'nowhere' / 'deep'}", "there is no folder"),
        ("folder:", "the address of a folder is folder:PATH"),
        ("ftp://x", "a coordinator's address looks like"),
        (of.url, "is at .* already"),
        ("http://elsewhere:1", "is at the coordinator"),
    ):
        with pytest.raises(CbocError, match=complaint):
            move(given, storage=of.file("x"))
    (tmp_path / "free").mkdir()
    with only_writer(of.file("x")), pytest.raises(CbocError, match="another process of this site uses"):
        of.to_folder("x", folder="free")
    assert SiteFile(of.file("x")).about == before and not of.file("x.db.feeds").exists()
    with pytest.raises(CbocError, match="there is no site file"):
        move(f"folder:{tmp_path / 'free'}", storage=tmp_path / "nobody.db")
    of.to_folder("x", folder="free")
    with pytest.raises(CbocError, match="has moved to folder:.*free; start this program again"):
        opened.ask()
    with pytest.raises(CbocError, match="is at folder:.*free already"):
        of.to_folder("x", folder="free")
    with pytest.raises(CbocError, match="also give the code of an invitation"):
        move(of.url, storage=of.file("x"))
    (tmp_path / "second").mkdir()
    of.to_folder("x", folder="second", sealed=True)  # the same feed in another folder
    of.run(until=1, sites=("x",))
    assert len(list((tmp_path / "second").rglob("*.entry"))) == 2
    assert [moved["to"].rpartition("/")[2] for moved in SiteFile(of.file("x")).about["moves"]] == ["free", "second"]
    assert len(list(read_bundle(of.export("x")))) == 2
