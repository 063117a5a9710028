import json
import socket

import httpx2
import pytest

from cboc import CbocError, Ledger, Study
from cboc.coordinator.errors import LARGEST, SMALL
from cboc.coordinator.tokens import NotAllowed, Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange import wire
from cboc.exchange.messages import Proposal

from ..machine import plain

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
STUDY = Study(SPACE, ("x", "y"), 4, name="trial run", pace="rounds")
TOKENS = {site: new_secret() for site in STUDY.sites}


@pytest.fixture
def base(engine, serving):
    """A coordinator with one study, in which both sites have joined."""
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    for site, token in TOKENS.items():
        door.join(door.invite("trial run", site), token)
    with serving(engine) as base:
        yield base


def call(base, method, path, site="x", **more):
    headers = {"Authorization": f"Bearer {TOKENS[site]}"} if site else {}
    return plain.request(method, base + path, headers=headers | more.pop("headers", {}), **more)


def propose(base, site, turn=0, x=(0.5, 0.5)):
    return call(base, "PUT", f"/v2/turns/{turn}/proposal", site, json={"X": [x]})


def test_a_round_over_http_is_that_of_a_ledger(base):
    ledger = Ledger(STUDY)
    sent = {
        site: Proposal(site, 0, [x], [(0.25, k / 8)])
        for k, (site, x) in enumerate(zip("xy", ((0.1, 0.3), (0.7, 0.9)), strict=True))
    }
    for site, proposal in sent.items():
        ledger.submit(proposal)
        body = {"X": proposal.X, "bests": proposal.bests}
        assert call(base, "PUT", "/v2/turns/0/proposal", site, json=body).status_code == 204
        assert call(base, "PUT", "/v2/turns/0/proposal", site, json=body).status_code == 204  # again is fine
        if site == "x":
            waiting = call(base, "GET", "/v2/turns/0/mix", site)
            assert waiting.status_code == 202 and int(waiting.headers["Retry-After"]) > 0
            assert waiting.json() == {"round": 0, "missing": ["y"], "closes_at": None}
    for site in "xy":
        expected = ledger.mix(site, 0)
        got = call(base, "GET", "/v2/turns/0/mix", site).json()
        assert tuple(map(tuple, got["X"])) == expected.X and tuple(got["weights"]) == expected.weights
        assert tuple(map(tuple, got["others"])) == expected.others and got["leader"] is None and got["snapshot"] == 0
    other = propose(base, "x")
    assert other.status_code == 409 and other.json()["reason"] == "conflict"
    late = propose(base, "x", 1)  # a turn of its own: it is in the round that is open
    assert late.status_code == 204 and call(base, "GET", "/v2/standing").json()["missing"] == ["y"]


def test_a_site_sees_the_agreement_and_where_the_study_stands(base):
    known = call(base, "GET", "/v2/study", "y").json()
    assert known["digest"] == STUDY.digest and known["site"] == "y" and known["turn"] == 0
    assert known["agreement"] == STUDY.agreement()
    assert Study.from_agreement(known["agreement"]).digest == STUDY.digest
    standing = call(base, "GET", "/v2/standing", "y").json()
    assert standing == {"round": 0, "missing": ["x", "y"], "closes_at": None}


def test_who_leaves_is_not_waited_for(base):
    assert propose(base, "x").status_code == 204
    assert call(base, "POST", "/v2/leave", "y").status_code == 204
    assert call(base, "GET", "/v2/turns/0/mix", "x").status_code == 200


