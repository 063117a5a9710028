"""Entries that only their readers can open: designs the neighbours, what is said all members.

Every part is encrypted with a key of its own (ChaCha20-Poly1305), and that key for each reader (X25519 with the
reader's sealing key, HKDF). Whoever runs the storage sees which site wrote how many bytes as its entry number n.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from os import urandom
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cboc.exchange.feeds.entry import DESIGNS, SAID, Act, FeedEntry
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.wire import Misfit

NONCE = bytes(12)  # every key is used once
SEALED = "sealed"


class Seal:
    """How one site seals its entries, and opens those of the others."""

    def __init__(self, site: str, keys: Keys) -> None:
        self.site, self._keys = site, keys

    def readers(self, replica: Replica) -> str:
        """A text that differs when there are other members whose keys are known."""
        known = [feed.identity.sealing for feed in replica.feeds.values() if feed.identity is not None]
        return sha256(" ".join(sorted(known)).encode()).hexdigest()[:8]

    def close(self, entry: FeedEntry, replica: Replica) -> bytes:
        """An entry as it lies in the folder. Only turns are sealed: who is there, left or closed a round is open."""
        if entry.act is not Act.TURN:
            return entry.to_bytes()
        neighbours = [*replica.neighbours(self.site), self.site]
        readers = {SAID: list(replica.current(self.site).sites), DESIGNS: neighbours}
        parts = {name: _sealed(text, entry, replica, readers[name]) for name, text in entry.parts.items()}
        return json.dumps({"head": entry.head, "signature": entry.signature, SEALED: parts}, sort_keys=True).encode()

    def open(self, content: bytes) -> FeedEntry:
        """An entry with the parts that this site may read; raises `Misfit` if it is none."""
        try:
            whole = json.loads(content)
            sealed = whole.pop(SEALED) if isinstance(whole, dict) and SEALED in whole else None
            if sealed is None:
                return FeedEntry.from_bytes(content)
            opened = {name: self._opened(part, whole["head"]) for name, part in sealed.items()}
            parts = {name: text for name, text in opened.items() if text is not None}
            return FeedEntry.from_bytes(json.dumps({**whole, **parts}).encode())
        except Misfit:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Misfit(f"it is not a sealed entry: {error}") from None

    def _opened(self, part: dict[str, Any], head: str) -> str | None:
        locked = part["keys"].get(self._keys.identity.sealing)
        if locked is None:
            return None
        try:
            shared = self._keys.shared_with(part["with"])
            key = ChaCha20Poly1305(_derived(shared, part["with"])).decrypt(NONCE, bytes.fromhex(locked), None)
            return ChaCha20Poly1305(key).decrypt(NONCE, bytes.fromhex(part["text"]), head.encode()).decode()
        except InvalidTag:
            raise Misfit("its seal is broken") from None


def _sealed(text: str, entry: FeedEntry, replica: Replica, readers: Iterable[str]) -> dict[str, Any]:
    """A part encrypted for its readers, as far as their keys are known."""
    key, once = urandom(32), X25519PrivateKey.generate()
    public = once.public_key().public_bytes_raw().hex()
    known = [feed.identity.sealing for feed in map(replica.feeds.__getitem__, readers) if feed.identity is not None]
    locked = {}
    for reader in known:
        try:
            shared = once.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(reader)))
        except ValueError:  # no key at all: whoever names such a one reads nothing
            continue
        locked[reader] = ChaCha20Poly1305(_derived(shared, public)).encrypt(NONCE, key, None).hex()
    return {
        "with": public,
        "keys": locked,
        "text": ChaCha20Poly1305(key).encrypt(NONCE, text.encode(), entry.head.encode()).hex(),
    }


def _derived(shared: bytes, public: str) -> bytes:
    return HKDF(SHA256(), 32, None, b"cboc seal " + public.encode()).derive(shared)
