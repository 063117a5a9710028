"""The addresses that a person may give, checked before anything is sent there."""

from __future__ import annotations

from urllib.parse import urlsplit

from cboc.errors import CbocError
from cboc.exchange.invitation import is_invitation

WITHOUT_CENTRE = ("folder:", "stick:", "peers:")  # how addresses begin; needs no extra, unlike cboc.joining.feeds


def check_way(address: str) -> None:
    """Raise one sentence if an address is none."""
    if "://" not in address and not address.startswith(WITHOUT_CENTRE) and not is_invitation(address):
        raise CbocError(
            "an address is an invitation file such as lab-b.cboc, https://HOST:PORT of a coordinator, folder:PATH, "
            f"stick:FILE or peers:; '{address}' is none."
        )


def is_private(url: str) -> bool:
    """Is the connection safe from eavesdroppers?"""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("127.0.0.1", "::1", "localhost")
