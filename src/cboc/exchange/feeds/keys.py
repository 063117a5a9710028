"""A site's keys: one signs its feed, one opens what was sealed for it. Both are made at the site and stay there.

A site is known by its two public keys. Their fingerprint, its code, is short enough for two people to compare by
telephone, and long enough that nobody finds other keys with the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cboc.errors import CbocError

KEY = 64  # hexadecimal digits of a key
DIGITS, GROUP = 30, 5  # of a code
FEED, REQUEST, CERTIFICATE = (  # what is signed begins with its purpose: a signature cannot be used for anything else
    b"cboc feed\n",
    b"cboc request\n",
    b"cboc certificate\n",
)


@dataclass(frozen=True)
class Identity:
    """The public keys of a site, as hexadecimal texts."""

    signing: str  # Ed25519
    sealing: str  # X25519

    def __post_init__(self) -> None:
        for key in (self.signing, self.sealing):
            if not isinstance(key, str) or len(key) != KEY or not set(key) <= set("0123456789abcdef"):
                raise CbocError(f"a public key has {KEY} hexadecimal digits; {str(key)[:KEY]!r} is not one.")

    @property
    def fingerprint(self) -> str:
        """The code of these keys: thirty digits in groups of five, 100 bits of a hash of both."""
        number = int.from_bytes(sha256(f"{self.signing}{self.sealing}".encode()).digest(), "big")
        return _grouped(f"{number % 10**DIGITS:0{DIGITS}}")

    @cached_property
    def _verifying(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.signing))

    def has_signed(self, message: bytes, signature: str, purpose: bytes = FEED) -> bool:
        """Whether the site has signed this."""
        try:
            self._verifying.verify(bytes.fromhex(signature), purpose + message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class Keys:
    """The private keys of a site."""

    _signing: Ed25519PrivateKey
    _opening: X25519PrivateKey

    @classmethod
    def make(cls) -> Keys:
        """New keys."""
        return cls(Ed25519PrivateKey.generate(), X25519PrivateKey.generate())

    @classmethod
    def from_text(cls, text: str) -> Keys:
        """The keys that `to_text` wrote."""
        try:
            signing, opening = (bytes.fromhex(part) for part in text.split(" "))
            return cls(Ed25519PrivateKey.from_private_bytes(signing), X25519PrivateKey.from_private_bytes(opening))
        except (ValueError, AttributeError):
            raise CbocError("a site's keys are two hexadecimal texts; these are not.") from None

    def to_text(self) -> str:
        """The keys as text, to be kept in a file that only its owner reads."""
        return f"{self._signing.private_bytes_raw().hex()} {self._opening.private_bytes_raw().hex()}"

    @cached_property
    def identity(self) -> Identity:
        """The public keys."""
        return Identity(
            self._signing.public_key().public_bytes_raw().hex(), self._opening.public_key().public_bytes_raw().hex()
        )

    def sign(self, message: bytes, purpose: bytes = FEED) -> str:
        """The signature of a message, as a hexadecimal text."""
        return self._signing.sign(purpose + message).hex()

    def derived(self, purpose: str) -> str:
        """A secret key for a purpose, the same one every time, as a hexadecimal text."""
        return HKDF(SHA256(), 32, None, purpose.encode()).derive(self._opening.private_bytes_raw()).hex()

    def shared_with(self, other: str) -> bytes:
        """The secret that these keys and a public sealing key have in common (X25519)."""
        return self._opening.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(other)))


def as_code(given: str) -> str:
    """A code as it is written here, however people have grouped its digits; raises one sentence if it is none."""
    digits = "".join(letter for letter in given if letter not in " -")
    if len(digits) != DIGITS or not (digits.isascii() and digits.isdigit()):
        raise CbocError(
            f"a code has {DIGITS} digits, such as 12345-67890-12345-67890-12345-67890; '{given[:60]}' is not one."
        )
    return _grouped(digits)


def _grouped(digits: str) -> str:
    return "-".join(digits[i : i + GROUP] for i in range(0, DIGITS, GROUP))
