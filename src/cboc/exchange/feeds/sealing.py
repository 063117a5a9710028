"""Entries that only their readers can open: designs the neighbours, what is said all members.

A site has one key for each kind of part, derived from its private key, and encrypts that part of all its turns with it
(ChaCha20-Poly1305). Beside its entries it puts these keys, once for each reader: encrypted with X25519 and the reader's
sealing key (HKDF). So an entry costs the same however many read it. Whoever runs the storage sees which site wrote how
many bytes as its entry number n, and for whom. Forged keys open nothing: what comes out has to be what was signed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cboc.exchange.feeds.entry import DESIGNS, SAID, Act, FeedEntry
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.wire import Misfit

ONCE = bytes(12)  # the nonce of a key that is used once
KEY = 32  # bytes
PARTS = (SAID, DESIGNS)  # a reader of designs also reads what is said
SEALED = "sealed"
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidTag)


class Seal:
    """How one site seals its entries, and opens those of the others. Keys that have opened something are kept."""

    def __init__(self, site: str, keys: Keys, kept: FeedFile | None = None) -> None:
        self.site, self._keys, self._kept = site, keys, kept
        self._proven: dict[str, dict[str, str]] = {} if kept is None else kept.about.get("opening", {})
        self._offered: dict[str, list[dict[str, str]]] = {}  # by site, not proven yet
        self._used: list[tuple[FeedEntry, dict[str, str]]] = []  # what they have opened

    # ------------------------------------------------------------------------------------------------- the own entries

    def close(self, entry: FeedEntry) -> bytes:
        """An entry as it lies in the folder. Only turns are sealed: who is there, left or closed a round is open."""
        if entry.act is not Act.TURN:
            return entry.to_bytes()
        sealed = {
            name: _cipher(self._own(name)).encrypt(_nonce(entry), text.encode(), entry.head.encode()).hex()
            for name, text in entry.parts.items()
        }
        return json.dumps({"head": entry.head, "signature": entry.signature, SEALED: sealed}, sort_keys=True).encode()

    def readers(self, replica: Replica) -> dict[str, tuple[str, ...]]:
        """The parts that others may read, by their sealing keys as far as these are known."""
        members, near = replica.current(self.site).sites, {*replica.neighbours(self.site)}
        known = [(site, replica.feeds[site].identity) for site in members if site != self.site]
        return {who.sealing: PARTS if site in near else PARTS[:1] for site, who in known if who is not None}

    def keys_for(self, readers: Mapping[str, Iterable[str]]) -> bytes:
        """The own keys, encrypted for each of these readers."""
        once = X25519PrivateKey.generate()
        public, locked = once.public_key().public_bytes_raw().hex(), {}
        for reader, parts in readers.items():
            try:
                shared = once.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(reader)))
            except ValueError:  # no key at all: whoever names such a one reads nothing
                continue
            keys = b"".join(bytes.fromhex(self._own(part)) for part in parts)
            locked[reader] = _cipher(_derived(shared, public)).encrypt(ONCE, keys, None).hex()
        text = json.dumps({"with": public, "keys": locked}, sort_keys=True)
        return json.dumps({"text": text, "signature": self._keys.sign(text.encode())}).encode()

    def readers_of(self, content: bytes) -> dict[str, tuple[str, ...]]:
        """The readers for whom a file has keys, and of which parts; none if this site has not written it."""
        try:
            whole = json.loads(content)
            if not self._keys.identity.has_signed(whole["text"].encode(), whole["signature"]):
                return {}
            return {key: PARTS[: len(locked) // 2 // KEY] for key, locked in json.loads(whole["text"])["keys"].items()}
        except UNREADABLE:
            return {}

    def _own(self, part: str) -> str:
        return self._keys.derived(f"cboc seal {part}")

    # ---------------------------------------------------------------------------------------------- those of the others

    def needs_keys_of(self, site: str, is_near: bool) -> bool:
        """Whether keys of a site are missing here that this one may have."""
        return site != self.site and not set(PARTS if is_near else PARTS[:1]) <= self._proven.get(site, {}).keys()

    def learn(self, site: str, content: bytes) -> None:
        """Take the keys that a site has put down for this one, if there are some."""
        with suppress(*UNREADABLE):
            whole = json.loads(json.loads(content)["text"])
            locked = whole["keys"][self._keys.identity.sealing]
            shared = self._keys.shared_with(whole["with"])
            keys = _cipher(_derived(shared, whole["with"])).decrypt(ONCE, bytes.fromhex(locked), None)
            found = {part: keys[KEY * i : KEY * (i + 1)].hex() for i, part in enumerate(PARTS) if len(keys) > KEY * i}
            if found not in self._offered.setdefault(site, []):
                self._offered[site].append(found)

    def open(self, content: bytes) -> FeedEntry:
        """An entry with the parts that this site can read; raises `Misfit` if it is none."""
        try:
            whole = json.loads(content)
            sealed = whole.pop(SEALED) if isinstance(whole, dict) and SEALED in whole else None
            if sealed is None:
                return FeedEntry.from_bytes(content)
            head = FeedEntry(whole["head"], whole["signature"], {})
            opened = {name: self._opened(head, name, bytes.fromhex(text)) for name, text in sealed.items()}
            found = {name: both for name, both in opened.items() if both is not None}
            entry = FeedEntry.from_bytes(
                json.dumps({**whole, **{name: text for name, (text, _) in found.items()}}).encode()
            )
            self._used.append((entry, {name: key for name, (_, key) in found.items()}))
            return entry
        except Misfit:
            raise
        except UNREADABLE as error:
            raise Misfit(f"it is not a sealed entry: {error}") from None

    def _opened(self, head: FeedEntry, part: str, sealed: bytes) -> tuple[str, str] | None:
        """A part, and the key that has opened it; None if this site does not have it."""
        offered = ({part: self._own(part)},) if head.site == self.site else self._offered.get(head.site, ())
        for keys in (self._proven.get(head.site, {}), *offered):
            with suppress(InvalidTag, KeyError):
                return _cipher(keys[part]).decrypt(_nonce(head), sealed, head.head.encode()).decode(), keys[part]
        return None

    def save(self, replica: Replica) -> None:
        """Keep the keys that have opened what a site has signed: these are its own."""
        news = {}
        for entry, keys in self._used:
            known = self._proven.get(entry.site, {})
            if not keys.items() <= known.items() and entry.site != self.site and replica.knows(entry):
                self._proven[entry.site] = news[entry.site] = known | keys
        self._used.clear()
        if news and self._kept is not None:
            self._kept.remember(opening=self._proven)


def _cipher(key: str) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(bytes.fromhex(key))


def _nonce(entry: FeedEntry) -> bytes:
    """Every head is another one, and names its parts by their hashes: a nonce never comes twice with other words."""
    return bytes.fromhex(entry.hash)[:12]


def _derived(shared: bytes, public: str) -> str:
    return HKDF(SHA256(), KEY, None, b"cboc seal " + public.encode()).derive(shared).hex()
