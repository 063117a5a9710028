"""Folders that are read-only, full, missing or swapped; names with odd characters; keys that are lost.

Everything is one sentence, and what a site has is never lost.
"""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Policy, Study, Unreachable
from cboc.cli.app import app
from cboc.exchange.feeds.folder import STUDY, Folder, directory
from cboc.exchange.network import Conflict

from ..machine.needed import leave_out

SPACE = {"a": (0.0, 1.0)}
GIVEN = {"direction": "minimise", "policy": Policy(initial=1, seed=5)}


@pytest.fixture
def shared(tmp_path):
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


def join(shared, name, study=None, **options):
    storage = options.pop("beside", shared).parent / f"{options.pop('file', directory(name))}.db"
    return cboc.join(f"folder:{shared}", site=name, storage=storage, study=study, **GIVEN | options)


def turns(site, count=1):
    """Initial experiments, and some turns."""
    while sum(trial.turn is not None for trial in site.trials) < count:
        site.tell(site.ask(), 0.5)


def cli(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join((result.stdout + result.stderr).split())


# --------------------------------------------------------------------------------------------------------- names

NAMES = ("CON", "aux.", "lab b", "lab:b", "../x", "a\\b", "Lab", "lab", "🧪 λ", "[/red]", "-x", "x" * 100, "con.entry")


def test_sites_with_odd_names_find_each_other(shared):
    study = Study(SPACE, NAMES, 2)
    for name in NAMES:
        site = join(shared, name, study)
        turns(site)
    assert min(site.trials[1].answer.weights) > 0.0, "the last one hears everybody"
    there = [entry.name for entry in shared.iterdir()]
    assert len(there) == len({name.lower() for name in there}) == len(NAMES) + 1
    for name in there:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.") and not name.endswith(".")
        assert name.split(".")[0] not in ("con", "aux", "nul")  # which Windows keeps for itself
    assert sorted(entry.name for entry in shared.parent.iterdir() if entry.suffix != ".db") == sorted(
        ["shared", *(f"{directory(name)}.db.feeds" for name in NAMES)]
    ), "nothing is written elsewhere"


@pytest.mark.parametrize("name", ["[/red]", "🧪 λ", "-x", "../x"])
def test_the_commands_work_with_an_odd_name(shared, tmp_path, name):
    join(shared, "other", Study(SPACE, ("other", name), 2))
    join(shared, name)
    for words in (("status",), ("ask",), ("tell", "0.5"), ("ask",), ("status",), ("audit",)):
        code, said = cli(*words, "--file", tmp_path / f"{directory(name)}.db")
        assert code == 0 and "Traceback" not in said


@pytest.mark.parametrize("name", ["a\nb", "x" * 101, "\ud800", "tab\t"])
def test_a_name_that_cannot_travel_is_told_in_one_sentence(shared, name):
    with pytest.raises(CbocError, match=r"a site's name has at most 100 characters, all of which can be printed") as no:
        join(shared, "a", Study(SPACE, ("a", name), 2))
    assert "\n" not in str(no.value)
    assert not list(shared.parent.glob("*.feeds")), "nothing was made"


# ------------------------------------------------------------------------------------------------- two studies, swaps


def test_two_studies_in_one_folder(shared):
    ours, theirs = Study(SPACE, ("a", "b"), 2, name="ours"), Study(SPACE, ("a", "b"), 3, name="theirs")
    turns(join(shared, "a", ours))
    with pytest.raises(CbocError, match="horizon"):  # what differs
        join(shared, "b", theirs)
    shutil.copy(shared / STUDY, shared / "cboc-study (conflicted copy).json")
    turns(join(shared, "b", ours, file="b-again"))


def test_a_study_file_that_is_damaged_while_the_study_runs_stops_nobody(shared):
    site = join(shared, "a", Study(SPACE, ("a", "b"), 4))
    turns(site)
    whole = (shared / STUDY).read_bytes()
    for content in (b"", whole[:50], whole.replace(b'"study"', b'"stody"'), b"[" * 100_000, b'{"digest": NaN}'):
        (shared / STUDY).write_bytes(content)
        with pytest.raises(CbocError, match="is not complete yet, or not a study; wait until it is copied"):
            join(shared, "b")
    turns(site, 2)
    assert "is not complete yet" in site.network.standing().trouble
    (shared / STUDY).write_bytes(whole)
    turns(site, 3)
    assert not site.network.standing().trouble and len(list((shared / directory("a")).iterdir())) == 4


def test_a_folder_swapped_for_that_of_another_study_gets_nothing(shared, tmp_path):
    site = join(shared, "a", Study(SPACE, ("a", "b"), 4, name="ours"))
    shared.rename(tmp_path / "away")
    shared.mkdir()
    Folder(shared).found(Study(SPACE, ("a", "b"), 4, name="theirs"))
    with pytest.raises(CbocError, match="now holds another study .* bring back that of 'ours'"):
        turns(site)
    assert [entry.name for entry in shared.iterdir()] == [STUDY]
    shutil.rmtree(shared)
    (tmp_path / "away").rename(shared)
    turns(cboc.join(storage=tmp_path / f"{directory('a')}.db"))


# ----------------------------------------------------------------------------------------- read-only, full, missing

MOUNTED = """
import subprocess, sys
from pathlib import Path
import cboc
from cboc import Policy, Study

place, options = Path(sys.argv[1]), sys.argv[2]
study = Study({"a": (0.0, 1.0)}, ("a", "b"), 40)
given = {"direction": "minimise", "policy": Policy(initial=1, seed=5)}
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", place / "shared"], check=True)
site = cboc.join(f"folder:{place / 'shared'}", site="a", storage=place / "a.db", study=study, **given)
subprocess.run(["mount", "-o", f"remount,{options}", place / "shared"], check=True)
while sum(trial.turn is not None for trial in site.trials) < 12:
    site.tell(site.ask(), 0.5)
print(site.network.standing().trouble)
assert not list((place / "shared").rglob("*.part"))
subprocess.run(["mount", "-o", "remount,rw,size=1m", place / "shared"], check=True)
site.network.sync()
print(repr(site.network.standing().trouble))
print(len(list((place / "shared").rglob("*.entry"))))
"""


@pytest.mark.parametrize(("options", "words"), [("ro", "Read-only file system"), ("size=32k", "No space left")])
def test_a_folder_that_is_read_only_or_full_gets_everything_later(tmp_path, options, words):
    """In a mount namespace of its own, where the machine allows that."""
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        leave_out("this machine does not allow namespaces")
    (tmp_path / "shared").mkdir()
    command = ["unshare", "-rm", sys.executable, "-c", textwrap.dedent(MOUNTED), str(tmp_path), options]
    played = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ)
    assert played.returncode == 0, played.stderr
    trouble, later, count = played.stdout.splitlines()
    assert f"cannot be written: {words}" in trouble and (later, count) == ("''", "13")


