"""A folder that is a git working copy, with a real repository that three sites clone."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from cboc import CbocError, Ledger, Unreachable
from cboc.exchange.feeds.clone import Clone
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.folder import STUDY, Folder
from cboc.exchange.feeds.git import GitFolder
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica

from ..test_network import SITES, proposal, study

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def nobody(monkeypatch, tmp_path):
    """A machine on which nobody has configured git."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("XDG_CONFIG_HOME", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "EMAIL"):
        monkeypatch.delenv(name, raising=False)


def git(path, *words):
    author = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    command = ["git", "-C", str(path), *author, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def bare(tmp_path):
    path = tmp_path / "bare.git"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(path))
    return path


def clone(bare, name):
    path = bare.parent / name
    git(bare.parent, "clone", "--quiet", str(bare), str(path))
    return path


def network(agreed, name, path, **options):
    carrier = GitFolder(Folder(path), name, fresh=0.0)
    carrier.pull()
    carrier.folder.found(agreed)
    carrier.push()
    found = Feeds(Replica(agreed), name, Keys.make(), carrier, **options)
    found.hello()
    assert found.trouble == ""
    return found


def committed(bare):
    return git(bare, "ls-tree", "-r", "--name-only", "main").split()


def test_sites_that_push_at_the_same_time_lose_nothing(bare):
    """The folder is one within the working copy."""
    agreed = study()
    for name in SITES:
        (clone(bare, name) / "shared").mkdir()
    of = {name: network(agreed, name, bare.parent / name / "shared") for name in SITES}
    ledger = Ledger(agreed)
    for turn in range(2):
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda name: of[name].submit(proposal(name, turn)), SITES))  # noqa: B023
        for name in SITES:
            assert of[name].trouble == ""
            ledger.submit(proposal(name, turn))
        for name in SITES:
            assert of[name].mix(name, turn) == ledger.mix(name, turn)
    assert sum(name.endswith(".entry") for name in committed(bare)) == 3 * 3


def test_only_our_files_are_committed_under_our_name_and_the_users_are_left_alone(bare):
    other = clone(bare, "user")
    (other / "notes.txt").write_text("theirs")
    (
        git(other, "add", "."),
        git(other, "commit", "--quiet", "-m", "notes"),
        git(other, "push", "--quiet", "origin", "HEAD"),
    )
    path = clone(bare, "x")
    (path / ".gitignore").write_text("*.entry\n")
    (path / "notes.txt").write_text("mine, not done")
    (path / "staged.txt").write_text("for later")
    git(path, "add", "staged.txt")
    x = network(study(), "x", path)
    x.submit(proposal("x"))
    assert sorted(name.rpartition(".")[2] for name in committed(bare)) == ["entry", "entry", "json", "txt"]
    assert git(bare, "log", "-1", "--format=%an <%ae> %s", "main").strip() == "cboc <cboc@localhost> cboc: x"
    (other / "more.txt").write_text("theirs")
    git(other, "pull", "--quiet"), git(other, "add", "."), git(other, "commit", "--quiet", "-m", "more")
    git(other, "push", "--quiet")
    x.sync()
    assert x.trouble == "" and (path / "more.txt").exists()
    states = set(git(path, "status", "--porcelain").splitlines())
    assert states == {" M notes.txt", "A  staged.txt", "?? .gitignore"}
    git(path, "commit", "--quiet", "-m", "mine")
    y = network(study(), "y", clone(bare, "y"))
    y.submit(proposal("y"))
    x.standing()
    assert "has commits of your own that were not pushed (staged.txt); push them" in x.trouble
    assert "staged.txt" not in committed(bare)


def test_while_the_remote_is_away_nothing_is_lost(bare):
    agreed = study(pace="free")
    x, y = (network(agreed, name, clone(bare, name)) for name in ("x", "y"))
    away = bare.rename(bare.with_name("away.git"))
    x.submit(proposal("x"))
    y.submit(proposal("y"))
    for one in (x, y):
        assert "cannot be pushed: '" in one.trouble or "cannot be pulled: '" in one.trouble
        assert "does not appear to be a git repository" in one.trouble
    away.rename(bare)
    for one in (x, y, x):
        one.sync()
        assert one.trouble == ""
    assert len(x.replica.feeds["y"].entries) == 2 and len(y.replica.feeds["x"].entries) == 2


SUBMIT = """
import sys
from tests.exchange.feeds.test_git import from_file, proposal
x = from_file(sys.argv[1], sys.argv[2])
print("ready", flush=True)
for turn in range(len(x.feed.turns), 4):
    x.submit(proposal("x", turn))
"""


