"""Messages over HTTP: sent until the server answers; answers are read with suspicion.

A client that gets no answer sends the message again, with growing pauses, and gives up with `Unreachable` after a
while. A mistyped address or a hotel's wireless network also leads to a web server, and a compromised coordinator must
not write to a site's terminal. So an answer that no coordinator would give becomes one sentence, and goes no further.
"""

from __future__ import annotations

import json
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

from cboc.arrays import is_number
from cboc.errors import CbocError, installing, short
from cboc.exchange.network import Unreachable
from cboc.exchange.wire import REFUSAL, Endpoint, Form, Misfit, read
from cboc.names import is_printable

try:
    import httpx2
except ImportError:
    raise CbocError(f"to reach a coordinator cboc needs an extra; {installing('client')}.") from None

TIMEOUT = 20.0  # seconds for one answer, at most
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds
LARGEST = 32 * 2**20  # bytes of an answer: an agreement with a fixed matrix of 1,000 sites has 22 million
LONGEST = 500  # characters of a refusal that is shown
LATER = "try again later."
MOVED = (301, 302, 307, 308)  # answers of a proxy that redirects to another address
BUSY = (429, 502, 503, 504)  # answers of a coordinator, or a proxy in front of it, that is not ready
NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")  # OpenSSL errors for a server without HTTPS


@dataclass(frozen=True)
class Answer:
    """The answer of a server."""

    url: str
    status: int
    content: bytes = b""
    date: str | None = None

    def read(self, form: Form) -> dict[str, Any]:
        """The fields of the answer, after checking that each fits the form."""
        try:
            return read(form, self.content)
        except Misfit as misfit:
            raise strange(self.url, f"it answers {self.status}, but {misfit}") from None

    def refusal(self) -> dict[str, Any]:
        """Why the server refused; `error` is safe to show."""
        if self.status < 400:
            raise strange(self.url, f"it answers {self.status}, which no coordinator does here")
        try:
            said = self.read(REFUSAL)
        except CbocError:
            if self.status < 500:
                raise
            raise CbocError(
                f"the server at {self.url} has failed (it answers {self.status}); ask the person who runs it."
            ) from None
        return said | {"error": shown(said["error"]) or "it gives no reason."}

    def time(self) -> float:
        """When the answer was sent, in seconds since 1970."""
        try:
            return parsedate_to_datetime(self.date or "").timestamp()
        except (ValueError, TypeError, OverflowError, OSError):
            raise strange(self.url, "it does not say what time it is") from None


