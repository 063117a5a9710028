"""A shared folder as a carrier: a network drive, a synced folder, a mounted bucket, a git working copy.

    FOLDER/cboc-study.json                        what was agreed, and its digest; the first site to join writes it
    FOLDER/lab-b-3f2a9c01/000007-9ab31c….entry    an entry of lab-b, under its number and hash

Every file is written once, under another name first, and never changed, locked or deleted. What cannot be read is not
there yet: a copy may be half-way, or in conflict with another. Names of files are hints only; what counts is what they
hold. No step depends on a clock.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from cboc.errors import CbocError
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import Seal
from cboc.exchange.http import shown
from cboc.exchange.network import Unreachable
from cboc.exchange.study import Study
from cboc.exchange.study_diff import differences
from cboc.exchange.wire import Misfit

STUDY, DIGEST = "cboc-study.json", "digest"
ENTRY = ".entry"
LARGEST = 4_000_000  # bytes of a file that is read
NAME = re.compile(r"(\d{6,})-([0-9a-f]{16})")


class Folder:
    """The folder of one study. `seal` opens what others have sealed; with `seals` own entries are sealed as well."""

    silent: Mapping[str, str] = {}  # a folder is there for all sites, or for none

    def __init__(self, path: str | Path, seal: Seal | None = None, *, seals: bool = False) -> None:
        self.path, self._seal, self._seals = Path(path), seal, seals
        self._given: set[str] = set()  # names of own files that are there
        self._read: set[tuple[str, str]] = set()  # files whose entry was taken, by folder and name

    # -------------------------------------------------------------------------------------------------- the study

    def study(self) -> Study | None:
        """What was agreed on in this folder; None if nobody has written it yet."""
        content = self._content()
        if content is None:
            return None
        try:
            said = json.loads(content)
            digest, found = said.pop(DIGEST), Study.from_agreement(said)
            if found.digest != digest:  # a bit may have been flipped on the way
                raise ValueError
            return found
        except (CbocError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
            raise CbocError(
                f"{self.path / STUDY} is not complete yet, or not a study; wait until it is copied, or ask who made it."
            ) from None

    def make(self) -> None:
        """Make the folder, if only its own name is missing."""
        if self.path.parent.is_dir():
            with suppress(OSError):  # told when it is used
                self.path.mkdir(exist_ok=True)

    def found(self, study: Study) -> None:
        """Write down what was agreed; raises one sentence if the folder has another study."""
        there = self.study()
        if there is None:
            _put(self.path, STUDY, _written(study))
        elif there.digest != study.digest:
            how = differences(study.agreement(), there.agreement())[0]
            raise CbocError(f"{self.path} holds another study than yours ({shown(how)}); agree on one, or use another.")

    def check(self, study: Study) -> None:
        """Raise one sentence if this is not the folder of the study any more."""
        if self._content() == _written(study):  # as we write it: nothing has to be read from it
            return
        try:
            there = self.study()
        except Unreachable:
            raise
        except CbocError as error:
            raise Unreachable(str(error)) from None
        if there is None:
            raise Unreachable(f"{self.path} does not hold study '{study.name}' any more; is the right drive connected?")
        if there.digest != study.digest:
            how = differences(study.agreement(), there.agreement())[0]
            raise CbocError(f"{self.path} now holds another study ({shown(how)}); bring back that of '{study.name}'.")

    def _content(self) -> bytes | None:
        """The file that says what was agreed; None if it is not there."""
        if not self.path.is_dir():
            raise Unreachable(f"there is no folder {self.path}; is the drive connected, and is it synced?")
        try:
            with open(self.path / STUDY, "rb") as file:
                return file.read(LARGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unreachable(f"the folder {self.path} cannot be read: {error.strerror}.") from None

    # ------------------------------------------------------------------------------------------------- the entries

    def give(self, replica: Replica, site: str) -> None:
        """Put the own entries into the folder that are not there yet; sealed ones also for readers who came later."""
        self.check(replica.study)
        seal = self._seal if self._seals else None
        readers = "" if seal is None else f"-{seal.readers(replica)}"
        wanted = {
            f"{entry.number:06}-{entry.hash[:16]}{readers}{ENTRY}": entry for entry in replica.feeds[site].entries
        }
        place, new = self.path / directory(site), wanted.keys() - self._given
        if not new:
            return
        try:
            place.mkdir(exist_ok=True)
            there = {entry.name for entry in os.scandir(place)}
            for name in sorted(new - there):
                entry = wanted[name]
                _put(place, name, entry.to_bytes() if seal is None else seal.close(entry, replica))
        except OSError as error:
            raise Unreachable(f"{place} cannot be written: {error.strerror}.") from None
        self._given |= new

    def take(self, replica: Replica, sites: Iterable[str]) -> Iterator[FeedEntry]:
        """The entries of these sites that were not taken before."""
        self.check(replica.study)
        for site in sites:
            feed, place = replica.feeds[site], directory(site)
            whole = {entry.hash[:16] for entry in feed.entries if entry.is_whole}
            for name in self._names(place):
                match = NAME.match(name)
                if match is not None and match[2] in whole:
                    continue
                entry = self._entry(place, name)
                if entry is not None:
                    yield entry
                    if replica.knows(entry):
                        self._read.add((place, name))

    def _names(self, place: str) -> list[str]:
        """The names of files in a site's folder that may hold something new, in the order of their numbers."""
        try:
            names = [entry.name for entry in os.scandir(self.path / place) if entry.is_file()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise Unreachable(f"{self.path / place} cannot be read: {error.strerror}.") from None
        return sorted(name for name in names if ENTRY in name and (place, name) not in self._read)

    def _entry(self, place: str, name: str) -> FeedEntry | None:
        """The entry in a file; None if it is not there yet, as a whole."""
        try:
            with open(self.path / place / name, "rb") as file:
                content = file.read(LARGEST)
            return FeedEntry.from_bytes(content) if self._seal is None else self._seal.open(content)
        except (OSError, Misfit):
            return None


def directory(site: str) -> str:
    """The name of a site's folder: safe on every system, and different for different sites."""
    plain = re.sub(r"[^a-z0-9]+", "-", site.lower()).strip("-")[:40]
    return f"{plain or 'site'}-{sha256(site.encode()).hexdigest()[:8]}"


def _written(study: Study) -> bytes:
    """What was agreed, as it is written into the folder."""
    return json.dumps(study.agreement() | {DIGEST: study.digest}, ensure_ascii=True).encode()


def _put(place: Path, name: str, content: bytes) -> None:
    """Write a file under another name, and rename it when it is complete."""
    begun = place / f".{name}.{token_hex(4)}.part"
    try:
        with open(begun, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(begun, place / name)
    except OSError as error:
        with suppress(OSError):
            begun.unlink()
        raise Unreachable(f"{place} cannot be written: {error.strerror}.") from None