def test_what_is_no_file_is_left_alone(shared, tmp_path):
    """A pipe would keep whoever opens it waiting for ever."""
    study = Study(SPACE, ("a", "b"), 4)
    a, b = join(shared, "a", study), join(shared, "b")
    turns(b)
    there = shared / directory("b")
    (there / "000003-folder.entry").mkdir()
    (there / "000004-nowhere.entry").symlink_to(tmp_path / "nowhere")
    (there / "000005-endless.entry").symlink_to("/dev/zero")
    os.mkfifo(there / "000006-pipe.entry")
    turns(a, 2)
    assert a.trials[-1].answer.weights[1] > 0.0 and not a.network.standing().trouble


def test_joining_where_nothing_can_be_written_is_one_sentence(tmp_path):
    study = Study(SPACE, ("a", "b"), 4)
    with pytest.raises(Unreachable, match="there is no folder .*shared; is the drive connected, and is it synced"):
        join(tmp_path / "drive" / "shared", "a", study, beside=tmp_path / "shared")
    (tmp_path / "shared").write_text("a file")
    with pytest.raises(Unreachable, match="there is no folder"):
        join(tmp_path / "shared", "a", study)


# ------------------------------------------------------------------------------------------------------- keys lost


def test_a_lost_file_of_feeds_is_told_and_not_made_anew(shared, tmp_path):
    site = join(shared, "a", Study(SPACE, ("a", "b"), 4))
    turns(site)
    feeds = tmp_path / f"{directory('a')}.db.feeds"
    kept = feeds.read_bytes()
    feeds.unlink()
    code, said = cli("ask", "--file", tmp_path / f"{directory('a')}.db")
    assert code == 2 and "is missing: it has the keys of this site" in said and not feeds.exists()
    feeds.write_bytes(kept)
    turns(cboc.join(storage=tmp_path / f"{directory('a')}.db"), 2)


