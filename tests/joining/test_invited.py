"""Joining with a file: made at the coordinator's command line, opened at the site's."""

import json
import stat
from datetime import datetime

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Study
from cboc.cli.app import app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.invitation import _sum, read_invitation
from cboc.joining.invited import keep, leaves, look
from cboc.joining.sent import sent_by
from cboc.storage.sitefile import SiteFile

from ..machine.terminal import at_a_terminal

STUDY = Study({"T": (20.0, 90.0), "c": (0.1, 1.0)}, ("lab-a", "lab-b"), 3, name="buffer study")


class Place:
    """A folder with a coordinator's database, and its address while it runs."""

    def __init__(self, folder, engine, url):
        self.folder, self.engine, self.url = folder, engine, url

    def __call__(self, *command, code=0, given=None):
        words = [str(part) for part in command]
        if words[0] == "invite":
            words += ["--database", f"sqlite:///{self.folder / 'coordinator.db'}"]
        result = CliRunner().invoke(app, words, input=given)
        assert result.exit_code == code, result.output
        assert code != 2 or result.stderr.strip()[-1] in ".?" or code == 0
        return " ".join(result.stderr.split()) if code else result

    def invited(self, site="lab-b", *options):
        path = self.folder / f"{site}.cboc"
        self("invite", site, "--file", path, "--url", self.url, *options)
        return path


@pytest.fixture
def place(tmp_path, serving):
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    Transactions(engine).create(STUDY)
    with serving(engine) as url:
        yield Place(tmp_path, engine, url)
    engine.dispose()


