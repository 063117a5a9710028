"""The interface keeps its word: what /openapi.json promises is what comes, whatever came in."""

import json
import socket
from collections import Counter
from contextlib import suppress

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from cboc import Study
from cboc.coordinator.database import open_database
from cboc.coordinator.errors import LARGEST
from cboc.coordinator.rate_limit import RateLimit
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions

from ..machine import plain

STUDY = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 4, name="trial run", pace="rounds")
OTHER = Study({"c": (0.0, 1.0)}, ("x", "y"), 4, name="other", pace="rounds")
TOKEN, OTHER_TOKEN = new_secret(), new_secret()
MANY = 100 * 10**6  # bytes
MEANT = "/v2/turns/0/proposal"
QUICKLY = settings(
    max_examples=20,  # that fit, and as many that do not
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def base(engine, serving):
    """A coordinator with two studies, in both of which x has joined."""
    door = Tokens(engine)
    for study, token in ((STUDY, TOKEN), (OTHER, OTHER_TOKEN)):
        Transactions(engine).create(study)
        door.join(door.invite(study.name, "x"), token)
    with serving(engine) as base:
        yield base


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("headers", [bearer(TOKEN), {}], ids=["site", "nobody"])
def test_the_schema_is_kept(base, headers, monkeypatch, tally, request):
    """Messages that fit the schema, and as many that do not: no 5xx, and only answers that are documented."""
    monkeypatch.setattr(RateLimit, "_wait", lambda *_: 0.0)  # or most answers would be 429
    seen, statuses = {}, Counter()
    for operation in operations(base):
        modes = [GenerationMode.POSITIVE] if operation.path == "/healthz" else list(GenerationMode)
        for mode in modes:

            @QUICKLY
            @given(case=operation.as_strategy(generation_mode=mode))
            def keeps_its_word(case):
                answer = case.call_and_validate(headers=headers)
                seen.setdefault(case.operation.path, set()).add(answer.status_code)
                statuses[f"answered {answer.status_code}"] += 1

            keeps_its_word()
    tally(f"messages drawn from the schema, {request.node.callspec.id}", **dict(sorted(statuses.items())))
    assert len(seen) == 10 and seen["/v2/turns/{turn}/proposal"] >= ({409, 422} if headers else {401})


def operations(base):
    schema = schemathesis.openapi.from_url(f"{base}/openapi.json")
    return [result.ok() for result in schema.get_all_operations()]


def put(base, body, path=MEANT, token=TOKEN):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return plain.put(base + path, content=content, headers=bearer(token) | {"Content-Type": "application/json"})


def is_untouched(base):
    """It is still there, and has taken nothing in."""
    return plain.get(f"{base}/v2/standing", headers=bearer(TOKEN)).json()["missing"] == ["x", "y"]


STRANGE = {
    b'{"X": [[0.5, 0.5]], "\\u0000": 1}': 422,
    b'{"X": [[0.5, 0.5]], "\\ud800": 1}': 422,
    b'{"X": [[0.5, 0.5]], "reward": 1' + 400 * b"0" + b"}": 422,
    b'{"X": [[0.5, 0.5]], "reward": 1' + 5000 * b"0" + b"}": 422,
    b"[" * 10_000 + b"]" * 10_000: 422,
    b'{"X":' * 10_000 + b"1" + b"}" * 10_000: 422,
    b'{"X": [' + b"[0.5, 0.5], " * 1000 + b"[0.5, 0.5]]}": 422,
    b'{"X": [[0.5]]}': 409,
    b'{"X": [[0.5, 0.5], [0.5]]}': 409,
    b'{"X": [[0.5, 0.5]], "bests": [[0.5]]}': 409,
}


def test_a_strange_message_is_refused(base):
    for body, status in STRANGE.items():
        assert put(base, body).status_code == status, body[:40]
    assert is_untouched(base)


def test_only_a_number_is_a_number(base):
    for body in ({"X": [[True, False]]}, {"X": [["0.5", "0.5"]]}, {"X": [[0.5, 0.5]], "reward": "1"}):
        assert put(base, body).status_code == 422
    assert is_untouched(base)


def test_of_two_values_for_one_key_the_last_counts(base):
    assert put(base, b'{"X": [[0.1, 0.1]], "X": [[0.5, 0.5]]}').status_code == 204
    assert put(base, {"X": [[0.5, 0.5]]}).status_code == 204  # the same again
    assert put(base, {"X": [[0.1, 0.1]]}).status_code == 409


def test_a_turn_that_is_no_number_of_ours_is_refused(base):
    for number in (2**31, 2**40, 2**70, "0x1", "1e3", "%00", "0%00", "%F0%9F%92%A9"):
        assert plain.get(f"{base}/v2/turns/{number}/mix", headers=bearer(TOKEN)).status_code == 422
        assert put(base, {"X": [[0.5, 0.5]]}, f"/v2/turns/{number}/proposal").status_code == 422
    assert is_untouched(base)


def talk(base, head, chunks=()):
    """The status of the answer to raw bytes, as soon as there is one; None if it hangs up without a word."""
    host, _, port = base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        try:
            line.sendall(head)
            for chunk in chunks:
                line.sendall(chunk)
        except ConnectionError:
            pass  # it has heard enough; the answer may have come before
        try:
            answer = line.recv(1000)
        except ConnectionError:
            return None
    return int(answer.split(b" ")[1]) if answer else None


def head(*headers, token=TOKEN):
    lines = (f"PUT {MEANT} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", *headers)
    return "\r\n".join((*lines, "", "")).encode()


def test_what_is_announced_as_too_large_is_not_waited_for(base):
    assert talk(base, head("Content-Type: application/json", f"Content-Length: {MANY}")) == 413
    assert is_untouched(base)


def test_what_turns_out_too_large_is_not_read_to_its_end(base):
    sent = 0

    def chunks():
        nonlocal sent
        while sent < MANY:
            sent += LARGEST
            yield f"{LARGEST:x}\r\n".encode() + LARGEST * b" " + b"\r\n"

    assert talk(base, head("Content-Type: application/json", "Transfer-Encoding: chunked"), chunks()) in (413, None)
    assert sent < MANY and is_untouched(base)


def test_a_token_of_10_megabytes_opens_nothing(base):
    assert talk(base, head(token="x" * 10**7)) in (400, 431, None)
    with suppress(httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):  # it hangs up while we still talk
        assert plain.post(f"{base}/v2/join", json={"code": "c", "token": "x" * 10**7}).status_code == 413
    assert is_untouched(base)


def test_a_strange_secret_opens_nothing(base):
    for secret in ("\ud800" * 32, "\x00" * 32, "é" * 32, "'; DROP TABLE sites; --" * 2):
        for body in ({"code": secret, "token": new_secret()}, {"code": new_secret(), "token": secret}):
            content = json.dumps(body).encode()
            answer = plain.post(f"{base}/v2/join", content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code in (401, 422)
        shown = b"Bearer " + secret.encode("utf-8", "surrogatepass").replace(b"\x00", b"\xff")
        assert plain.get(f"{base}/v2/study", headers={b"Authorization": shown}).status_code == 401
    assert is_untouched(base)


def test_a_token_speaks_for_its_own_study_only(base):
    assert plain.get(f"{base}/v2/study", headers=bearer(OTHER_TOKEN)).json()["agreement"]["name"] == "other"
    assert put(base, {"X": [[0.5, 0.5]]}, token=OTHER_TOKEN).status_code == 409  # its designs have one coordinate
    assert put(base, {"X": [[0.5]]}, token=OTHER_TOKEN).status_code == 204
    assert plain.post(f"{base}/v2/leave", headers=bearer(OTHER_TOKEN)).status_code == 204
    assert is_untouched(base)


def test_an_invitation_that_is_too_old_opens_nothing(base, engine):
    code = Tokens(engine).invite("trial run", "y", lifetime=-1.0)
    answer = plain.post(f"{base}/v2/join", json={"code": code, "token": new_secret()})
    assert answer.status_code == 401 and "too old" in answer.json()["error"]


def test_a_token_that_is_taken_is_refused(base, engine):
    code = Tokens(engine).invite("trial run", "y")
    answer = plain.post(f"{base}/v2/join", json={"code": code, "token": TOKEN})
    assert answer.status_code in (401, 409)
    assert plain.get(f"{base}/v2/study", headers=bearer(TOKEN)).json()["site"] == "x"


@pytest.mark.parametrize("away", ["sqlite:////no/such/folder/a.db", "postgresql+psycopg://cboc@127.0.0.1:9/cboc"])
def test_a_database_that_is_away_is_a_reason_to_ask_again(serving, away):
    """A site repeats what meets a 503, and takes a refusal for the last word."""
    engine = open_database(away)
    with serving(engine) as base:
        assert plain.get(f"{base}/v2/study", headers=bearer(TOKEN)).status_code == 503
    engine.dispose()


def test_a_stranger_does_not_fill_the_memory(base):
    for k in range(3):
        plain.request(f"MADEUP{k}", f"{base}/v2/study")
    assert "MADEUP" not in plain.get(f"{base}/metrics").text


def test_who_guesses_does_not_shut_the_others_out(base):
    for _ in range(30):
        plain.get(f"{base}/v2/study", headers=bearer(new_secret()))
    assert plain.get(f"{base}/v2/study", headers=bearer(TOKEN)).status_code == 200
