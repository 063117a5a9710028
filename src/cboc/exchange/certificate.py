"""A certificate of one's own, for TLS without an authority that vouches for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def self_signed(
    name: str, begins: datetime, ends: datetime, hosts: Sequence[x509.GeneralName] = ()
) -> tuple[bytes, bytes]:
    """A new certificate and its key, as PEM texts; whoever is to trust it needs the certificate itself."""
    secret = ec.generate_private_key(ec.SECP256R1())
    title = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(title)
        .issuer_name(title)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
    signed = builder.sign(secret, hashes.SHA256())
    private = secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return signed.public_bytes(Encoding.PEM), private