def from_file(path, kept):
    """Site x, with its feeds in a file."""
    file = FeedFile(Path(kept), is_made=True)
    x = Feeds(Replica(study(pace="free"), file.keep), "x", file.keys, GitFolder(Folder(path), "x", fresh=0.0), file)
    x.hello()
    return x


@pytest.mark.parametrize("pause", [0.02, 0.1, 0.3])
def test_after_a_kill_in_the_middle_it_goes_on(bare, pause):
    """Ours, and the git command that it runs; what it talks to lives on, as a server does."""
    path, kept = clone(bare, "x"), bare.with_name("x.feeds")
    y = network(study(pace="free"), "y", clone(bare, "y"))
    from_file(path, kept)
    y.submit(proposal("y"))
    command = [sys.executable, "-c", SUBMIT, str(path), str(kept)]
    begun = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert begun.stdout.readline() == b"ready\n"
    time.sleep(pause)
    for process in (begun.pid, *_children(begun.pid)):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    begun.communicate()
    again = from_file(path, kept)
    for turn in range(len(again.feed.turns), 4):
        again.submit(proposal("x", turn))
    again.sync()
    assert again.trouble == ""
    y.sync()
    assert y.trouble == ""
    assert len(y.replica.feeds["x"].entries) == 5 and not y.replica.troubles


def _children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(number) for number in found.stdout.split()]


def test_a_rebase_that_was_killed_is_undone_and_one_of_the_user_is_named(bare):
    agreed = study(pace="free")
    x, y = (network(agreed, name, clone(bare, name)) for name in ("x", "y"))
    store = x.carrier.folder.path / ".git"
    y.submit(proposal("y"))
    (store / "rebase-merge").mkdir()
    x.submit(proposal("x"))
    assert "a rebase or merge is half done in" in x.trouble and "finish it, or git rebase --abort" in x.trouble
    shutil.rmtree(store / "rebase-merge")
    (store / "cboc.busy").touch()
    (store / "index.lock").touch()
    (store / "rebase-merge").mkdir()  # so early that git itself does not know how to go back
    x.sync()
    assert x.trouble == "" and len(x.replica.feeds["y"].entries) == 2
    y.submit(proposal("y", 1))
    name = next(name for name in _names(y) if not (x.carrier.folder.path / name).exists())
    shutil.copy(y.carrier.folder.path / name, x.carrier.folder.path / name)  # as a merge leaves it that is killed
    x.sync()
    assert x.trouble == "" and len(x.replica.feeds["y"].entries) == 3


def _names(one):
    top = one.carrier.folder.path
    return [file.relative_to(top) for file in top.rglob("*.entry")]


def test_two_who_begin_at_the_same_time_with_the_same_study_and_one_with_another(bare):
    agreed = study(pace="free")
    paths = {name: clone(bare, name) for name in SITES}
    carriers = {name: GitFolder(Folder(path), name, fresh=0.0) for name, path in paths.items()}
    for name, carrier in carriers.items():
        carrier.pull()
        carrier.folder.found(agreed if name != "z" else study(pace="free", name="another"))
    carriers["x"].push(), carriers["y"].push()
    with pytest.raises(Unreachable, match="cannot be brought up to date"):
        carriers["z"].push()
    assert committed(bare) == [STUDY] and not (paths["z"] / ".git" / "rebase-merge").exists()


def trouble_with(path):
    with pytest.raises(CbocError) as error:
        Clone(path, is_ours=lambda _: True).check()
    return str(error.value)


def test_what_cannot_be_pulled_and_pushed_is_said_in_one_sentence(bare, tmp_path, monkeypatch):
    (tmp_path / "plain").mkdir()
    assert "plain is not a git working copy" in trouble_with(tmp_path / "plain")
    assert "name a working copy" in trouble_with(bare)
    alone = tmp_path / "alone"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(alone))
    assert "alone has no remote to push to; git clone a repository" in trouble_with(alone)
    git(alone, "remote", "add", "origin", str(bare))
    assert "branch 'main' in" in trouble_with(alone) and "git push -u origin main" in trouble_with(alone)
    path = clone(bare, "x")
    network(study(), "x", path)
    git(path, "checkout", "--quiet", "--detach")
    assert "is not on a branch; git switch" in trouble_with(path)
    monkeypatch.setenv("PATH", str(tmp_path / "plain"))
    assert "--git needs git, which is not installed here" in trouble_with(path)


def test_passwords_in_addresses_are_not_told(bare):
    path = clone(bare, "x")
    git(path, "remote", "set-url", "origin", "https://me:secret@127.0.0.1:1/ours.git")
    with pytest.raises(Unreachable, match="cannot be pulled") as error:
        GitFolder(Folder(path), "x").pull()
    assert "secret" not in str(error.value)
