"""How a site shows who it is over TLS: its keys vouch for the certificate that it uses.

The certificate is made by the site itself, and nobody else vouches for it. Whoever knows the code of the site's keys
can tell whether the one at the other end of a connection is that site: nobody else can sign for its certificate.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from cboc.exchange import wire
from cboc.exchange.certificate import self_signed
from cboc.exchange.feeds.entry import HEX
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.keys import CERTIFICATE, Identity, Keys
from cboc.exchange.wire import Form, Misfit

PATH = "/cboc/1/identity"
BEGINS, ENDS = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)  # no step depends on a clock
SIGNATURE = wire.Kind(
    lambda value: isinstance(value, str) and len(value) == 128, "a signature", {"type": "string", "maxLength": 128}
)
INTRODUCTION: Form = {"signing": HEX, "sealing": HEX, "signature": SIGNATURE}


def own_certificate(file: FeedFile) -> tuple[str, str]:
    """The certificate that a site uses, and its key; made once, and kept in its file of feeds."""
    if "tls" not in file.about:
        file.remember(tls=[text.decode() for text in self_signed("cboc", BEGINS, ENDS)])
    certificate, key = file.about["tls"]
    return certificate, key


def introduce(keys: Keys, certificate: bytes) -> dict[str, str]:
    """What a site says about itself to everybody: its public keys, and that it uses this certificate."""
    identity = keys.identity
    signature = keys.sign(sha256(certificate).digest(), CERTIFICATE)
    return {"signing": identity.signing, "sealing": identity.sealing, "signature": signature}


def recognise(content: bytes, certificate: bytes) -> Identity:
    """Whose certificate this is, by what was said over it; raises `Misfit` if that was not signed for it."""
    said = wire.read(INTRODUCTION, content, is_exact=True)
    identity = Identity(said["signing"], said["sealing"])
    if not identity.has_signed(sha256(certificate).digest(), said["signature"], CERTIFICATE):
        raise Misfit("its keys do not vouch for its certificate")
    return identity
