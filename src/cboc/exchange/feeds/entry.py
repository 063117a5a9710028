"""One entry of a feed: a signed head, and the parts that the head names by their hashes.

    head      the study, the site, the entry's number and turn, the hash of the entry before, the hashes of the parts
    said      what every member may know: that a turn was taken, and in which state; a reward if the rule compares them
    designs   what neighbours may know: the designs that the site proposes, and its best ones

A part may be missing: then the entry proves that something was said there, and not what. Every part holds a salt, so
that nobody finds out a missing one by trying everything that it could be. No part has a field for an outcome.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from secrets import token_hex
from typing import Any

from cboc.errors import CbocError
from cboc.exchange import wire
from cboc.exchange.feeds.keys import Identity, Keys
from cboc.exchange.messages import MOST_TURNS, Proposal
from cboc.exchange.wire import Form, Kind, Misfit

VERSION = 1
LARGEST = 2_000_000  # bytes of an entry
SAID, DESIGNS = "said", "designs"  # the parts
FIRST = ""  # what stands for the hash of the entry before the first


class Act(StrEnum):
    """What an entry does."""

    HELLO = "hello"  # the first one: the site's keys, and the agreement
    TURN = "turn"
    CLOSE = "close"  # a round, with the sites that are in
    DRIFT = "drift"  # go on in a round that whose turn it is has not closed, with these entries
    LEAVE = "leave"
    AMEND = "amend"  # the study: the site agrees to its next version


HEX = Kind(
    lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
    "a hash",
    {"type": "string", "pattern": "^[0-9a-f]{64}$"},
)
BEFORE = Kind(lambda value: value == FIRST or HEX.fits(value), "a hash, or nothing", {"type": "string"})
SALT = Kind(lambda value: isinstance(value, str) and 0 < len(value) <= 64, "a salt", {"type": "string"})
ACT = Kind(lambda value: value in tuple(Act), "something that an entry does", {"type": "string"})
PARTS = Kind(
    lambda value: isinstance(value, dict) and value.keys() <= {SAID, DESIGNS} and all(map(HEX.fits, value.values())),
    "the hashes of parts",
    {"type": "object"},
)
SEEN = Kind(
    lambda value: (
        isinstance(value, dict)
        and len(value) <= MOST_TURNS
        and all(map(wire.TURN.fits, value.values()))  # names are compared with those of the study
    ),
    "a number of entries for each site",
    {"type": "object"},
)
NUMBERS = Kind(SEEN.fits, "the number of an entry for each site", {"type": "object"})
HEAD: Form = {
    "version": Kind(lambda value: value == VERSION, f"version {VERSION}", {"const": VERSION}),
    "study": wire.NAME,
    "site": wire.NAME,
    "number": wire.TURN,
    "turn": wire.TURN,
    "before": BEFORE,
    "parts": PARTS,
}
FORMS: Mapping[Act, Form] = {
    Act.HELLO: {
        "act": ACT,
        "salt": SALT,
        "signing": HEX,
        "sealing": HEX,
        "agreement": wire.AGREEMENT,
        "moved": wire.TURN.optional,
    },
    Act.TURN: {
        "act": ACT,
        "salt": SALT,
        "state": wire.STATE.optional,
        "seen": SEEN.optional,
        "earlier": wire.TURN,
        "wells": wire.TURN,
        "reward": wire.NUMBER.optional,
    },
    Act.CLOSE: {"act": ACT, "salt": SALT, "state": wire.STATE, "present": wire.NAMES},
    Act.DRIFT: {"act": ACT, "salt": SALT, "state": wire.STATE, "present": NUMBERS, "awaited": wire.NAME},
    Act.LEAVE: {"act": ACT, "salt": SALT},
    Act.AMEND: {"act": ACT, "salt": SALT, "agreement": wire.AGREEMENT},
}
PROPOSED: Form = {"salt": SALT, "X": wire.POINTS, "bests": wire.BESTS.optional}


@dataclass(frozen=True)
class FeedEntry:
    """One entry, as texts: what was signed is kept to the last character."""

    head: str
    signature: str
    parts: Mapping[str, str]
    is_checked: bool = field(default=False, compare=False)  # whether its form was checked before

    @classmethod
    def kept(cls, head: str, signature: str, parts: Mapping[str, str], known: Mapping[str, Any]) -> FeedEntry:
        """An entry that was checked before it was kept; what is known of it, by property, is not read again."""
        entry = cls(head, signature, parts, is_checked=True)
        entry.__dict__.update(known)
        return entry

    # ------------------------------------------------------------------------------------------------ what it says

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The fields of the head."""
        fields = wire.read_object(self.head)
        return fields if self.is_checked else wire.fitted(HEAD, fields, is_exact=True)

    @cached_property
    def study(self) -> str:
        """The digest of the study."""
        return str(self.fields["study"])

    @cached_property
    def site(self) -> str:
        return str(self.fields["site"])

    @cached_property
    def number(self) -> int:
        """Its place in the feed, from 0."""
        return int(self.fields["number"])

    @property
    def turn(self) -> int:
        """The site's turn: the one that is taken here, or the next one."""
        return int(self.fields["turn"])

    @cached_property
    def before(self) -> str:
        """The hash of the entry before."""
        return str(self.fields["before"])

    @cached_property
    def hash(self) -> str:
        """What the next entry calls this one."""
        return _hash(self.head)

    @cached_property
    def said(self) -> dict[str, Any] | None:
        """What everybody may know; None if the part is missing."""
        if SAID not in self.parts:
            return None
        said = wire.read_object(self.parts[SAID])
        if self.is_checked:
            return dict.fromkeys(FORMS[said["act"]]) | said
        act = wire.fitted({"act": ACT}, said)["act"]
        return wire.fitted(FORMS[act], said, is_exact=True)

    @cached_property
    def act(self) -> Act | None:
        """What the entry does; None if that part is missing."""
        return None if self.said is None else Act(self.said["act"])

    @property
    def after(self) -> int:
        """How many experiments the site has proposed with this turn; 0 if that part is missing."""
        return 0 if self.said is None else int(self.said["earlier"]) + int(self.said["wells"])

    @cached_property
    def proposal(self) -> Proposal | None:
        """The proposal of a turn; None if it is none, or if a part is missing."""
        if self.said is None or self.act is not Act.TURN or DESIGNS not in self.parts:
            return None
        designs = wire.read(PROPOSED, self.parts[DESIGNS].encode(), is_exact=True)
        return Proposal(self.site, self.turn, designs["X"], designs["bests"] or (), self.said["reward"])

    @cached_property
    def identity(self) -> Identity | None:
        """The keys that a first entry names."""
        return None if self.said is None or self.act is not Act.HELLO else _identity(self.said)

    # ---------------------------------------------------------------------------------------------- as it travels

    @cached_property
    def is_whole(self) -> bool:
        """Whether all parts are there."""
        return self.parts.keys() == self.fields["parts"].keys()

    def without(self, part: str) -> FeedEntry:
        """The entry with a part left out."""
        return replace(self, parts={name: text for name, text in self.parts.items() if name != part})

    def is_signed_by(self, identity: Identity) -> bool:
        """Whether the site with these keys has written it."""
        return identity.has_signed(self.head.encode(), self.signature)

    def check(self) -> None:
        """Raise `Misfit` unless head and parts have their form, and the parts are those that the head names."""
        hashes = self.fields["parts"]
        if SAID not in hashes:
            raise Misfit("it says nothing")
        for name, text in self.parts.items():
            if hashes.get(name) != _hash(text):
                raise Misfit(f"its part '{name}' is not the one that was signed")
        if (self.number == 0) != (self.before == FIRST):
            raise Misfit("the first entry, and no other, follows nothing")
        if self.said is not None:
            if (self.act is Act.HELLO) != (self.number == 0):
                raise Misfit("the first entry, and no other, says hello")
            if (self.act is Act.TURN) != (DESIGNS in hashes):
                raise Misfit("a turn, and nothing else, has designs")
        if self.proposal is not None and self.said is not None and len(self.proposal.X) != self.said["wells"]:
            raise Misfit("it has another number of designs than it says")

    def to_bytes(self) -> bytes:
        """The entry as it is kept and sent."""
        whole = {"head": self.head, "signature": self.signature, **self.parts}
        return json.dumps(whole, ensure_ascii=True, sort_keys=True).encode()

    def in_words(self) -> bytes:
        """Everything that the entry says, as one JSON object: what leaves, for people to read."""
        fields = [self.fields, self.said or {}]
        fields += [json.loads(self.parts[DESIGNS])] if DESIGNS in self.parts else []
        return json.dumps(
            {name: value for part in fields for name, value in part.items() if value is not None}
        ).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> FeedEntry:
        """Read an entry; raises `Misfit` if this is none, or not all of it."""
        try:
            if len(content) > LARGEST:
                raise Misfit("it is too large")
            whole = json.loads(content)
            if not isinstance(whole, dict) or not all(isinstance(text, str) for text in whole.values()):
                raise Misfit("it is not an entry")
            head, signature = whole.pop("head"), whole.pop("signature")
            if not whole.keys() <= {SAID, DESIGNS}:
                raise Misfit("it has a part that no entry has")
            entry = cls(head, signature, whole)
            entry.check()
        except Misfit:
            raise
        except (ValueError, KeyError, RecursionError, CbocError) as error:
            raise Misfit(f"it is not an entry: {error}") from None
        return entry


def greeting(identity: Identity, agreement: Mapping[str, Any]) -> dict[str, Any]:
    """What the first entry of a feed says: the keys, and what was agreed."""
    return {"act": Act.HELLO, "signing": identity.signing, "sealing": identity.sealing, "agreement": agreement}


def write(
    keys: Keys,
    study: str,
    site: str,
    last: FeedEntry | None,
    turn: int,
    said: Mapping[str, Any],
    designs: Mapping[str, Any] | None = None,
) -> FeedEntry:
    """A new entry after the last one of a feed, signed."""
    given = {SAID: said} | ({} if designs is None else {DESIGNS: designs})
    parts = {name: _text({**part, "salt": token_hex(16)}) for name, part in given.items()}
    head = _text(
        {
            "version": VERSION,
            "study": study,
            "site": site,
            "number": 0 if last is None else last.number + 1,
            "turn": turn,
            "before": FIRST if last is None else last.hash,
            "parts": {name: _hash(text) for name, text in parts.items()},
        }
    )
    entry = FeedEntry(head, keys.sign(head.encode()), parts)
    entry.check()
    return entry


def _identity(said: Mapping[str, Any]) -> Identity:
    return Identity(said["signing"], said["sealing"])


def _text(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=True, allow_nan=False)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
