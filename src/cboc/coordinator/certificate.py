"""A self-signed certificate: enough to try a coordinator over HTTPS before an authority has signed one.

To trust it, a site needs the file itself: it gets the file with its invitation, and trusts nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509

from cboc.errors import CbocError
from cboc.exchange.certificate import self_signed
from cboc.private_files import for_owner

LIFETIME = timedelta(days=365)
LONGEST_NAME = 64  # characters of a common name
LONGEST_HOST = 253  # characters of a host name
LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"  # between two dots
HOST = re.compile(rf"({LABEL}\.)*(?!\d+$){LABEL}", re.ASCII)  # a name that ends in a number is a mistyped address


def make(hosts: Sequence[str], certificate: Path, key: Path) -> None:
    """Write a certificate for these names or addresses, and its key, which only its owner may read."""
    names = [_name(host) for host in hosts]
    if certificate == key:
        raise CbocError(
            f"a certificate and its key are two files; {key} cannot be both: choose a name such as cboc.pem."
        )
    for path in (certificate, key):
        if path.exists():
            raise CbocError(f"{path} exists already; move it away, or choose another name.")
    now = datetime.now(UTC)
    begins = now - timedelta(hours=1)  # for a clock that is a little behind
    signed, private = self_signed(hosts[0][:LONGEST_NAME], begins, now + LIFETIME, names)
    with open(key, "xb", opener=for_owner) as file:
        file.write(private)
    try:
        certificate.write_bytes(signed)
    except OSError:
        key.unlink()  # a key alone is useless, and would block the next try
        raise


def own(path: str | Path) -> str | None:
    """The text of a certificate if it vouches for itself, so that a site has to be given it; else None."""
    text = Path(path).read_bytes()
    certificate = x509.load_pem_x509_certificate(text)
    return text.decode("ascii") if certificate.issuer == certificate.subject else None


def names_in(path: str | Path) -> list[str]:
    """The names of hosts that a certificate is for; addresses are left out."""
    certificate = x509.load_pem_x509_certificate(Path(path).read_bytes())
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return found.value.get_values_for_type(x509.DNSName)


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        pass
    if len(host) > LONGEST_HOST or not HOST.fullmatch(host):
        raise CbocError(
            f"a host is a name such as cboc.example.org or an address such as 192.0.2.7; '{host}' is neither."
        )
    return x509.DNSName(host)
