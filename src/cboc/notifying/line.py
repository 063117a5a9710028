"""A connection that ends in time, whatever the other end does: also one that answers drop by drop."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer

from cboc.errors import CbocError


@contextmanager
def line(host: str, port: int, seconds: float) -> Iterator[socket.socket]:
    """A connection that is cut off after so many seconds."""
    connection = socket.create_connection((host, port), timeout=seconds)
    guard = connection.dup()  # the same connection, also when TLS has taken over the first one
    timer = Timer(seconds, _cut, [guard])
    timer.daemon = True
    timer.start()
    try:
        yield connection
    finally:
        timer.cancel()
        guard.close()
        connection.close()


def _cut(guard: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        guard.shutdown(socket.SHUT_RDWR)


def trusting(certificate: str | None) -> ssl.SSLContext:
    """What a server's certificate is checked with: the one given, or those that this machine trusts."""
    try:
        return ssl.create_default_context(cadata=certificate)
    except (ssl.SSLError, ValueError, TypeError):
        raise CbocError("the certificate to trust is not PEM text (-----BEGIN CERTIFICATE----- ...).") from None