def test_whoever_has_lost_both_files_is_told_before_anybody_hears_of_new_keys(shared):
    turns(join(shared, "a", Study(SPACE, ("a", "b"), 4)))
    before = sorted(shared.rglob("*"))
    with pytest.raises(Conflict, match="somebody has joined as 'a' before, with keys that are not in this file") as no:
        join(shared, "a", file="new")
    assert "use the two files of then (one of them ends in .feeds)" in str(no.value)
    assert sorted(shared.rglob("*")) == before


def test_new_keys_that_were_made_while_the_folder_was_away_are_refused_by_the_others_in_one_sentence(shared, tmp_path):
    study = Study(SPACE, ("a", "b"), 4)
    a, b = join(shared, "a", study), join(shared, "b")
    turns(a)
    turns(b)
    (tmp_path / "elsewhere").mkdir()
    turns(join(tmp_path / "elsewhere", "a", study, file="new"))
    for file in (tmp_path / "elsewhere" / directory("a")).iterdir():
        shutil.copy(file, shared / directory("a"))
    turns(b, 2)
    turns(a, 2)
    (peer,) = b.network.standing().peers
    assert peer.trouble.startswith("somebody else calls itself 'a': its keys are") and peer.entries == 3
    code, said = cli("status", "--file", tmp_path / f"{directory('b')}.db")
    assert code == 0 and "somebody else calls itself 'a'" in said


def test_the_file_of_feeds_of_another_site_is_told(shared, tmp_path):
    study = Study(SPACE, ("a", "b"), 4)
    join(shared, "a", study)
    join(shared, "b")
    shutil.copy(tmp_path / f"{directory('b')}.db.feeds", tmp_path / f"{directory('a')}.db.feeds")
    with pytest.raises(CbocError, match="is the file of feeds of another site; bring back that of 'a'"):
        cboc.join(storage=tmp_path / f"{directory('a')}.db")


def test_by_stick_new_keys_under_a_known_name_are_told(tmp_path):
    study = Study(SPACE, ("a", "b"), 4)

    def by_stick(name, file, given=None):
        return cboc.join(f"stick:{given or ''}", site=name, storage=tmp_path / file, study=study, **GIVEN)

    turns(by_stick("a", "a.db"))
    cli("feed", "export", tmp_path / "a.cboc", "--file", tmp_path / "a.db")
    turns(by_stick("b", "b.db", tmp_path / "a.cboc"))
    cli("feed", "export", tmp_path / "b.cboc", "--file", tmp_path / "b.db")
    with pytest.raises(Conflict, match="somebody has joined as 'a' before"):
        by_stick("a", "new.db", tmp_path / "b.cboc")
    by_stick("a", "newer.db")  # with nothing to tell that there was one
    cli("feed", "export", tmp_path / "new.cboc", "--file", tmp_path / "newer.db")
    _, said = cli("feed", "import", tmp_path / "new.cboc", "--file", tmp_path / "b.db")
    assert "Refused: somebody else calls itself 'a'" in said


def test_a_file_of_feeds_that_a_kill_has_left_empty_is_filled(shared, tmp_path):
    (tmp_path / f"{directory('a')}.db.feeds").touch()
    turns(join(shared, "a", Study(SPACE, ("a", "b"), 4)))
