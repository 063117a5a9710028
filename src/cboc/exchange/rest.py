"""A network that reaches the others through a coordinator.

Every message may be sent again: a site that hears no answer repeats it, with pauses that grow, and gives up with
`Unreachable` after a while. What has been refused is not repeated; what no coordinator would answer is one sentence
(`answers`).
"""

from __future__ import annotations

import json
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cboc.errors import CbocError, installing
from cboc.exchange.answers import LARGEST, Answer, shown, strange
from cboc.exchange.differences import differences
from cboc.exchange.ledger import Final, RoundClosed, Unreachable
from cboc.exchange.messages import Design, Proposal
from cboc.exchange.study import Study

try:
    import httpx2
except ImportError:
    raise CbocError(f"to reach a coordinator cboc needs an extra; {installing('client')}.") from None

TIMEOUT = 20.0  # seconds for one answer, at most
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds
LATER = "try again later."
MOVED = (301, 302, 307, 308)  # answers of a proxy that sends everybody to another address
BUSY = (429, 502, 503, 504)  # answers of a coordinator, or a proxy before it, that is not ready
NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")  # OpenSSL, of a server without HTTPS
LONGEST_DIFFERENCES = 5000  # characters


class Refused(CbocError):
    """A coordinator has answered, and said no."""