@dataclass
class Client:
    """A client of the server at `url`, with a token."""

    url: str
    token: str = field(repr=False)
    patience: float = 60.0  # seconds, after which a message is given up
    certificate: str | None = None  # PEM text, the only one to trust; None: what this machine trusts
    record: Callable[[str, str, str, bytes], None] | None = None  # called with every message before it leaves
    on_retry: Callable[[str], None] | None = None  # called with the reason when a message has to be repeated

    def __post_init__(self) -> None:
        check_address(self.url)
        check_patience(self.patience)

    def send(self, endpoint: Endpoint, body: dict[str, Any] | None = None, **path: object) -> Answer:
        """Send a message until it is answered, and return the answer."""
        until, pause = time.monotonic() + self.patience, FIRST_PAUSE
        method, address = endpoint.method, endpoint.at(**path)
        content = b"" if body is None else json.dumps(body).encode()
        while True:
            if self.record is not None:
                self.record(self.url, method, address, content)
            try:
                answer = self._request(method, address, content)
                if answer.status not in BUSY:
                    self._look_for_encryption(answer)
                    return answer
                trouble, advice = f"it answers {answer.status}", LATER
            except httpx2.TransportError as error:
                self._look_at_encryption(error)
                trouble = shown(str(error)) or type(error).__name__
                is_mute = self._is_plain and isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError)
                advice = f"does it speak HTTPS? Try {self._encrypted}, or this one again later." if is_mute else LATER
            if time.monotonic() + pause > until:
                raise Unreachable(f"no coordinator answers at {self.url} ({trouble}); {advice}")
            if pause == FIRST_PAUSE and self.on_retry is not None:
                self.on_retry(trouble)
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2.0 * pause, LONGEST_PAUSE)

    def _request(self, method: str, path: str, content: bytes) -> Answer:
        """Send one request over a new connection, as days may lie between two; stop reading a long or slow answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"}
        headers |= {"Content-Type": "application/json"} if content else {}
        until = time.monotonic() + self.patience
        with (
            httpx2.Client(base_url=self.url, timeout=min(TIMEOUT, self.patience), verify=self._trust) as client,
            client.stream(method, path, content=content, headers=headers) as response,
        ):
            try:
                said = read_body(response, until, LARGEST)
            except Misfit as misfit:
                raise strange(self.url, str(misfit)) from None
            return Answer(self.url, response.status_code, said, response.headers.get("date"))

    @property
    def _trust(self) -> ssl.SSLContext:
        try:
            return _trust_in(self.certificate)
        except (ssl.SSLError, ValueError, TypeError):
            raise CbocError("the certificate to trust is not PEM text (-----BEGIN CERTIFICATE----- ...).") from None

    @property
    def _is_plain(self) -> bool:
        return httpx2.URL(self.url).scheme == "http"

    @property
    def _encrypted(self) -> str:
        """This address with HTTPS."""
        return f"https:{self.url.partition(':')[2]}"

    def _look_for_encryption(self, answer: Answer) -> None:
        """Raise if the answer to an HTTP address shows that the server expects HTTPS."""
        if self._is_plain and (answer.status in MOVED or (answer.status == 400 and b"HTTPS" in answer.content)):
            raise strange(self.url, f"it answers {answer.status}, as if it spoke HTTPS: try {self._encrypted}")

    def _look_at_encryption(self, error: BaseException) -> None:
        """Raise if the error shows an encryption problem that another try cannot solve."""
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ssl.SSLError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise CbocError(
                f"the coordinator at {self.url} answers, but this machine does not trust its certificate "
                f"({shown(cause.verify_message).rstrip('.')}); if it made its own, pass that with --certificate FILE, "
                "or certificate= in Python."
            ) from None
        if isinstance(error, httpx2.ConnectError) and cause is not None and cause.reason in NO_TLS:
            raise strange(self.url, "it does not speak HTTPS") from None


def read_body(response: httpx2.Response, until: float, largest: int) -> bytes:
    """The body of an answer that is still coming in; stops reading a long or slow one."""
    said = bytearray()
    for part in response.iter_raw():
        said += part
        if len(said) > largest:
            raise Misfit(f"its answer has more than {largest} bytes")
        if time.monotonic() > until:
            raise httpx2.ReadTimeout("its answer does not end")
    return bytes(said)


def check_address(given: object) -> None:
    """Raise one sentence if this is not the address of a coordinator."""
    try:
        url = httpx2.URL(given) if isinstance(given, str) else httpx2.URL()
    except httpx2.InvalidURL:
        url = httpx2.URL()
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or not is_printable(str(given)):
        raise CbocError(f"a coordinator's address looks like https://host:8000; {short(str(given))} does not.")


def check_patience(given: object) -> None:
    """Raise one sentence if this is not a time to wait."""
    if not is_number(given) or not given > 0.0:  # type: ignore[operator]  # it is a number
        raise CbocError(f"patience is a number of seconds above 0; this is {given!r}.")


def strange(url: str, reason: str) -> CbocError:
    """The error for any answer that no coordinator would give."""
    return CbocError(f"the server at {url} is not a coordinator ({reason}); is the address right?")


def shown(text: str, longest: int = LONGEST) -> str:
    """A foreign text made safe for a terminal: one line, without control characters, not too long."""
    letters = (letter for letter in text[: 10 * longest] if letter.isprintable() or letter.isspace())
    return " ".join("".join(letters).split())[:longest]


@lru_cache(maxsize=8)
def _trust_in(certificate: str | None) -> ssl.SSLContext:
    """The TLS context, cached for all sites of a process: loading it takes longer than sending a message."""
    return ssl.create_default_context(cadata=certificate)
