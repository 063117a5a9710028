"""The one request between peers: what do you have that I do not? Signed by who asks, for the one that is asked.

It names the study, and for each feed how many entries are known and the hash of the last one, so that the other sends
what follows, or shows that the feed has split. It holds nothing that a third one could use: it is good at one site
only, and to record it takes the keys of either end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from cboc.exchange import wire
from cboc.exchange.feeds.entry import BEFORE, HEX, FeedEntry
from cboc.exchange.feeds.introduction import SIGNATURE
from cboc.exchange.feeds.keys import REQUEST, Identity, Keys
from cboc.exchange.wire import Form, Kind, Misfit

PATH = "/cboc/1/feeds"
LARGEST = 256 * 1024  # bytes of a request
MOST_SITES = 200  # that a request asks about
MOST_BYTES = 4_000_000  # of an answer, before its last entry
MOST_ENTRIES = 1000  # of an answer

Known = tuple[int, str]  # of a feed: how many entries, and the hash of the last one


def _is_known(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and wire.TURN.fits(value[0]) and BEFORE.fits(value[1])


KNOWN = Kind(
    lambda value: (
        isinstance(value, dict)
        and len(value) <= MOST_SITES
        and all(wire.NAME.fits(name) and _is_known(known) for name, known in value.items())
    ),
    f"what is known of at most {MOST_SITES} feeds",
    {"type": "object", "maxProperties": MOST_SITES},
)
ASKED: Form = {"study": wire.NAME, "site": wire.NAME, "to": wire.NAME, "known": KNOWN}
TEXT = Kind(lambda value: isinstance(value, str) and len(value) <= LARGEST, "a text", {"type": "string"})
SIGNED: Form = {"asked": TEXT, "signing": HEX, "sealing": HEX, "signature": SIGNATURE}


@dataclass(frozen=True)
class Request:
    """What one site asks another for."""

    study: str  # its digest
    site: str  # who asks
    to: str  # the code of the one that is asked
    known: Mapping[str, Known]

    def signed(self, keys: Keys) -> bytes:
        """The request as it is sent."""
        asked, identity = json.dumps(asdict(self), ensure_ascii=False), keys.identity
        signature = keys.sign(asked.encode(), REQUEST)
        said = {"asked": asked, "signing": identity.signing, "sealing": identity.sealing, "signature": signature}
        return json.dumps(said, ensure_ascii=False).encode()


def read_request(content: bytes) -> tuple[Request, Identity]:
    """A request, and the keys that have signed it; raises `Misfit` if it is none, or not signed."""
    said = wire.read(SIGNED, content, is_exact=True)
    identity = Identity(said["signing"], said["sealing"])
    try:
        asked = said["asked"].encode()
    except ValueError:  # half a letter
        raise Misfit("it is not a text") from None
    if not identity.has_signed(asked, said["signature"], REQUEST):
        raise Misfit("it is not signed with the keys that it names")
    fields = wire.read(ASKED, asked, is_exact=True)
    known = {site: (count, last) for site, (count, last) in fields["known"].items()}
    return Request(fields["study"], fields["site"], fields["to"], known), identity


def known_of(entries: list[FeedEntry]) -> Known:
    """What is known of a feed with these entries."""
    return (len(entries), entries[-1].hash) if entries else (0, "")
