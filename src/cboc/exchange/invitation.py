"""An invitation as one file: all that a site needs to join a study through a coordinator.

    {"format": "cboc invitation 1", "study": "buffer study", "site": "lab-b", "url": "https://cboc.example.org:8000",
     "code": "8Zk...", "certificate": "-----BEGIN CERTIFICATE-----...", "expires_at": 1795000000.0, "sum": "5f0c..."}

Until the code in it has been used, whoever has the file can join as that site: only its owner may read it, and it is
handed over as a key would be.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cboc.errors import CbocError
from cboc.exchange import wire
from cboc.private_files import for_owner

ENDING = ".cboc"
KIND = "cboc invitation"
FORMAT = f"{KIND} 1"
LARGEST = 2**16  # bytes of a file; a certificate with all that vouches for it has less
LONGEST_URL = 2000  # characters
OTHER = re.compile(r"[a-z]{2,}:")  # how other addresses begin: https:, folder:, stick:, peers:


def _text(longest: int, words: str) -> wire.Kind:
    return wire.Kind(lambda value: isinstance(value, str) and 0 < len(value) <= longest, words, {"type": "string"})


FORM: wire.Form = {
    "study": wire.NAME,
    "site": wire.NAME,
    "url": _text(LONGEST_URL, "an address"),
    "code": wire.SECRET,
    "certificate": _text(LARGEST, "a PEM text").optional,
    "expires_at": wire.TIME,
}


@dataclass(frozen=True)
class Invitation:
    """What a site needs to join: whose it is, where the coordinator is, the code that works once, whom to trust."""

    study: str
    site: str
    url: str
    code: str
    certificate: str | None  # PEM text, if the coordinator made its own
    expires_at: float  # in seconds since 1970, by the coordinator's clock

    @property
    def text(self) -> str:
        """The content of the file."""
        said = {"format": FORMAT, **asdict(self)}
        return json.dumps(said | {"sum": _sum(said)}, indent=1) + "\n"

    def write(self, path: Path) -> None:
        """Write the file, which must not be there yet; only its owner may read it."""
        check_free(path)
        with open(path, "x", encoding="utf-8", opener=for_owner) as file:
            file.write(self.text)


def is_invitation(address: object) -> bool:
    """Whether this is the path of an invitation file, not the address of a coordinator, a folder or a stick."""
    text = str(address) if isinstance(address, str | Path) else ""
    return text.endswith(ENDING) and OTHER.match(text) is None


def check_free(path: Path) -> None:
    """Raise one sentence if there is a file already: it may hold an invitation that somebody is about to use."""
    if path.exists():
        raise CbocError(f"{path} exists already; move it away, or choose another name.")
    if not path.absolute().parent.is_dir():
        raise CbocError(f"{path} cannot be written: its folder does not exist; choose another one.")


def read_invitation(path: Path) -> Invitation:
    """Read an invitation file."""
    if not path.is_file():
        raise CbocError(f"there is no invitation file {path}; the person who runs the coordinator makes one.")
    with path.open("rb") as file:
        return parse_invitation(file.read(LARGEST + 1), str(path))


def parse_invitation(content: bytes | str, name: str) -> Invitation:
    """The invitation in a file's content; `name` is what to call the file if something is wrong with it."""
    try:
        said = wire.read_object(content if len(content) <= LARGEST else b"")
    except (wire.Misfit, UnicodeDecodeError):
        said = {}
    written = said.pop("format", None)
    if not isinstance(written, str) or not written.startswith(KIND):
        raise CbocError(
            f"{name} is not an invitation file, or was damaged on its way; ask for it again (cboc invite --file)."
        )
    if written != FORMAT:
        raise CbocError(
            f"{name} was written by another version of cboc: it has the format {written[:40]!r}, and this one reads "
            f"'{FORMAT}'; install that version."
        )
    if said.pop("sum", None) != _sum({"format": written, **said}):
        raise CbocError(f"{name} was damaged or altered on its way; ask for it again (cboc invite --file).")
    try:
        return Invitation(**wire.fitted(FORM, said, is_exact=True))
    except wire.Misfit as misfit:
        raise CbocError(f"{name} is not a sound invitation: {misfit}; ask for another.") from None


def _sum(said: dict[str, Any]) -> str:
    """A checksum: a letter that was lost on the way is found before anything is sent."""
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
