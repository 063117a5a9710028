"""Network addresses: which of them count as one, and from which proxies we hear of others.

An IPv4 address in IPv6's clothes (::ffff:192.0.2.1) is an IPv4 address. Whoever has an IPv6 address usually has a whole
network of 2^64 of them, so limits count that as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cboc.errors import CbocError

Network = IPv4Network | IPv6Network
OWN = 64  # bits of an IPv6 network that somebody has for himself
ANYBODY = "*"
THIS_MACHINE = ("127.0.0.0/8", "::1")


def parse(text: str) -> IPv4Address | IPv6Address | None:
    """The address in a text; None if it is none."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def block(text: str) -> str:
    """What limits count: an IPv4 address, an IPv6 network, or the text if it is no address."""
    found = parse(text)
    if isinstance(found, IPv6Address):
        return str(IPv6Network((int(found) >> (128 - OWN) << (128 - OWN), OWN)))
    return text if found is None else str(found)


def is_own_machine(text: str) -> bool:
    """Whether this is an address of the machine itself."""
    found = parse(text)
    return found is not None and found.is_loopback


@dataclass(frozen=True)
class Proxies:
    """The proxies that are believed when they say for whom they ask: by address or network."""

    networks: tuple[Network, ...]
    are_anybody: bool = False  # whoever connects is taken for a proxy

    @classmethod
    def named(cls, names: Iterable[str] = THIS_MACHINE) -> Proxies:
        """The proxies at these addresses or networks, several in a text if need be; '*' is anybody."""
        parts = [part for name in names for part in re.split(r"[,\s]+", name) if part]
        return cls(tuple(_network(part) for part in parts if part != ANYBODY), ANYBODY in parts)

    def believes(self, peer: str) -> bool:
        """Whether what somebody who has connected says of others is believed."""
        return self.are_anybody or self._has(peer)

    def client(self, peer: str, forwarded: Sequence[str]) -> str | None:
        """Who asks: the last one of whom a proxy has heard that is not a proxy itself; None if it does not say.

        Each proxy adds the address that it hears from at the end. What stands before that was written by others.
        """
        if not self.believes(peer):
            return peer
        found: str | None = peer
        for said in reversed(forwarded):
            address = parse(_without_port(said))
            found = None if address is None else str(address)
            if found is None or not self._has(found):
                break
        return found

    def _has(self, text: str) -> bool:
        address = parse(text)
        return address is not None and any(address in network for network in self.networks)


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError:
        raise CbocError(
            f"a proxy is named by its address or network, such as 10.0.0.7 or 10.0.0.0/24; '{text[:60]}' is neither."
        ) from None


def _without_port(said: str) -> str:
    """An address as proxies write it: 192.0.2.1, 192.0.2.1:4711, [2001:db8::1]:4711."""
    said = said.strip()
    if said.startswith("["):
        return said[1:].partition("]")[0]
    return said.partition(":")[0] if said.count(":") == 1 else said
