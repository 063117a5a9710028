"""A shared folder as a carrier: a network drive, a synced folder, a mounted bucket, a git working copy.

    FOLDER/cboc-study.json                        what was agreed, and its digest; the first site to join writes it
    FOLDER/lab-b-3f2a9c01/000007-9ab31c….entry    an entry of lab-b, under its number and hash
    FOLDER/lab-b-3f2a9c01/77c0e1….keys            for readers of what lab-b has sealed: its keys, encrypted for them

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
from cboc.exchange.feeds.entry import SAID, FeedEntry
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import Seal
from cboc.exchange.http import shown
from cboc.exchange.network import Unreachable
from cboc.exchange.study import Study
from cboc.exchange.study_diff import differences
from cboc.exchange.wire import Misfit

STUDY, DIGEST = "cboc-study.json", "digest"
ENTRY, KEYS = ".entry", ".keys"
LARGEST = 4_000_000  # bytes of a file that is read


class Folder:
    """The folder of one study. `seal` opens what others have sealed; with `seals` own entries are sealed as well."""

    silent: Mapping[str, str] = {}  # a folder is there for all sites, or for none

    def __init__(self, path: str | Path, seal: Seal | None = None, *, seals: bool = False) -> None:
        self.path, self._seal, self._seals = Path(path), seal, seals
        self._given: set[str] = set()  # names of own entries that are there
        self._readers: set[tuple[str, tuple[str, ...]]] = set()  # who can read which parts of them, if they are sealed
        self._read: dict[tuple[str, bool], set[str]] = {}  # names of files taken, by folder, and with designs or not

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
        """Put the own entries into the folder that are not there yet; if they are sealed, also keys for new readers."""
        self.check(replica.study)
        seal = self._seal if self._seals else None
        wanted = {file_name(entry): entry for entry in replica.feeds[site].entries}
        place, new = self.path / directory(site), wanted.keys() - self._given
        readers = {} if seal is None else seal.readers(replica)
        if not new and readers.items() <= self._readers:
            return
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            raise Unreachable(f"{place} cannot be written: {error.strerror}.") from None
        there = self._names(place.name)
        for name in sorted(new - there):
            _put(place, name, wanted[name].to_bytes() if seal is None else seal.close(wanted[name]))
        self._given |= new
        self._read[place.name, True] = self._read.get((place.name, True), set()) | self._given
        if seal is not None:
            self._admit(seal, readers, place, there)

    def _admit(self, seal: Seal, readers: Mapping[str, tuple[str, ...]], place: Path, there: set[str]) -> None:
        """Put down the own keys for those readers who do not have them yet."""
        if readers.items() <= self._readers:
            return
        for name in filter(_is_keys, there):
            self._readers |= seal.readers_of(self._content_of(place.name, name)).items()
        if missing := dict(readers.items() - self._readers):
            content = seal.keys_for(missing)
            _put(place, f"{sha256(content).hexdigest()[:16]}{KEYS}", content)
            self._readers |= missing.items()

    def take(self, replica: Replica, sites: Iterable[str]) -> Iterator[FeedEntry]:
        """The entries of these sites that were not taken before."""
        self.check(replica.study)
        neighbours = set() if self._seal is None else {self._seal.site, *replica.neighbours(self._seal.site)}
        for site in sites:
            place, is_near = directory(site), self._seal is None or site in neighbours
            kept = replica.feeds[site].entries
            if (place, is_near) not in self._read:
                self._read[place, is_near] = {file_name(entry) for entry in kept if is_enough(entry, is_near)}
            read = self._read[place, is_near]
            new = self._names(place) - read
            if self._seal is not None and self._seal.needs_keys_of(site, is_near):
                for name in filter(_is_keys, new):
                    self._seal.learn(site, self._content_of(place, name))
            for name in sorted(filter(_is_entry, new)):
                entry = self._entry(place, name)
                if entry is not None:
                    yield entry
                    if is_enough(entry, is_near) and replica.knows(entry):
                        read.add(name)
        if self._seal is not None:
            self._seal.save(replica)

    def _names(self, place: str) -> set[str]:
        """The names of the files in a site's folder."""
        try:
            return {entry.name for entry in os.scandir(self.path / place) if entry.is_file()}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise Unreachable(f"{self.path / place} cannot be read: {error.strerror}.") from None

    def _entry(self, place: str, name: str) -> FeedEntry | None:
        """The entry in a file; None if it is not there yet, as a whole."""
        try:
            content = self._content_of(place, name)
            return FeedEntry.from_bytes(content) if self._seal is None else self._seal.open(content)
        except Misfit:
            return None

    def _content_of(self, place: str, name: str) -> bytes:
        """What a file holds; nothing if it cannot be read now."""
        try:
            with open(self.path / place / name, "rb") as file:
                return file.read(LARGEST)
        except OSError:
            return b""


def is_enough(entry: FeedEntry, is_near: bool) -> bool:
    """Whether nothing is missing of an entry: all of it is here, or of one that is not near all but its designs."""
    return entry.is_whole or (not is_near and SAID in entry.parts)


def file_name(entry: FeedEntry) -> str:
    """The name of an entry's file."""
    return f"{entry.number:06}-{entry.hash[:16]}{ENTRY}"


def _is_entry(name: str) -> bool:
    return ENTRY in name  # also in the name of a copy


def _is_keys(name: str) -> bool:
    return name.endswith(KEYS)


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
