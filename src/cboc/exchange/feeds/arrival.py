"""The first contact of a peer: in which version its neighbours know the study that it was given.

A study file says what is agreed, and not how often that has changed before. So a peer says nothing under its own name
before a neighbour has answered. If they know the study under another number, the study has been amended, and the peer
was perhaps admitted so: it asks for what they have signed, and checks that what it was given is in force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from cboc.exchange.amendment import is_same
from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.peers import Peers
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.versions import found_in, named_by, study_in
from cboc.exchange.network import Unreachable
from cboc.exchange.study import Study


def arrive(file: FeedFile, peers: Peers) -> list[Study]:
    """The versions of the study up to the one that this site was given, as far as they are known; kept in its file."""
    site, versions = file.membership()
    if len(versions) > 1 or file.written(site):
        return versions
    given = versions[0]
    with suppress(Unreachable):
        list(peers.take(Replica(given), [site]))  # those who know it as it is give nothing yet
    said = [study for study in map(study_in, peers.other_studies) if study is not None and study.has(site)]
    later = max(said, key=lambda study: study.version, default=given)
    if later.version == given.version:
        return versions
    with suppress(Unreachable):
        found = chain(given, list(peers.take(Replica(later), later.sites)), Addresses(file).codes())
        if found:
            file.remember(agreements=[each.agreement() for each in found])
            return found
    return versions


def chain(given: Study, entries: Sequence[FeedEntry], codes: Mapping[str, str]) -> list[Study]:
    """The versions up to the one that was given, from what was signed; empty if that is not in force.

    `codes` are those of neighbours that people have added: whoever calls itself so with other keys is left out.
    """
    hellos = {entry.site: entry for entry in entries if _is_believed(entry, codes)}
    some = [entry for entry in entries if entry.site in hellos and (entry.number or entry is hellos[entry.site])]
    firsts = {study.digest: study for study in map(named_by, hellos.values()) if study is not None}
    for first in sorted(firsts.values(), key=lambda study: study.version):
        versions = found_in(first, some)
        same = [number for number, each in enumerate(versions) if is_same(given, each)]
        if same:
            return versions[: same[-1] + 1]
    return []


def _is_believed(entry: FeedEntry, codes: Mapping[str, str]) -> bool:
    """Whether an entry is a hello of whom it says."""
    identity = entry.identity
    if identity is None or codes.get(entry.site, identity.fingerprint) != identity.fingerprint:
        return False
    return entry.is_signed_by(identity)


def between_peers(file: FeedFile) -> Feeds:
    """The network of the site whose file of feeds this is, through its peers."""
    site, addresses = str(file.about.get("site")), Addresses(file)
    carrier = Peers(site, file.keys, addresses)
    first, *accepted = arrive(file, carrier)
    network = Feeds(Replica(first, file.keep, addresses.codes, accepted), site, file.keys, carrier, file)
    network.hello()
    network.follow()
    return network
