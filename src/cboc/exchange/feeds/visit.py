"""A visit to one neighbour over HTTPS: who is there is checked first, and what it answers is read with suspicion.

The first time, the site takes the certificate of the connection, and asks the other end who it is: its keys have to
have the code that was added, and to vouch for that certificate. From then on nothing else is trusted; if the
certificate changes, that is done again.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from typing import Any

import httpx2

from cboc.errors import CbocError
from cboc.exchange.feeds import introduction, request
from cboc.exchange.feeds.addresses import Addresses, Neighbour
from cboc.exchange.feeds.bundle import read_lines
from cboc.exchange.feeds.entry import LARGEST as LARGEST_ENTRY
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.request import MOST_BYTES, MOST_ENTRIES, Request
from cboc.exchange.http import read_body, shown
from cboc.exchange.network import Unreachable
from cboc.exchange.study import Study
from cboc.exchange.study_diff import differences
from cboc.exchange.wire import REFUSAL, Misfit, read

PATIENCE = 5.0  # seconds until an answer begins
LONG = 4.0  # times that, until it ends
PLAIN = {"Accept-Encoding": "identity"}
SMALL = 64 * 1024  # bytes of an introduction
LARGEST = MOST_BYTES + LARGEST_ENTRY + MOST_ENTRIES  # bytes of an answer


class OtherStudy(Unreachable):
    """A neighbour has another study, or another version of it."""

    def __init__(self, sentence: str, agreement: Mapping[str, Any]) -> None:
        self.agreement = agreement
        super().__init__(sentence)


class Visit:
    """Asks one neighbour, over one connection, as a context that ends it."""

    def __init__(self, keys: Keys, addresses: Addresses, neighbour: Neighbour, patience: float = PATIENCE) -> None:
        self.neighbour, self._keys, self._addresses, self._patience = neighbour, keys, addresses, patience
        self._sure: httpx2.Client | None = None  # trusts one certificate: requests go this way only
        self._unsure: httpx2.Client | None = None  # trusts any, and asks who is there

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; whoever waits for an answer is told so."""
        for client in (self._sure, self._unsure):
            if client is not None:
                client.close()

    def ask(self, study: Study, asked: Request) -> list[FeedEntry]:
        """What the neighbour gives; raises `Unreachable` with one sentence if it gives nothing."""
        content = asked.signed(self._keys)
        with self._plainly():
            if self._sure is None:
                self._trust(self.neighbour.certificate or self._meet())
            try:
                status, said = self._send(content)
            except httpx2.TransportError as error:
                if not _is_distrust(error):
                    raise
                self._trust(self._meet())  # it uses another certificate than before
                status, said = self._send(content)
            if status == 200:
                return list(read_lines(BytesIO(said)))
            raise self._refusal(study, status, said)

    def _meet(self) -> str:
        """Find out who is there, and keep the certificate that its keys vouch for."""
        address, code = self.neighbour.address, self.neighbour.code
        self._unsure = self._client(_anybody())
        with self._unsure, self._unsure.stream("GET", introduction.PATH, headers=PLAIN) as response:
            certificate = response.extensions["network_stream"].get_extra_info("ssl_object").getpeercert(True)
            said = read_body(response, time.monotonic() + self._patience, SMALL)
            if response.status_code != 200:
                raise Misfit(f"it answers {response.status_code}")
            found = introduction.recognise(said, certificate).fingerprint
        if found != code:
            raise Unreachable(
                f"whoever answers at {address} is not '{self.neighbour.site}': its code is {found}, and {code} was "
                "added. Ask its people for their code, by telephone."
            )
        pem = ssl.DER_cert_to_PEM_cert(certificate)
        self._addresses.pin(self.neighbour, pem)
        return pem

    def _trust(self, certificate: str) -> None:
        self.close()
        self._sure = self._client(_only(certificate))

    def _client(self, trust: ssl.SSLContext) -> httpx2.Client:
        return httpx2.Client(base_url=self.neighbour.address, timeout=self._patience, verify=trust)

    def _send(self, content: bytes) -> tuple[int, bytes]:
        """Send a request to whoever has the certificate that is trusted."""
        if self._sure is None:
            raise Unreachable(f"it is not known who answers at {self.neighbour.address}.")
        headers = {"Content-Type": "application/json", **PLAIN}
        with self._sure.stream("POST", request.PATH, content=content, headers=headers) as response:
            return response.status_code, read_body(response, time.monotonic() + LONG * self._patience, LARGEST)

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Say in one sentence what went wrong."""
        site, address = self.neighbour.site, self.neighbour.address
        try:
            yield
        except Unreachable:
            raise
        except (httpx2.TransportError, httpx2.InvalidURL, OSError, RuntimeError) as error:  # the last: it was ended
            trouble = shown(str(error)) or type(error).__name__
            raise Unreachable(f"'{site}' does not answer at {address} ({trouble}).") from None
        except (CbocError, ValueError) as error:
            raise Unreachable(f"what answers at {address} is not a peer ({shown(str(error))}).") from None

    def _refusal(self, study: Study, status: int, content: bytes) -> Unreachable:
        """Why a neighbour gives nothing, in one sentence."""
        site = self.neighbour.site
        if status == 403:
            return Unreachable(
                f"'{site}' refuses this site: there it was not added, or with other keys; cboc peer list shows the "
                "command that adds it."
            )
        try:
            said = read(REFUSAL, content)
        except Misfit:
            return Unreachable(f"what answers at {self.neighbour.address} is not a peer (it answers {status}).")
        if said["agreement"] is None:
            return Unreachable(f"'{site}' answers: {shown(said['error'])}")
        here, there = ({**each, "version": 0} for each in (study.agreement(), said["agreement"]))
        lines = differences(here, there)
        sentence = f"'{site}' has another study than this site: {shown('; '.join(lines))}."
        later = f"'{site}' knows this study as a version that this site cannot check before it has heard of those who "
        return OtherStudy(sentence if lines else later + "signed it; add them too.", said["agreement"])


def _is_distrust(error: BaseException) -> bool:
    """Whether a connection failed because the other end uses another certificate than it did."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _anybody() -> ssl.SSLContext:
    """TLS with whoever is there, to ask who that is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@lru_cache(maxsize=256)
def _only(certificate: str) -> ssl.SSLContext:
    """TLS with the owner of this certificate, wherever it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the keys vouch for the certificate, and no name
    context.load_verify_locations(cadata=certificate)
    return context
