"""Whom a peer answers, and that everybody else learns nothing."""

import json
import os
from urllib.parse import quote

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from starlette.testclient import TestClient

from cboc.exchange.feeds import introduction, request
from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.arrival import between_peers
from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.keys import FEED, Keys
from cboc.exchange.feeds.request import Request
from cboc.peer.app import REFUSAL, create_app

from ..exchange.test_network import proposal, study
from ..machine.peers import begun, code_of

ELSEWHERE = "https://127.0.0.1:1"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The file of x in the middle of a star, who has added y, but not z; and the file of y."""
    path = tmp_path_factory.mktemp("star")
    agreed = study(pace="free", graph="star", rule="leader")
    x, y, z = (begun(path, agreed, name) for name in agreed.sites)
    Addresses(x).add("y", ELSEWHERE, code_of(y))
    between_peers(x).submit(proposal("x", reward=1.0))
    return x, y, z


@pytest.fixture(scope="module")
def said():
    return []


@pytest.fixture(scope="module")
def peer(home, said):
    with TestClient(create_app(home[0], b"certificate", lambda *what: said.append(what))) as client:
        yield client


def ask(peer, file, keys=None, **changed):
    site, (agreed,) = file.membership()
    fields = {"study": agreed.digest, "site": site, "to": changed.pop("to"), "known": {"x": (0, "")}} | changed
    return peer.post(request.PATH, content=Request(**fields).signed(keys or file.keys))


def test_a_neighbour_that_was_added_is_given_the_feed(peer, home):
    x, y, _ = home
    answer = ask(peer, y, to=code_of(x))
    entries = [FeedEntry.from_bytes(line) for line in answer.content.splitlines()]
    assert answer.status_code == 200 and [entry.number for entry in entries] == [0, 1]
    assert entries[1].is_whole and entries[1].proposal.X == ((0.5, 0.5),)
    known = {"x": (2, entries[1].hash)}
    assert ask(peer, y, to=code_of(x), known=known).content == b""
    other = {"x": (2, "0" * 64)}  # it knows another last entry: it is shown this one
    assert len(ask(peer, y, to=code_of(x), known=other).content.splitlines()) == 1


def test_what_nobody_asked_for_is_not_given(peer, home):
    x, y, _ = home
    for known in ({}, {"z": (0, "")}, {"nobody": (3, "")}):
        assert ask(peer, y, to=code_of(x), known=known).content == b""


@pytest.mark.parametrize("who", ["was not added", "no neighbour", "other keys", "other site", "unknown", "replayed"])
def test_whoever_else_asks_is_refused_in_one_sentence_and_learns_nothing(peer, home, said, who):
    x, y, z = home
    given = {
        "was not added": lambda: ask(peer, z, to=code_of(x)),
        "no neighbour": lambda: ask(peer, x, to=code_of(x)),
        "other keys": lambda: ask(peer, y, Keys.make(), to=code_of(x)),
        "other site": lambda: ask(peer, y, to=code_of(x), site="z"),
        "unknown": lambda: ask(peer, y, to=code_of(x), site="lab-q", study="another"),
        "replayed": lambda: ask(peer, y, to=code_of(z)),  # what y has asked z for, brought here by z
    }
    said.clear()
    answer = given[who]()
    assert answer.status_code == 403 and answer.json() == {"error": REFUSAL}
    ((sentence, _),) = said  # the people here are told
    assert sentence.startswith("Refused a request from testclient: ")


def test_who_is_no_neighbour_in_the_graph_is_refused_whatever_the_file_says(home):
    _, y, z = home
    y.remember(**{"peer z": {"address": ELSEWHERE, "code": code_of(z)}})
    with TestClient(create_app(y, b"certificate", lambda *_: None)) as peer:
        assert ask(peer, z, to=code_of(y), known={"y": (0, "")}).status_code == 403


def test_a_neighbour_with_another_study_is_told_the_difference_and_a_stranger_is_not(peer, home):
    x, y, z = home
    assert ask(peer, y, to=code_of(x), study="another").json()["agreement"]["name"] == "trial run"
    assert "agreement" not in ask(peer, z, to=code_of(x), study="another").json()


def test_a_request_that_was_changed_or_signed_for_something_else_is_refused(peer, home):
    x, y, _ = home
    _, (agreed,) = y.membership()
    whole = json.loads(Request(agreed.digest, "y", code_of(x), {"x": (0, "")}).signed(y.keys))
    assert peer.post(request.PATH, json=whole).status_code == 200
    changes = [
        {"asked": whole["asked"].replace('"x"', '"z"')},
        {"signature": y.keys.sign(whole["asked"].encode(), FEED)},
        {"signature": "0" * 128},
        {"signing": Keys.make().identity.signing},
        {"sealing": Keys.make().identity.sealing},
        {"more": 1},
        {"asked": "\ud800"},
        {"asked": None},
    ]
    for change in changes:
        assert peer.post(request.PATH, content=json.dumps(whole | change)).status_code == 403


def test_what_is_too_large_is_not_read(peer):
    assert peer.post(request.PATH, content=os.urandom(request.LARGEST + 1)).status_code == 413
    assert peer.post(request.PATH, content=(b"{" * 1000 for _ in range(1000))).status_code == 413


def test_everybody_may_know_the_keys_and_nothing_else(peer, home):
    answer = peer.get(introduction.PATH)
    assert answer.json().keys() == {"signing", "sealing", "signature"}
    assert introduction.recognise(answer.content, b"certificate") == home[0].keys.identity
    for method, path in (("GET", "/"), ("GET", request.PATH), ("PUT", request.PATH), ("POST", "/openapi.json")):
        answer = peer.request(method, path)
        assert answer.status_code in (404, 405) and answer.json() == {"error": "a peer has no such thing."}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
fields = st.fixed_dictionaries({"study": anything, "site": anything, "to": anything, "known": anything})


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_request_makes_it_fail(peer, home, data):
    """Anything at all; or one that is signed, whose fields are anything at all; or a good one with anything in it."""
    x, y, _ = home
    keys = y.keys
    kind = data.draw(st.sampled_from(["bytes", "json", "signed", "known"]))
    if kind == "bytes":
        content = data.draw(st.binary(max_size=200))
    elif kind == "json":
        content = json.dumps(data.draw(anything)).encode()
    else:
        good = {"study": y.membership()[1][0].digest, "site": "y", "to": code_of(x)}
        asked = json.dumps(data.draw(fields) if kind == "signed" else good | {"known": data.draw(anything)})
        identity = keys.identity
        signature = keys.sign(asked.encode(), b"cboc request\n")
        whole = {"asked": asked, "signing": identity.signing, "sealing": identity.sealing, "signature": signature}
        content = json.dumps(whole).encode()
    assert peer.post(request.PATH, content=content).status_code in (200, 403, 409)


@given(path=st.text(max_size=30), method=st.sampled_from(["GET", "POST", "HEAD", "OPTIONS", "DELETE"]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_makes_it_fail(peer, path, method):
    assert peer.request(method, "/" + quote(path.encode(errors="replace"))).status_code in (404, 405)