def test_one_file_is_all_that_a_site_needs(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    said = place("invite", "--file", "lab-b.cboc", "--url", place.url).stderr  # called after the site
    assert "Whoever has this file can join as 'lab-b'" in " ".join(said.split())
    path = place.folder / "lab-b.cboc"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    joined = place("join", path, "--direction", "maximise")
    assert "'buffer study': you are 'lab-b', with lab-a; 3 experiments." in joined.stdout
    assert "the design of your best outcome so far, but not how good it is. Outcomes stay." in joined.stdout
    assert "as 'lab-b', with lab-a" in joined.stderr
    assert place("status").exit_code == 0
    again = place("join", path)  # the same file again goes on
    assert again.exit_code == 0


def test_a_slip_in_the_direction_is_asked_again(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    code, seen = at_a_terminal("join", place.invited(), answer="upwards\nMaximize\n")
    assert code == 0 and "unknown direction 'upwards'" in seen and seen.count("maximise or minimise): ") == 2, seen
    assert cboc.join(storage="site.db").direction == "maximise"


def test_of_several_objectives_each_direction_is_asked_for(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    several = Study({"T": (20.0, 90.0)}, ("lab-c",), 3, name="trade-offs", objectives=("yield", "pH"), units=("%",))
    Transactions(place.engine).create(several)
    path = place.invited("lab-c", "--study", "trade-offs")
    code, seen = at_a_terminal("join", path, answer="max\nnear\nnear:7\n")
    assert code == 0 and "What you measure: yield (%), pH." in seen, seen
    assert "What to do with yield (%) (maximise, minimise, or near:VALUE): " in seen
    assert seen.count("What to do with pH") == 2 and "an outcome that is to be near a value needs that value" in seen
    assert [str(aim) for aim in cboc.join(storage="site.db").goal.aims.values()] == ["maximise", "near 7"]


def test_old_results_are_looked_at_before_the_invitation_is_used(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    (place.folder / "old.csv").write_text("T,c,Yield,SD\n50,0.5,3,1\n500,0.5,4,1\n")
    path, words = place.invited(), ("--direction", "maximise", "--data", "old.csv")
    assert "nothing was taken from old.csv" in place("join", path, *words, given="2\nn\n", code=2)
    assert Tokens(place.engine).absent("buffer study") == ["lab-a", "lab-b"]
    joined = place("join", path, *words, "--column", "SD=ignore", given="y\n")
    assert "line 3: T: expected a number from 20 to 90, but got 500.0." in joined.stdout
    assert cboc.join(storage="site.db").data.y.tolist() == [3]
    code = Tokens(place.engine).invite("buffer study", "lab-a")
    place("join", place.url, code, *words, "--column", "SD=ignore", "--yes", "--file", "a.db")
    assert cboc.join(storage="a.db").data.y.tolist() == [3]
    again = place("join", path, *words, "--column", "SD=sem", "--yes")  # until the first experiment
    assert again.exit_code == 0 and cboc.join(storage="site.db").data.sem.tolist() == [1]


def test_in_python_the_file_takes_the_place_of_the_address(place):
    site = cboc.join(str(place.invited()), storage=place.folder / "b.db", direction="minimise")
    assert (site.name, site.study.digest) == ("lab-b", STUDY.digest)
    with pytest.raises(CbocError, match="leave yours out"):
        cboc.join(str(place.folder / "lab-b.cboc"), "code", storage=place.folder / "c.db", direction="minimise")


def test_the_terms_are_seen_before_anything_is_agreed(place):
    file = keep(read_invitation(place.invited()), place.folder / "b.db")
    study, site = look(file)
    assert (study.digest, site) == (STUDY.digest, "lab-b")
    assert Tokens(place.engine).absent("buffer study") == ["lab-a", "lab-b"]  # nobody has joined by this
    assert [(message.method, message.path) for message in sent_by(file)] == [("POST", "/v2/invitation")]
    assert cboc.join(storage=file.path, direction="maximise", study=study).name == "lab-b"
    assert len(leaves(study)) == 2


def test_the_direction_is_all_that_is_asked_for(place):
    path = place.invited()
    said = place("join", path, "--file", place.folder / "b.db", code=2)
    assert said.endswith("to join one, also give a direction (maximise or minimise).")
    assert "agreement" not in SiteFile(place.folder / "b.db").about
    assert Tokens(place.engine).absent("buffer study") == ["lab-a", "lab-b"]


def test_a_file_that_was_used_is_too_old_or_was_replaced(place):
    path = place.invited()
    place("join", path, "--direction", "maximise", "--file", place.folder / "b.db")
    said = place("join", path, "--direction", "maximise", "--file", place.folder / "thief.db", code=2)
    assert said.endswith("this invitation has already been used; ask for another.")
    old = place.invited("lab-a")
    Tokens(place.engine).invite("buffer study", "lab-a")
    said = place("join", old, "--direction", "maximise", "--file", place.folder / "a.db", code=2)
    assert "this invitation is unknown or too old" in said
    old.unlink()
    old = place.invited("lab-a", "--days", "1e-9")
    said = place("join", old, "--direction", "maximise", "--file", place.folder / "a.db", code=2)
    assert "this invitation is too old: it was valid until" in said and str(datetime.now().year) in said
    old.unlink()
    place("join", place.invited("lab-a"), "--direction", "maximise", "--file", place.folder / "a.db")  # a good one


def test_a_damaged_file_is_refused_before_anything_is_sent(place):
    path = place.invited()
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | {"code": said["code"][::-1]}))
    assert "was damaged or altered" in place("join", path, "--file", place.folder / "b.db", code=2)
    assert not (place.folder / "b.db").exists()


@pytest.mark.parametrize("change", [{"site": "lab-a"}, {"url": "http://127.0.0.1:1/\x1b[2J"}, {"url": "http://a@b"}])
def test_a_file_that_says_something_else_than_it_does_is_refused(place, change):
    """Whoever rewrites it can compute its checksum anew: there is no key in it."""
    path = place.invited("lab-b")
    said = {name: value for name, value in json.loads(path.read_text()).items() if name != "sum"} | change
    path.write_text(json.dumps(said | {"sum": _sum(said)}))
    refused = place("join", path, "--direction", "maximise", "--file", place.folder / "b.db", code=2)
    assert "names site 'lab-a', but its code is for site 'lab-b'" in refused or "'http://" in refused
    assert "\x1b" not in refused


def test_what_the_command_refuses(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    (place.folder / "cboc.key").write_text("-----BEGIN PRIVATE KEY-----")
    url = ("--url", place.url)
    for command, said in (
        (("invite", "--file", "x.cboc", *url), "name it, as in cboc invite SITE --file x.cboc"),
        (("invite", "--file", "lab-b.cboc"), "also give --url"),
        (("invite", "--file", "lab-b.json", *url), "ends in .cboc"),
        (("invite", "--file", "lab-b.cboc", "--url", "example.org"), "looks like https://host:8000"),
        (("invite", "--file", "lab-b.cboc", *url, "--certificate", "cboc.key"), "never its key"),
        (("invite", "lab-b", "--certificate", "cboc.key"), "--certificate is for --file"),
    ):
        assert said in place(*command, code=2)
    place.invited("lab-b")
    assert "exists already" in place("invite", "--file", "lab-b.cboc", *url, code=2)
    assert Tokens(place.engine).invited(read_invitation(place.folder / "lab-b.cboc").code, 43 * "t")  # it is still good


def test_another_study_needs_another_file(place):
    place("join", place.invited(), "--direction", "maximise", "--file", place.folder / "b.db")
    with pytest.raises(CbocError, match="has joined 'buffer study' already; --file names another file"):
        keep(read_invitation(place.invited("lab-a")), place.folder / "b.db")
