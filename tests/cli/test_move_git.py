"""Moving into git working copies of a real bare repository."""

import shutil
import subprocess

import pytest

import cboc

from .test_feed import call, run
from .test_feed import labs as labs

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(*words):
    return subprocess.run(["git", *map(str, words)], check=True, capture_output=True, text=True).stdout


def test_from_a_stick_to_git(labs, monkeypatch):
    monkeypatch.setenv("HOME", str(labs))  # a machine on which nobody has configured git
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git("init", "--quiet", "--bare", "--initial-branch=main", labs / "bare.git")
    for name in ("a", "b"):
        run(name, 5)  # four initial ones and a turn
        git("clone", "--quiet", labs / "bare.git", labs / name)
    (labs / "plain").mkdir()
    assert "git" in call("move", "folder:plain", "--git", "--file", "a.db", code=2)
    assert "not yet lab-b" in call("move", "folder:a", "--git", "--file", "a.db")
    assert "1 neighbour there." in call("move", "folder:b", "--git", "--file", "b.db")
    names = git("-C", labs / "bare.git", "ls-tree", "-r", "--name-only", "main").split()
    assert "cboc-study.json" in names and len(names) == 5, "the study; a hello and a turn of each"
    run("a", 1)
    run("b", 1)
    answer = cboc.join(storage="b.db").trials[-1].answer
    assert answer is not None and answer.weights[0] > 0.0, "lab-a is heard"
