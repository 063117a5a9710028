"""Graphs of who may talk to whom: a symmetric mask of links (K, K), False on the diagonal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cboc.arrays import Mask
from cboc.errors import CbocError


def complete(sites: int) -> Mask:
    """Link every site to every other."""
    return ~np.eye(sites, dtype=bool)


def ring(sites: int) -> Mask:
    """Link each site to its two neighbours."""
    return from_edges(sites, [(k, (k + 1) % sites) for k in range(sites)] if sites > 1 else [])


def star(sites: int, centre: int = 0) -> Mask:
    """Link every site to the centre."""
    return from_edges(sites, [(centre, k) for k in range(sites) if k != centre])


def from_edges(sites: int, edges: Iterable[tuple[int, int]]) -> Mask:
    """Links from pairs of site numbers."""
    links = np.zeros((sites, sites), dtype=bool)
    for i, j in edges:
        if not (0 <= i < sites and 0 <= j < sites) or i == j:
            raise CbocError(f"an edge joins two different sites numbered 0 to {sites - 1}; ({i}, {j}) does not.")
        links[i, j] = links[j, i] = True
    return links


def unreached(links: Mask) -> list[int]:
    """The sites that no path joins to site 0; empty if the graph is connected."""
    reached = np.zeros(len(links), dtype=bool)
    reached[:1] = True
    latest = reached.copy()
    while latest.any():
        latest = links[latest].any(axis=0) & ~reached
        reached |= latest
    return [int(k) for k in np.flatnonzero(~reached)]
