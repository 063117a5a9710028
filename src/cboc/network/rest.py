"""A network that reaches the others through a coordinator.

Every message may be sent again: a site that hears no answer repeats it, with pauses that grow, and gives up with
`Unreachable` after a while. What has been refused is not repeated.
"""

from __future__ import annotations

import json
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, cast

from cboc.agreement import differences
from cboc.errors import CbocError
from cboc.messages import Design, Proposal
from cboc.network.ledger import Final, RoundClosed, Unreachable
from cboc.study import Study

try:
    import httpx2
except ImportError:
    raise CbocError("to reach a coordinator cboc needs its extra: pip install 'cboc[client]'.") from None

TIMEOUT = 20.0  # seconds for one answer, at most
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds
BUSY = (429, 502, 503, 504)  # answers of a coordinator, or a proxy before it, that is not ready


@dataclass
class Rest:
    """The coordinator at `url`, for the site whose token this is."""

    url: str
    token: str = field(repr=False)
    patience: float = 60.0  # seconds, after which a message is given up
    record: Callable[[str, str, bytes], None] | None = None  # called with every message before it leaves

    certificate: str | None = None  # PEM text to trust beside nothing else; None: what this machine trusts

    def __post_init__(self) -> None:
        try:
            url = httpx2.URL(self.url)
        except httpx2.InvalidURL:
            url = httpx2.URL()
        if url.scheme not in ("http", "https") or not url.host:
            raise CbocError(f"a coordinator's address looks like https://host:8000; '{self.url}' does not.")

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cadata=self.certificate)
        except ssl.SSLError:
            raise CbocError("the certificate to trust is not PEM text, -----BEGIN CERTIFICATE----- etc.") from None

    def submit(self, proposal: Proposal) -> None:
        body = {"x": proposal.x, "reward": proposal.reward, "best": proposal.best}
        given = {name: value for name, value in body.items() if value is not None}
        self._ask("PUT", f"/v1/rounds/{proposal.round}/proposal", proposal.site, proposal.round, given)

    def design(self, site: str, round: int) -> Design | None:
        answer = self._ask("GET", f"/v1/rounds/{round}/design", site, round)
        if answer is None:
            return None
        others = tuple(tuple(point) for point in answer["others"])
        return Design(site, round, tuple(answer["x"]), tuple(answer["weights"]), answer["leader"], others)

    def leave(self, site: str) -> None:
        self._ask("POST", "/v1/leave", site, 0)

    def join(self, code: str, expected: Study | None = None, site: str | None = None) -> dict[str, Any]:
        """Use an invitation: from now on the token speaks for its site. The same again is fine.

        Where the coordinator's study is not the expected one, the differences are raised and the invitation stays good;
        so where it is for another site.
        """
        body = {"code": code, "token": self.token, "digest": expected and expected.digest, "site": site}
        body = {name: value for name, value in body.items() if value is not None}
        said = self._send("POST", "/v1/join", body)
        if expected is not None and "agreement" in _said(said) and not said.is_success:
            raise disagreement(expected, _said(said)["agreement"])
        return cast(dict[str, Any], self._content(said, "", 0))

    def standing(self) -> dict[str, Any]:
        """The agreement, the site's name, and where the study stands."""
        answer: dict[str, Any] = self._ask("GET", "/v1/study", "", 0)
        return answer

    def clock(self) -> float:
        """What time it is at the coordinator, to the second."""
        return parsedate_to_datetime(self._send("GET", "/healthz", None).headers["date"]).timestamp()

    def _ask(self, method: str, path: str, site: str, round: int, body: dict[str, Any] | None = None) -> Any:
        """The answer's content, None if it has none; refusals are raised."""
        return self._content(self._send(method, path, body), site, round)

    def _content(self, answer: httpx2.Response, site: str, round: int) -> Any:
        if answer.status_code == 200:
            return answer.json()
        if answer.is_success:
            return None
        said = _said(answer)
        if "current" in said:
            raise RoundClosed(site, round, said["current"])
        if said.get("is_final"):
            raise Final(said["error"])
        raise CbocError(f"the coordinator at {self.url} refused: {said.get('error', answer.reason_phrase)}")

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> httpx2.Response:
        until, pause = time.monotonic() + self.patience, FIRST_PAUSE
        content = b"" if body is None else json.dumps(body).encode()
        while True:
            if self.record is not None:
                self.record(method, path, content)
            try:
                answer = self._request(method, path, content)
                if answer.status_code not in BUSY:
                    return answer
                trouble = f"it answers {answer.status_code}"
            except httpx2.TransportError as error:
                trouble = str(error) or type(error).__name__
            if time.monotonic() + pause > until:
                raise Unreachable(f"no coordinator answers at {self.url} ({trouble}); try again later.")
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2.0 * pause, LONGEST_PAUSE)

    def _request(self, method: str, path: str, content: bytes) -> httpx2.Response:
        """Over a connection of its own: days may lie between two messages."""
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Content-Type": "application/json"} if content else {})
        with httpx2.Client(base_url=self.url, timeout=min(TIMEOUT, self.patience), verify=self._trust) as client:
            return client.request(method, path, content=content, headers=headers)


def disagreement(expected: Study, agreement: dict[str, Any]) -> CbocError:
    """The differences between the study that a site expects, here, and the coordinator's, there."""
    lines = differences(expected.agreement(), agreement)
    return CbocError(f"the coordinator's study is not yours: {'; '.join(lines)}.")


def _said(answer: httpx2.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
