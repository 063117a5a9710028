"""A site's keys: one signs its feed, one opens what was sealed for it. Both are made at the site and stay there.

A site is known by its two public keys. Their fingerprint is short enough for two people to compare by telephone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from cboc.errors import CbocError

KEY = 64  # hexadecimal digits of a key
PURPOSE = b"cboc feed\n"  # what is signed begins with this, so that a signature cannot be used for anything else


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
        """Twenty digits in groups of four, for two people to compare: 66 bits of a hash of both keys."""
        number = int.from_bytes(sha256(f"{self.signing}{self.sealing}".encode()).digest()[:16], "big")
        digits = f"{number % 10**20:020}"
        return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))

    @cached_property
    def _verifying(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.signing))

    def has_signed(self, message: bytes, signature: str) -> bool:
        """Whether the site has signed this."""
        try:
            self._verifying.verify(bytes.fromhex(signature), PURPOSE + message)
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

    def sign(self, message: bytes) -> str:
        """The signature of a message, as a hexadecimal text."""
        return self._signing.sign(PURPOSE + message).hex()

    def shared_with(self, other: str) -> bytes:
        """The secret that these keys and a public sealing key have in common (X25519)."""
        return self._opening.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(other)))
