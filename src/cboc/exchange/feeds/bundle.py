"""Feeds in one file, to go by mail or on a stick: the same entries, one a line, in any order, any number of times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from cboc.errors import CbocError
from cboc.exchange.feeds.entry import FIRST, LARGEST, FeedEntry
from cboc.exchange.feeds.versions import named_by
from cboc.exchange.study import Study
from cboc.exchange.wire import Misfit

TITLE = b"cboc feeds 1"


def write_bundle(path: Path, entries: Iterable[FeedEntry]) -> int:
    """Write these entries into a file; returns how many they are."""
    lines = [entry.to_bytes() for entry in entries]
    try:
        path.write_bytes(b"\n".join([TITLE, *lines, b""]))
    except OSError as error:
        raise CbocError(f"{path} cannot be written: {error.strerror}; choose another place.") from None
    return len(lines)


def read_bundle(path: Path, on_damage: Callable[[], object] = lambda: None) -> Iterator[FeedEntry]:
    """The entries of a file; lines that are damaged or cut off are left out, and told one by one."""
    try:
        with open(path, "rb") as file:
            if file.readline(2 * len(TITLE)).strip() != TITLE:
                raise CbocError(f"{path} is not a file of feeds; cboc feed export writes one.")
            yield from read_lines(file, on_damage)
    except OSError as error:
        raise CbocError(f"{path} cannot be read: {error.strerror}.") from None


def read_lines(file: BinaryIO, on_damage: Callable[[], object] = lambda: None) -> Iterator[FeedEntry]:
    """The entries in the lines of a file, without those that are damaged."""
    while line := file.readline(LARGEST + 2):
        try:
            yield FeedEntry.from_bytes(line)
        except Misfit:
            on_damage()


def study_of(entries: Iterable[FeedEntry]) -> Study | None:
    """The study that the hellos among these entries name, in its first version; None if there is none."""
    named = [(entry.study, named_by(entry)) for entry in entries if entry.before == FIRST]
    studies = [study for digest, study in named if study is not None and study.digest == digest]
    return min(studies, key=lambda study: study.version, default=None)