@dataclass
class Rest:
    """The coordinator at `url`, for the site whose token this is."""

    url: str
    token: str = field(repr=False)
    patience: float = 60.0  # seconds, after which a message is given up
    record: Callable[[str, str, str, bytes], None] | None = None  # called with every message before it leaves

    certificate: str | None = None  # PEM text to trust beside nothing else; None: what this machine trusts
    study: Study | None = None  # if known, designs have to fit it
    has_left: bool = False  # the coordinator knows that the site proposes no more: it is told once
    on_leaving: Callable[[], None] | None = None  # called when it knows
    on_retry: Callable[[str], None] | None = None  # called with the trouble, when a message has to be repeated
    _dimension: int | None = field(default=None, init=False, repr=False, compare=False)  # of what was proposed last

    def __post_init__(self) -> None:
        try:
            url = httpx2.URL(self.url)
        except httpx2.InvalidURL:
            url = httpx2.URL()
        if url.scheme not in ("http", "https") or not url.host:
            raise CbocError(f"a coordinator's address looks like https://host:8000; '{self.url}' does not.")

    @property
    def _trust(self) -> ssl.SSLContext:
        try:
            return _trust_in(self.certificate)
        except (ssl.SSLError, ValueError, TypeError):
            raise CbocError("the certificate to trust is not PEM text, -----BEGIN CERTIFICATE----- etc.") from None

    def submit(self, proposal: Proposal) -> None:
        body = {"x": proposal.x, "reward": proposal.reward, "best": proposal.best}
        given = {name: value for name, value in body.items() if value is not None}
        self._dimension = len(proposal.x)
        answer = self._send("PUT", f"/v1/rounds/{proposal.round}/proposal", given)
        if not answer.is_done:
            raise self._refusal(answer, proposal.site, proposal.round)

    def design(self, site: str, round: int) -> Design | None:
        answer = self._send("GET", f"/v1/rounds/{round}/design")
        if answer.is_open:
            return None
        if answer.status != 200:
            raise self._refusal(answer, site, round)
        if self.study is None:
            return answer.design(site, round, self._dimension, None)
        return answer.design(site, round, self.study.space.dimension, self.study.sites)

    def leave(self, site: str) -> None:
        if self.has_left:
            return
        answer = self._send("POST", "/v1/leave")
        if not answer.is_done:
            raise self._refusal(answer, site)
        self.has_left = True
        if self.on_leaving is not None:
            self.on_leaving()

    def join(self, code: str, expected: Study | None = None, site: str | None = None) -> dict[str, Any]:
        """Use an invitation: from now on the token speaks for its site. The same again is fine.

        Where the coordinator's study is not the expected one, the differences are raised and the invitation stays good;
        so where it is for another site.
        """
        body = {"code": code, "token": self.token, "digest": expected and expected.digest, "site": site}
        body = {name: value for name, value in body.items() if value is not None}
        answer = self._send("POST", "/v1/join", body)
        if answer.status == 200:
            return answer.standing()
        if expected is not None and (agreement := answer.refusal()["agreement"]) is not None:
            raise disagreement(expected, agreement)
        raise self._refusal(answer)

    def standing(self) -> dict[str, Any]:
        """The agreement, the site's name, and where the study stands."""
        answer = self._send("GET", "/v1/study")
        if answer.status == 200:
            return answer.standing()
        raise self._refusal(answer)

    def clock(self) -> float:
        """What time it is at the coordinator, to the second."""
        return self._send("GET", "/healthz").time()

    def _refusal(self, answer: Answer, site: str = "", round: int | None = None) -> CbocError:
        """What to raise; only where a round was asked for can it be closed, or a proposal final."""
        said = answer.refusal()
        if round is not None and said["current"] is not None:
            return RoundClosed(site, round, said["current"])
        if round is not None and said["is_final"]:
            return Final(said["error"])
        return Refused(f"the coordinator at {self.url} refused: {said['error']}")

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
        until, pause = time.monotonic() + self.patience, FIRST_PAUSE
        content = b"" if body is None else json.dumps(body).encode()
        while True:
            if self.record is not None:
                self.record(self.url, method, path, content)
            try:
                answer = self._request(method, path, content)
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

    @property
    def _is_plain(self) -> bool:
        return httpx2.URL(self.url).scheme == "http"

    @property
    def _encrypted(self) -> str:
        """The same address by HTTPS."""
        return f"https:{self.url.partition(':')[2]}"

    def _look_for_encryption(self, answer: Answer) -> None:
        """Raises where an address by HTTP is answered as those by HTTPS do."""
        if self._is_plain and (answer.status in MOVED or (answer.status == 400 and b"HTTPS" in answer.content)):
            raise strange(self.url, f"it answers {answer.status}, as if it spoke HTTPS: try {self._encrypted}")

    def _look_at_encryption(self, error: BaseException) -> None:
        """Raises where another try cannot help."""
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ssl.SSLError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise CbocError(
                f"the coordinator at {self.url} answers, but this machine does not trust its certificate "
                f"({shown(cause.verify_message).rstrip('.')}); if it made its own, give that: --certificate FILE, "
                "or certificate= in Python."
            ) from None
        if isinstance(error, httpx2.ConnectError) and cause is not None and cause.reason in NO_TLS:
            raise strange(self.url, "it does not speak HTTPS") from None

    def _request(self, method: str, path: str, content: bytes) -> Answer:
        """Over a connection of its own: days may lie between two messages. What is too much or too slow is not read."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"}
        headers |= {"Content-Type": "application/json"} if content else {}
        until, said = time.monotonic() + self.patience, bytearray()
        with (
            httpx2.Client(base_url=self.url, timeout=min(TIMEOUT, self.patience), verify=self._trust) as client,
            client.stream(method, path, content=content, headers=headers) as response,
        ):
            for part in response.iter_raw():
                said += part
                if len(said) > LARGEST:
                    raise strange(self.url, f"its answer has more than {LARGEST} bytes")
                if time.monotonic() > until:
                    raise httpx2.ReadTimeout("its answer does not end")
            return Answer(self.url, response.status_code, bytes(said), response.headers.get("date"))


@lru_cache(maxsize=8)
def _trust_in(certificate: str | None) -> ssl.SSLContext:
    """Read once by all sites of a process: to read what a machine trusts takes longer than a message."""
    return ssl.create_default_context(cadata=certificate)


def disagreement(expected: Study, agreement: dict[str, Any]) -> CbocError:
    """The differences between the study that a site expects, here, and the coordinator's, there."""
    lines = differences(expected.agreement(), agreement) or ["it looks the same, but is refused"]
    return Refused(f"the coordinator's study is not yours: {shown('; '.join(lines), LONGEST_DIFFERENCES)}.")
