"""Where the neighbours are and who they are: addresses, codes and certificates, in a site's file of feeds.

A neighbour is known by the code of its keys, which two people have given each other. Its certificate is what this site
has seen it use for TLS, after its keys have vouched for it; with another code it is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from cboc.errors import CbocError
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.keys import as_code
from cboc.exchange.feeds.replica import Replica, neighbours_of
from cboc.exchange.study import Study

PEER, CERTIFICATE = "peer ", "certificate "  # what the names of these facts begin with, before that of the site


@dataclass(frozen=True)
class Neighbour:
    """A neighbour as it was added here."""

    site: str
    address: str  # https://HOST:PORT
    code: str
    certificate: str | None = None  # PEM text, once it was seen


def _neighbour(site: str, added: Mapping[str, str], seen: Mapping[str, str]) -> Neighbour:
    certificate = seen.get("certificate") if seen.get("code") == added["code"] else None
    return Neighbour(site, added["address"], added["code"], certificate)


class Addresses:
    """The neighbours that were added to a site's file of feeds; every call reads what is there now."""

    def __init__(self, file: FeedFile) -> None:
        self._file = file

    def all(self) -> dict[str, Neighbour]:
        """The neighbours that were added, by their names."""
        facts = self._file.facts()
        sites = [name.removeprefix(PEER) for name in facts if name.startswith(PEER)]
        try:
            return {site: _neighbour(site, facts[PEER + site], facts.get(CERTIFICATE + site, {})) for site in sites}
        except (KeyError, TypeError, AttributeError):
            raise CbocError(f"{self._file.path} is damaged; restore an earlier copy, with the site's file.") from None

    def codes(self) -> dict[str, str]:
        """The codes under which neighbours were added."""
        return {site: neighbour.code for site, neighbour in self.all().items()}

    def add(self, site: str, address: str, code: str, *, is_correction: bool = False) -> Neighbour:
        """Add a neighbour, or move it to another address; another code for it has to be meant."""
        own, (first, *accepted) = self._file.membership()
        known = Replica(first, accepted=accepted)
        known.load(self._file.entries()[0])
        check_neighbour(known.in_force()[-1], own, site)
        new, before = Neighbour(site, as_address(address), as_code(code)), self.codes().get(site)
        if before not in (None, new.code) and not is_correction:
            raise CbocError(
                f"'{site}' was added with the code {before}; if that was a mistake, and only then, add it with --again."
            )
        self._check_known(new)
        self._file.remember(**{PEER + site: {"address": new.address, "code": new.code}})
        return self.all()[site]

    def _check_known(self, new: Neighbour) -> None:
        """Raise one sentence if the feed of a neighbour is known here by other keys."""
        for _, entry in self._file.written(new.site)[:1]:
            if entry.identity is not None and entry.identity.fingerprint != new.code:
                raise CbocError(
                    f"'{new.site}' is known here by its first keys, code {entry.identity.fingerprint}. A site that has "
                    "lost its keys cannot come back under its name: restore its file of feeds from a backup, or begin "
                    "a new study."
                )

    def pin(self, neighbour: Neighbour, certificate: str) -> None:
        """Keep the certificate that a neighbour's keys have vouched for."""
        self._file.remember(**{CERTIFICATE + neighbour.site: {"code": neighbour.code, "certificate": certificate}})


def check_neighbour(study: Study, own: str, site: str) -> None:
    """Raise one sentence if a site is none that this one exchanges designs with."""
    study.index(site)
    if site == own:
        raise CbocError(f"'{site}' is this site itself; add its neighbours, and it at theirs.")
    neighbours = neighbours_of(study, own)
    if site not in neighbours:
        raise CbocError(
            f"'{site}' is no neighbour of '{own}' in the study's graph: they exchange nothing. Neighbours: "
            f"{', '.join(neighbours) or 'none'}."
        )


def as_address(given: str) -> str:
    """An address as https://HOST:PORT; raises one sentence if it is none."""
    try:
        parts = urlsplit(given.strip())
        is_good = parts.scheme == "https" and bool(parts.hostname) and (parts.port or 1) > 0
        is_good = is_good and parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        is_good = False
    if not is_good or any(letter.isspace() or not letter.isprintable() for letter in given.strip()):
        raise CbocError(f"a peer's address looks like https://lab-a.example.org:8443; '{given[:100]}' does not.")
    return f"https://{parts.netloc}"