def test_a_refusal_says_what_a_site_can_do(base):
    unknown = call(base, "GET", "/v2/turns/1/mix", "y")
    assert unknown.status_code == 409 and unknown.json() == {
        "error": "site 'y' has not proposed for turn 1.",
        "reason": "not submitted",
    }
    assert propose(base, "x").status_code == 204
    early = propose(base, "x", 1)
    assert early.status_code == 409 and early.json() == {
        "error": "round 0 is open, and 'x' has proposed for it already.",
        "reason": "waiting",
        "standing": {"round": 0, "missing": ["y"], "closes_at": None},
    }
    other = propose(base, "x", 0, (0.1, 0.1))
    assert other.status_code == 409 and set(other.json()) == {"error", "reason"}
    assert other.json()["reason"] == "conflict" and "0.1" not in other.json()["error"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/study"), ("PUT", "/v1/rounds/0/proposal"), ("GET", "/v1/rounds/0/design"), ("POST", "/v1/leave")],
)
def test_who_speaks_the_protocol_of_before_is_told_to_install_a_newer_cboc(base, method, path):
    for site in ("x", None):
        answer = call(base, method, path, site)
        assert answer.status_code == 409 and "the site's cboc is older: install the same" in answer.json()["error"]
    assert call(base, "GET", "/v2/standing").json()["missing"] == ["x", "y"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 401), ({"Authorization": "Bearer nonsense"}, 401), ({"Authorization": "Bearer " + "x" * 5000}, 401)],
)
def test_without_the_right_token_nothing_is_said(base, headers, status):
    for method, path in (
        ("GET", "/v2/study"),
        ("GET", "/v2/standing"),
        ("GET", "/v2/turns/0/mix"),
        ("PUT", "/v2/turns/0/proposal"),
        ("POST", "/v2/leave"),
    ):
        answer = call(base, method, path, site=None, headers=headers)
        assert answer.status_code == status and set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    "body",
    [
        b'{"X": [[NaN, 0.5]]}',
        b'{"X": [[1e999, 0.5]]}',
        b'{"X": [[0.5, 2.0]]}',
        b'{"X": [[0.5, 0.5]], "y": 3.14159}',
        b'{"X": "0.5"}',
        b'{"X": []}',
        b'{"X": [[]]}',
        b'{"X": [0.5, 0.5]}',
        b'{"X": [[true, null]]}',
        b'{"X": [[0.5, 0.5]], "reward": Infinity}',
        b'{"X": [[0.5, 0.5]], "bests": [0.5, 0.5]}',
        b'{"X": [[0.5, 0.5]], "bests": [[0.5, -0.5]]}',
        b'{"bests": [[0.5, 0.5]]}',
        b'{"x": [0.5, 0.5]}',
        b"[]",
        b"{",
        b"\\xff\\x00",
        b"",
    ],
)
def test_a_message_that_does_not_fit_is_refused_and_not_repeated(base, body):
    answer = call(base, "PUT", "/v2/turns/0/proposal", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and answer.json() == {
        "error": "the message does not have the form that /openapi.json describes."
    }
    assert call(base, "GET", "/v2/standing").json()["missing"] == ["x", "y"]


@pytest.mark.parametrize("path", ["/v2/turns/-1/mix", f"/v2/turns/{2**70}/mix", "/v2/turns/a%00b/mix"])
def test_a_turn_that_is_no_number_of_ours_is_refused(base, path):
    assert call(base, "GET", path).status_code == 422


def test_a_turn_far_ahead_is_one_that_nobody_proposed_for(base):
    assert call(base, "GET", "/v2/turns/999999/mix").json()["reason"] == "not submitted"
    assert propose(base, "x", 999999).status_code == 204  # the number is the site's own
    assert call(base, "GET", "/v2/turns/999999/mix").status_code == 202
    assert call(base, "GET", "/v2/elsewhere").status_code == 404


def chunks(size):
    for _ in range(size // 1024):
        yield b" " * 1024


@pytest.mark.parametrize("is_declared", [True, False])
def test_a_message_that_is_too_large_is_not_read(base, is_declared):
    content = b" " * (LARGEST + 1) if is_declared else chunks(100 * LARGEST)
    headers = {"Content-Type": "application/json"}
    try:
        answer = call(base, "PUT", "/v2/turns/0/proposal", content=content, headers=headers)
    except (httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):
        return  # it hung up on us while we were still talking
    assert answer.status_code in (400, 413)


def test_what_a_stranger_sends_is_not_kept_beyond_a_little(base):
    """Many of them would fill the memory with messages that never end."""
    answer = plain.post(f"{base}/v2/join", content=b" " * (SMALL + 1), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    head = (
        "PUT /v2/turns/0/proposal HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2])), timeout=15.0) as stranger:
        stranger.sendall(head.format(new_secret(), LARGEST).encode() + b"\r\n\r\n" + b" " * (SMALL + 1))
        assert stranger.recv(100).startswith(b"HTTP/1.1 401")
    body = json.dumps({"X": [[0.5, 0.5]]}).encode() + b" " * (LARGEST // 2)
    answer = call(base, "PUT", "/v2/turns/0/proposal", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 204, "a site's own message may be large"


def test_joining_needs_an_invitation_and_is_idempotent(engine, serving):
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    code, token = door.invite("trial run", "x"), new_secret()
    with serving(engine) as base:
        for _ in range(2):
            answer = plain.post(f"{base}/v2/join", json={"code": code, "token": token})
            assert answer.status_code == 200 and answer.json()["site"] == "x"
        again = plain.post(f"{base}/v2/join", json={"code": code, "token": new_secret()})
        assert again.status_code == 401 and "has already been used" in again.json()["error"]
        unknown = plain.post(f"{base}/v2/join", json={"code": "guess", "token": token})
        assert unknown.status_code == 401 and "unknown or too old" in unknown.json()["error"]
        headers = {"Authorization": f"Bearer {token}"}
        assert plain.get(f"{base}/v2/study", headers=headers).status_code == 200
        door.revoke("trial run", "x")
        assert plain.get(f"{base}/v2/study", headers=headers).status_code == 401
        assert plain.post(f"{base}/v2/join", json={"code": code, "token": token}).status_code == 401


def test_an_invitation_gets_old_and_a_new_token_replaces_the_first(engine):
    now = [0.0]
    Transactions(engine).create(STUDY)
    door = Tokens(engine, lambda: now[0])
    old, first, second = door.invite("trial run", "x", 60.0), new_secret(), new_secret()
    now[0] = 61.0
    with pytest.raises(NotAllowed, match="too old"):
        door.join(old, first)
    door.join(door.invite("trial run", "x"), first)
    door.join(door.invite("trial run", "x"), second)
    assert door.who(second) == ("trial run", "x")
    with pytest.raises(NotAllowed, match="unknown or was revoked"):
        door.who(first)


def test_only_the_newest_invitation_is_good_and_none_takes_a_joined_site_over(engine):
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    lost, code, token = door.invite("trial run", "x"), door.invite("trial run", "x"), new_secret()
    other = door.invite("trial run", "y")
    with pytest.raises(NotAllowed, match="unknown or too old"):
        door.join(lost, new_secret())
    door.join(code, token)
    newer = door.invite("trial run", "x")
    door.join(code, token)  # the same again takes nothing from the newer one
    assert door.invited(newer, new_secret()) == ("trial run", "x")
    assert door.invited(other, new_secret()) == ("trial run", "y")
    door.join(newer, new_secret())
    with pytest.raises(NotAllowed, match="unknown or too old"):
        door.join(code, token)  # nor is the site taken back


def test_who_has_left_for_good_is_not_invited(engine):
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    code = door.invite("trial run", "x")
    door.revoke("trial run", "x", for_good=True)
    Transactions(engine).leave("trial run", "x")
    with pytest.raises(CbocError, match="site 'x' has left study 'trial run' for good; it cannot be invited again"):
        door.invite("trial run", "x")
    with pytest.raises(NotAllowed, match="unknown or too old"):
        door.join(code, new_secret())


@pytest.mark.parametrize("is_revoked", [False, True])
def test_who_has_left_comes_back_by_a_new_invitation_and_not_by_an_old_one(engine, is_revoked):
    exchange, door = Transactions(engine), Tokens(engine)
    exchange.create(STUDY)
    code, token = door.invite("trial run", "x"), new_secret()
    door.join(code, token)
    exchange.leave("trial run", "x")
    assert exchange.standing("trial run").missing == ("y",)
    door.join(code, token)  # it was used before
    assert exchange.standing("trial run").missing == ("y",)
    if is_revoked:  # for instance because its computer is gone
        door.revoke("trial run", "x")
    new = door.invite("trial run", "x")
    assert exchange.standing("trial run").missing == ("y",)  # invited is not back
    for _ in range(2):  # the same again is fine
        door.join(new, token if not is_revoked else "another-token-of-x-" + 20 * "x")
        assert exchange.standing("trial run").missing == ("x", "y")
    exchange.leave("trial run", "x")
    door.join(new, token if not is_revoked else "another-token-of-x-" + 20 * "x")
    assert exchange.standing("trial run").missing == ("y",)


def test_no_command_line_takes_a_secret_for_an_option(monkeypatch):
    drawn = iter(["-first", "--second", "third-"])
    monkeypatch.setattr("cboc.coordinator.tokens.token_urlsafe", lambda _: next(drawn))
    assert new_secret() == "third-"


def test_no_secret_is_in_the_database(engine):
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    code, token = door.invite("trial run", "x"), new_secret()
    door.join(code, token)
    with engine.connect() as connection:
        rows = [
            str(tuple(row))
            for table in ("sites", "invites")
            for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        ]
    assert rows and not any(secret in row for secret in (code, token) for row in rows)


def test_the_interface_has_no_place_for_an_outcome(base):
    paths = plain.get(f"{base}/openapi.json").json()["paths"]
    assert set(paths) == {endpoint.path for endpoint in wire.ENDPOINTS}

    def content(said):
        return said["content"]["application/json"]["schema"]

    proposal = content(paths[wire.SUBMIT.path]["put"]["requestBody"])
    mix = content(paths[wire.MIX.path]["get"]["responses"]["200"])
    assert set(proposal["properties"]) == {"X", "bests", "reward"} and proposal == wire.schema(wire.PROPOSAL)
    assert set(mix["properties"]) == {"X", "weights", "snapshot", "leader", "others"}
    assert proposal["additionalProperties"] is False and mix["additionalProperties"] is False
    assert plain.get(f"{base}/healthz").json() == {"status": "well"}
