"""A shared folder that is a git working copy: pulled before entries are taken, and pushed after some were given.

Every entry has a file name of its own, so two sites never change the same file, and a commit can always be put on top
of what somebody else has pushed meanwhile. Files of the user are neither added nor pushed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from random import random
from time import monotonic, sleep

from cboc.exchange.feeds.clone import Clone, GitTrouble
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.folder import ENTRY, KEYS, STUDY, Folder, directory
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.network import Unreachable

TRIES = 8  # of a push, while others push as well
FRESH = 5.0  # seconds for which what was fetched is new enough


class GitFolder:
    """The carrier of one site, in a working copy with a remote that all sites reach."""

    silent: Mapping[str, str] = {}  # as with any folder

    def __init__(self, folder: Folder, site: str, fresh: float = FRESH) -> None:
        self.folder, self._site, self._fresh = folder, site, fresh
        self.copy = Clone(folder.path, is_ours=lambda name: name == STUDY or name.endswith((ENTRY, KEYS)))
        self._pulled: float | None = None  # when, by a clock that only runs
        self._pushed: frozenset[str] = frozenset()  # own files that the remote has

    def give(self, replica: Replica, site: str) -> None:
        """Put own entries into the folder, commit and push them."""
        self.folder.give(replica, site)
        self.push()

    def take(self, replica: Replica, sites: Iterable[str]) -> Iterator[FeedEntry]:
        """Pull, and take what is new."""
        self.pull()
        yield from self.folder.take(replica, sites)

    def pull(self) -> None:
        """Bring the folder up to date, unless that has just been done."""
        if self._pulled is not None and monotonic() - self._pulled < self._fresh:
            return
        with self._saying("pulled"), self.copy.alone():
            self._commit()
            self.copy.fetch()
            self.copy.update()
        self._pulled = monotonic()

    def push(self) -> None:
        """Commit own files that are new, and push them; if somebody else was faster, on top of that."""
        files = self._files()
        if files <= self._pushed:
            return
        with self._saying("pushed"), self.copy.alone():
            self._commit()
            for number in range(TRIES):
                if not self.copy.distance[0] or self._is_pushed(is_last=number == TRIES - 1):
                    break
                sleep(random() * 0.1 * 2**number)
        self._pushed = files

    @contextmanager
    def _saying(self, what: str) -> Iterator[None]:
        """Say what could not be done; what is in the folder stays there, and is pushed the next time."""
        try:
            yield
        except GitTrouble as trouble:
            raise Unreachable(f"{self.folder.path} cannot be {what}: {trouble}.") from None
        except OSError as error:
            raise Unreachable(f"{self.folder.path} cannot be {what}: {error.strerror}.") from None

    def _is_pushed(self, is_last: bool) -> bool:
        """Push once; if somebody else has pushed meanwhile, take that in, and say that it has to be tried again."""
        try:
            self.copy.push()
        except GitTrouble as trouble:
            self.copy.fetch()
            is_beaten = self.copy.distance[1] > 0 or "lock" in str(trouble) or "reject" in str(trouble)
            if is_last or not is_beaten:
                raise
            self.copy.update()
            return False
        return True

    def _files(self) -> frozenset[str]:
        """The own files in the folder, by their paths in it."""
        place = directory(self._site)
        try:
            names = [entry.name for entry in os.scandir(self.folder.path / place)]
        except FileNotFoundError:
            names = []
        own = {f"{place}/{name}" for name in names if name.endswith((ENTRY, KEYS)) and not name.startswith(".")}
        return frozenset(own | ({STUDY} if (self.folder.path / STUDY).exists() else set()))

    def _commit(self) -> None:
        if new := sorted(self._files() - self.copy.committed([directory(self._site), STUDY])):
            self.copy.commit(new, f"cboc: {self._site}")
