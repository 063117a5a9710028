"""The seal of a backup: without its key nobody can read it, and nobody can change a bit of it unnoticed.

    cboc sealed backup 1         a line, for people
    8 bytes                      the name of the key
    32 bytes                     a salt: every backup has a key of its own, derived from the key file's (HKDF-SHA256)
    pieces                       of 64 KiB, each encrypted (ChaCha20-Poly1305); the last one says that it is the last

A key file holds 64 hexadecimal digits. Only its owner may read it, and it is not kept with the backups.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import IO, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cboc.errors import CbocError
from cboc.private_files import for_owner

TITLE = b"cboc sealed backup 1\n"
NAME, SALT, TAG = 8, 32, 16  # bytes
PIECE = 2**16
SECRET = 32
LARGEST = 200  # bytes of a key file: its digits, and what an editor may add


@dataclass(frozen=True)
class Key:
    """The key of a coordinator's backups."""

    _secret: bytes = field(repr=False)
    path: Path  # where it was read, for sentences

    @classmethod
    def make(cls, path: Path) -> Key:
        """Make a new key, in a file that is not there yet."""
        secret = token_bytes(SECRET)
        try:
            with open(path, "x", encoding="ascii", opener=for_owner) as file:
                file.write(secret.hex() + "\n")
        except OSError as error:
            raise CbocError(f"the key {path} cannot be made: {error.strerror}; name another file with --key.") from None
        return cls(secret, path)

    @classmethod
    def read(cls, path: Path) -> Key:
        """Read a key that was made before."""
        try:
            with path.open("rb") as file:
                text = file.read(LARGEST).strip()
        except OSError as error:
            raise CbocError(
                f"the key {path} cannot be read: {error.strerror}; name the one of these backups with --key."
            ) from None
        try:
            secret = bytes.fromhex(text.decode("ascii"))
        except ValueError:
            secret = b""
        if len(secret) != SECRET:
            raise CbocError(f"{path} is not a key of backups, which has {2 * SECRET} hexadecimal digits; name another.")
        return cls(secret, path)

    @property
    def name(self) -> bytes:
        """What tells it from other keys; it is no secret."""
        return sha256(b"cboc backup key\n" + self._secret).digest()[:NAME]

    def cipher(self, salt: bytes) -> ChaCha20Poly1305:
        """The cipher of one backup."""
        return ChaCha20Poly1305(HKDF(SHA256(), SECRET, salt, TITLE).derive(self._secret))


def is_sealed(path: Path) -> bool:
    """Whether a file begins as a sealed backup."""
    with path.open("rb") as file:
        return file.read(len(TITLE)) == TITLE


class Sealing:
    """Takes bytes, and writes them to a file in sealed pieces; it is whole when `finish` was called."""

    def __init__(self, file: IO[bytes], key: Key) -> None:
        salt = token_bytes(SALT)
        self._file, self._cipher, self._head = file, key.cipher(salt), TITLE + key.name + salt
        self._waiting, self._number = bytearray(), 0
        file.write(self._head)

    def write(self, content: bytes) -> int:
        self._waiting += content
        while len(self._waiting) > PIECE:  # a full piece waits: it may be the last one
            self._write(bytes(self._waiting[:PIECE]), is_last=False)
            del self._waiting[:PIECE]
        return len(content)

    def flush(self) -> None:
        """Nothing to do: a piece is sealed when it is full."""

    def finish(self) -> None:
        self._write(bytes(self._waiting), is_last=True)

    def _write(self, piece: bytes, *, is_last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, is_last=is_last), piece, self._head))
        self._number += 1


def unsealed(file: IO[bytes], key: Key, path: Path) -> IO[bytes]:
    """The content of a sealed backup, of which every piece is verified before a byte of it is given."""
    head = file.read(len(TITLE) + NAME + SALT)
    name, salt = head[len(TITLE) :][:NAME], head[len(TITLE) + NAME :]
    if len(salt) < SALT:
        raise _changed(path)
    if name != key.name:
        raise CbocError(
            f"{path} is sealed with the key {name.hex()}, and {key.path} is {key.name.hex()}: it is of another "
            "coordinator, or somebody has sealed it anew; name its own key with --key, or use another copy."
        )
    return io.BufferedReader(_Unsealed(_pieces(file, key.cipher(salt), head, path)))


def _pieces(file: IO[bytes], cipher: ChaCha20Poly1305, head: bytes, path: Path) -> Iterator[bytes]:
    number, piece = 0, file.read(PIECE + TAG)
    while piece or number == 0:
        following = file.read(PIECE + TAG)
        try:
            yield cipher.decrypt(_nonce(number, is_last=not following), piece, head)
        except InvalidTag:
            raise _changed(path) from None
        number, piece = number + 1, following


class _Unsealed(io.RawIOBase):
    """Pieces as a file to read from."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            following = next(self._pieces, None)
            if following is None:
                return 0
            self._rest = following
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


def _changed(path: Path) -> CbocError:
    return CbocError(f"{path} was changed or cut off after it was sealed; use another copy.")
