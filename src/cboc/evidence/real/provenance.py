"""Which tables the results of a directory were made from: tables.json, a digest for each file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from cboc.errors import CbocError
from cboc.evidence.real.families import family
from cboc.evidence.real.source import PAGE, Source
from cboc.evidence.results import write_whole

NAME = "tables.json"


def sources_of(families: Iterable[str]) -> list[Source]:
    """The files of these families, each once."""
    return list(dict.fromkeys(source for name in families for source in family(name).sources))


def check_tables(results: Path, data: Path, families: Iterable[str]) -> dict[str, str]:
    """The digests of the files of these families; raises one sentence if results were made from others."""
    before, now = _kept(results), {source.file: source.digest(data) for source in sources_of(families)}
    for file, digest in now.items():
        if before.get(file, digest) != digest:
            raise CbocError(
                f"the runs in {results} were made from another {file} than that in {data}; use that one, or another "
                "directory for the results."
            )
    return before | now


def remember_tables(results: Path, digests: dict[str, str]) -> None:
    """Keep with the results what they are made from."""
    if _kept(results) == digests:
        return
    results.mkdir(parents=True, exist_ok=True)
    write_whole(results / NAME, json.dumps(digests, indent=1, sort_keys=True) + "\n")


def unpublished(results: Path, families: Iterable[str]) -> list[str]:
    """A sentence for each file that is not the published one."""
    known = _kept(results)
    return [
        f"The {source.file} of these runs is not the published table; they cannot be compared with those of {PAGE}."
        for source in sources_of(families)
        if known.get(source.file, source.published) != source.published
    ]


def _kept(results: Path) -> dict[str, str]:
    path = results / NAME
    if not path.exists():
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(known, dict) or not all(isinstance(digest, str) for digest in known.values()):
            raise TypeError(known)
    except (ValueError, TypeError, RecursionError):
        raise CbocError(f"{path} is damaged; restore it, or use another directory.") from None
    return known
