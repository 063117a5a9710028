"""A git working copy from which only our own new files are committed, and which is brought up to date by rebasing.

Git is run without asking anybody anything, without the user's hooks, and with a time limit. One process at a time works
in a copy; while it does so a mark is there, by which the next one finds out that it was killed, and undoes what is half
done. A git command that changes something, and was begun before the kill, ends first: it holds the lock as well.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from shutil import rmtree, which
from time import monotonic, sleep

from cboc.exchange.network import Unreachable

LONGEST = 60.0  # seconds that a command may take
PATIENCE = 120.0  # seconds that another process may hold the copy
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",
}
NOT_OURS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")  # set within a hook
SETTINGS = (
    "core.hooksPath=/dev/null", "core.autocrlf=false", "commit.gpgsign=false", "gc.auto=0", "maintenance.auto=false",
    "rebase.autoStash=false", "advice.detachedHead=false",
)  # fmt: skip
REBASES = ("rebase-merge", "rebase-apply")
HALF_DONE = (*REBASES, "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
LOCKS = ("index.lock", "HEAD.lock", "ORIG_HEAD.lock", "refs/heads/**/*.lock")  # of commands that change something


class GitTrouble(Unreachable):
    """A git command has failed."""


class Clone:
    """The git working copy that a folder is, or lies in."""

    def __init__(self, path: Path, is_ours: Callable[[str], bool]) -> None:
        self.path, self._is_ours = path, is_ours  # by the name of a file, from here
        self._lock: int | None = None  # a file descriptor
        self._is_cut = False  # whether a command that changes something was ended in the middle

    # ------------------------------------------------------------------------------------------------- what it is

    @cached_property
    def _places(self) -> tuple[Path, str]:
        """The folder in which git keeps its own files, and the path from the top of the copy to here."""
        if which("git") is None:
            raise Unreachable("--git needs git, which is not installed here; install it, or leave --git out.")
        try:
            words = ("--show-prefix", "--absolute-git-dir", "--is-inside-work-tree")
            prefix, store, is_inside = self.run("rev-parse", *words).splitlines()
        except GitTrouble as trouble:
            raise Unreachable(
                f"{self.path} is not a git working copy ({trouble}); git clone one, or leave --git out."
            ) from None
        if is_inside != "true":
            raise Unreachable(f"{self.path} is where git keeps its own files; name a working copy.")
        return Path(store), prefix

    @property
    def _store(self) -> Path:
        return self._places[0]

    @property
    def branch(self) -> str:
        """The branch that is checked out."""
        try:
            return self.run("symbolic-ref", "--short", "-q", "HEAD").strip()
        except GitTrouble:
            raise Unreachable(f"{self.path} is not on a branch; git switch to the one that you share.") from None

    @property
    def upstream(self) -> tuple[str, str]:
        """The remote, and the name of the branch there."""
        branch = self.branch
        remote, there = self._config(f"branch.{branch}.remote"), self._config(f"branch.{branch}.merge")
        if remote and there:
            return remote, there
        if not self.run("remote").strip():
            raise Unreachable(f"{self.path} has no remote to push to; git clone a repository that all sites reach.")
        raise Unreachable(f"branch '{branch}' in {self.path} follows none at a remote; git push -u origin {branch}.")

    def check(self) -> None:
        """Raise one sentence if nothing can be pulled and pushed here."""
        _ = self._places, self.upstream

    # ------------------------------------------------------------------------------------------------ what it does

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes out inside the block; first undo what one that was killed has left half done."""
        with self._locked():
            mark = self._store / "cboc.busy"
            if mark.exists() and self._lock is not None:
                self._recover()
            if begun := self._half_done():
                raise Unreachable(
                    f"a rebase or merge is half done in {self.path} ({begun[0]}); finish it, or git rebase --abort."
                )
            mark.touch()
            try:
                yield
            finally:
                if not self._is_cut:
                    mark.unlink(missing_ok=True)

    def _recover(self) -> None:
        """Undo what a process has left that was killed."""
        for lock in (lock for name in LOCKS for lock in self._store.glob(name)):
            lock.unlink(missing_ok=True)
        if self._half_done():
            try:
                self.run("rebase", "--abort", changes=True)
            except GitTrouble:
                _ = self.branch  # if it is on its branch still, the rebase had changed nothing yet
                for name in REBASES:
                    rmtree(self._store / name, ignore_errors=True)
        self._is_cut = False

    def _half_done(self) -> list[str]:
        return [name for name in HALF_DONE if (self._store / name).exists()]

    def fetch(self) -> None:
        """Bring what the others have pushed, without changing any file."""
        self.run("fetch", "--quiet", self.upstream[0])

    @property
    def distance(self) -> tuple[int, int]:
        """How many commits are here and not there, and there and not here."""
        here, there = self._commit("HEAD"), self._commit("@{upstream}")
        if here is None or there is None:
            return int(here is not None), int(there is not None)
        ahead, behind = self.run("rev-list", "--left-right", "--count", f"{here}...{there}").split()
        return int(ahead), int(behind)

    def update(self) -> None:
        """Put the own commits on top of those of the others."""
        ahead, behind = self.distance
        if not behind:
            return
        self._make_way()
        if not ahead:
            self.run("merge", "--quiet", "--ff-only", "@{upstream}", changes=True)
            return
        self._check_commits()
        try:
            self.run("rebase", "--quiet", "@{upstream}", changes=True)
        except GitTrouble as trouble:
            with suppress(GitTrouble):
                self.run("rebase", "--abort", changes=True)
            raise Unreachable(
                f"{self.path} cannot be brought up to date ({trouble}); commit or put away your own changes there."
            ) from None

    def _make_way(self) -> None:
        """Remove files that git would not overwrite, and which are those that come: from a merge that was killed."""
        here = self._commit("HEAD") or self.run("hash-object", "-t", "tree", "--stdin").strip()  # the empty one
        names = self.run("diff", "--name-only", "--relative", "--diff-filter=A", "-z", here, "@{upstream}").split("\0")
        known = set(self.run("ls-files", "-z").split("\0"))
        for name in names:
            if name and self._is_ours(name) and name not in known and (self.path / name).is_file():
                there = self.run("rev-parse", f"@{{upstream}}:./{name}").strip()
                if self.run("hash-object", "--no-filters", "--", name).strip() == there:
                    (self.path / name).unlink()

    def _check_commits(self) -> None:
        """Raise one sentence if there are commits here with other files than ours, which would be pushed as well."""
        since = "@{upstream}..HEAD" if self._commit("@{upstream}") else "HEAD"
        names = self.run("log", "--format=", "--name-only", "-z", since).split("\0")
        top = self._places[1]
        foreign = [n for n in names if n and not (n.startswith(top) and self._is_ours(n.removeprefix(top)))]
        if foreign:
            raise Unreachable(
                f"{self.path} has commits of your own that were not pushed ({foreign[0]}); push them, then try again."
            )

    def committed(self, names: Sequence[str]) -> set[str]:
        """The files among these, or in these folders, that are in the last commit."""
        if self._commit("HEAD") is None:
            return set()
        return set(self.run("ls-tree", "-r", "--name-only", "-z", "HEAD", "--", *names).split("\0"))

    def commit(self, names: Sequence[str], message: str) -> None:
        """Commit these files and no others, whatever else is staged or changed."""
        given = "\0".join(names)
        chosen = ("--pathspec-from-file=-", "--pathspec-file-nul")
        self.run("add", "--force", *chosen, stdin=given, changes=True)
        self.run("commit", "--quiet", "--only", "-m", message, *chosen, stdin=given, changes=True)

    def push(self) -> None:
        """Push the own commits."""
        self._check_commits()
        remote, there = self.upstream
        self.run("push", "--quiet", remote, f"HEAD:{there}")

    # ---------------------------------------------------------------------------------------------------- commands

    def run(self, *words: str, stdin: str = "", changes: bool = False) -> str:
        """What a git command prints; raises its complaint. One that `changes` something holds the lock itself."""
        settings = [word for setting in (*SETTINGS, *self._author(words)) for word in ("-c", setting)]
        command = ["git", "--literal-pathspecs", "-C", str(self.path), *settings, *words]
        held = (self._lock,) if changes and self._lock is not None else ()
        pipe = subprocess.PIPE
        try:
            with subprocess.Popen(
                command,
                env=self._environment,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
                pass_fds=held,
            ) as process:
                try:
                    said, complaint = process.communicate(stdin.encode(), timeout=LONGEST)
                except subprocess.TimeoutExpired:
                    _end(process)
                    self._is_cut |= changes
                    raise GitTrouble(f"git {words[0]} took longer than {LONGEST:.0f} seconds") from None
        except OSError as error:
            raise GitTrouble(f"git cannot be run: {error.strerror}") from None
        if process.returncode != 0:
            raise GitTrouble(_reason(complaint.decode(errors="replace"), words[0]))
        return said.decode(errors="surrogateescape")

    @cached_property
    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in NOT_OURS} | QUIET
        own = os.environ.get("GIT_SSH_COMMAND") or _said("git", "-C", str(self.path), "config", "core.sshCommand")
        return kept | {"GIT_SSH_COMMAND": own or "ssh -oBatchMode=yes"}

    def _author(self, words: Sequence[str]) -> tuple[str, ...]:
        """An author for commits, where the user has configured none."""
        if words[0] not in ("commit", "rebase", "merge") or self._config("user.email"):
            return ()
        return ("user.name=cboc", "user.email=cboc@localhost")

    def _config(self, name: str) -> str:
        try:
            return self.run("config", "--get", name).strip()
        except GitTrouble:
            return ""

    def _commit(self, name: str) -> str | None:
        try:
            return self.run("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}").strip()
        except GitTrouble:
            return None

    # ------------------------------------------------------------------------------------------------------- alone

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        until = monotonic() + PATIENCE
        with open(self._store / "cboc.lock", "ab") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if monotonic() > until:
                        raise Unreachable(f"another process is at work in {self.path}; try again later.") from None
                    sleep(0.05)
            self._lock = file.fileno()
            try:
                yield
            finally:
                self._lock = None


def _said(*command: str) -> str:
    """What a command prints, or nothing."""
    found = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST, check=False)
    return found.stdout.decode(errors="replace").strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _reason(complaint: str, command: str) -> str:
    """The line of git's complaint that says most, without passwords in addresses."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    lines = [line.removeprefix("remote: ") for line in lines]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "!"))]
    line = (telling or lines or [f"git {command} failed"])[0]
    return re.sub(r"://[^/@\s]*@", "://", line.removeprefix("fatal: ").removeprefix("error: ").rstrip("."))
