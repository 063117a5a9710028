"""Whoever can write to a carrier, and has no site's keys, changes nothing: what is damaged or forged is not there.

Every test ends with the study as if nothing had happened: all three sites propose, and each has the mix of a ledger.
"""

import json
from types import SimpleNamespace

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from cboc import Ledger
from cboc.exchange.feeds.entry import FeedEntry, write
from cboc.exchange.feeds.folder import LARGEST
from cboc.exchange.feeds.keys import Keys

from ..test_network import SITES, proposal, study
from .ways import WAYS

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
HERE, THERE = (0.25, 0.5), (0.75, 0.125)


@pytest.fixture(params=WAYS)
def way(request, tmp_path):
    return WAYS[request.param](tmp_path)


@pytest.fixture(params=["rounds", "free"])
def agreed(request):
    return study(pace=request.param)


def joined(way, agreed):
    """All sites, which know each other."""
    of = {name: way.network(agreed, name) for name in SITES}
    for network in of.values():
        network.hello()
    for _ in range(2):  # the second time sealed entries are written for all
        for network in of.values():
            way.deliver(network)
    return of


def goes_on(way, of, agreed, turns=(0, 1)):
    """Everybody proposes and is answered, as if nobody had done anything."""
    ledger = Ledger(agreed)
    for turn in turns:
        for site in SITES:
            sent = proposal(site, turn, (0.1 * (1 + SITES.index(site)), 0.2 * turn))
            way.deliver(of[site])
            of[site].submit(sent)
            ledger.submit(sent)
        for site in SITES:
            way.deliver(of[site])
            answer, expected = of[site].mix(site, turn), ledger.mix(site, turn)
            assert (answer.X, answer.weights) == (expected.X, expected.weights)
    for network in of.values():
        assert not network.replica.troubles


def an_entry(way, agreed):
    """A site that has not heard of y's first turn, and that turn as it lies there."""
    of = joined(way, agreed)
    of["y"].submit(proposal("y", 0, HERE))
    contents = way.contents("y")
    way.clear("y")
    return of, contents


def newcomer(way, agreed, of):
    """A replica of x that knows nothing of the others yet."""
    x = way.network(agreed, "x", of["x"]._keys)
    x.replica.load(of["x"].feed.entries)
    return x


def forged(site, number, before, agreed, keys):
    """An entry in the right form, with somebody's keys."""
    last, state = SimpleNamespace(number=number - 1, hash=before), {"state": 0} if agreed.pace.waits else {"seen": {}}
    return write(keys, agreed.digest, site, last, 0, {"act": "turn", "earlier": 0, "wells": 1, **state}, {"X": [THERE]})


def test_a_flipped_bit_anywhere(way, agreed):
    of, contents = an_entry(way, agreed)
    whole = contents[-1]
    bits = st.integers(0, 8 * len(whole) - 1)

    @few
    @given(bits)
    def flip(place):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << (place % 8)
        x = newcomer(way, agreed, of)
        way.clear("y")
        way.leave("y", *contents[:-1], bytes(flipped))
        way.deliver(x)
        turns = x.replica.feeds["y"].turns
        assert not turns or turns[0].proposal == proposal("y", 0, HERE)
        assert not x.replica.troubles
        way.leave("y", whole)
        way.deliver(x)
        assert x.replica.feeds["y"].turns[0].proposal == proposal("y", 0, HERE)

    flip()


def test_a_truncated_entry(way, agreed):
    of, contents = an_entry(way, agreed)
    whole = contents[-1]
    for end in {0, 1, 2, *range(3, len(whole), 37), len(whole) - 1}:
        way.leave("y", whole[:end])
    way.deliver(of["x"])
    assert len(of["x"].replica.feeds["y"].entries) == 1 and not of["x"].replica.troubles
    way.leave("y", *contents)
    way.deliver(of["x"])
    assert of["x"].replica.feeds["y"].turns[0].proposal == proposal("y", 0, HERE)


def test_replayed_entries_count_once(way, agreed):
    of = joined(way, agreed)
    goes_on(way, of, agreed, turns=[0])
    for site in SITES:
        way.leave(site, *way.contents(site) * 3)
        way.leave(SITES[0], *way.contents(site))  # nor does it matter as whose they are left
    for network in of.values():
        way.deliver(network)
        assert [len(feed.entries) for feed in network.replica.feeds.values()] == [2, 2, 2]
    goes_on(way, of, agreed)


def test_reordered_entries(way):
    agreed = study(pace="free")
    of = joined(way, agreed)
    for turn in range(3):
        of["y"].submit(proposal("y", turn, HERE))
    contents = way.contents("y")

    @few
    @given(st.permutations(contents))
    def reorder(order):
        x = newcomer(way, agreed, of)
        way.clear("y")
        for content in order:
            way.leave("y", content)
            way.deliver(x)
        way.deliver(x)  # what came before the hello is taken now
        assert [entry.turn for entry in x.replica.feeds["y"].turns] == [0, 1, 2] and not x.replica.troubles

    reorder()


@pytest.mark.parametrize("number", [1, 2, 50])
@pytest.mark.parametrize("site", ["x", "y"])
def test_an_entry_forged_with_another_key(way, agreed, site, number):
    of = joined(way, agreed)
    before = of[site].feed.last.hash if number == 1 else "0" * 64
    way.leave(site, forged(site, number, before, agreed, Keys.make()).to_bytes())
    for network in of.values():
        way.deliver(network)  # also x itself, under whose name it is
    assert "it is not signed by" in str(of["x"].replica.refused)
    goes_on(way, of, agreed)


def test_a_second_hello_under_a_known_name_is_refused_and_named(way, agreed):
    of = joined(way, agreed)
    other = Keys.make()
    said = {"act": "hello", "signing": other.identity.signing, "sealing": other.identity.sealing}
    hello = write(other, agreed.digest, "y", None, 0, said | {"agreement": agreed.agreement()})
    way.leave("y", hello.to_bytes(), forged("y", 1, hello.hash, agreed, other).to_bytes())
    for network in of.values():
        way.deliver(network)
    peers = {peer.site: peer for peer in of["x"].standing().peers}
    assert peers["y"].trouble.startswith("somebody else calls itself 'y': its keys are") and not peers["z"].trouble
    assert peers["y"].code == of["y"].standing().code
    goes_on(way, of, agreed)


def test_an_unknown_site_with_unknown_keys(way, agreed):
    of = joined(way, agreed)
    other = Keys.make()
    said = {"act": "hello", "signing": other.identity.signing, "sealing": other.identity.sealing}
    hello = write(other, agreed.digest, "v", None, 0, said | {"agreement": agreed.agreement()})
    for site in SITES:
        way.leave(site, hello.to_bytes())
    goes_on(way, of, agreed)


def test_entries_of_a_foreign_study(way, agreed, tmp_path):
    (tmp_path / "foreign").mkdir()
    foreign = type(way)(tmp_path / "foreign")
    there = joined(foreign, study(pace=agreed.pace, name="another"))
    goes_on(foreign, there, study(pace=agreed.pace, name="another"))
    for site in SITES:
        way.leave(site, *foreign.contents(site))  # before anybody has joined
    of = joined(way, agreed)
    goes_on(way, of, agreed)
    if type(way) is WAYS["folder"]:
        assert "it belongs to another study" in of["x"].replica.refused.values()


@pytest.mark.parametrize("agreement", [{}, {"space": 3}, {"name": "x", "space": {}}, {"sites": ["x"] * 9}])
def test_a_first_hello_with_a_broken_agreement(way, agreed, agreement):
    """Somebody says hello as y before y does; without what was agreed it is nobody."""
    other = Keys.make()
    said = {"act": "hello", "signing": other.identity.signing, "sealing": other.identity.sealing}
    way.network(agreed, "x")  # who makes the place
    way.leave("y", write(other, agreed.digest, "y", None, 0, said | {"agreement": agreement}).to_bytes())
    of = {name: way.network(agreed, name) for name in SITES}
    of["x"].hello()
    way.deliver(of["x"])
    assert of["x"].replica.feeds["y"].identity is None and not of["x"].replica.troubles


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "true", "null", '"0.5"', "[]"])
def test_what_is_no_number(way, agreed, number):
    """Also a site that signs such a thing has not said anything."""
    of, _ = an_entry(way, agreed)
    entry = of["y"].feed.last
    for part in ("said", "designs"):
        text = entry.parts[part].replace('"wells": 1', f'"wells": {number}').replace("0.25", number)
        assert text != entry.parts[part]
        way.leave("y", FeedEntry(entry.head, entry.signature, {**entry.parts, part: text}).to_bytes())
    for field in ("number", "turn"):
        head = json.dumps(entry.fields | {field: "here"}).replace('"here"', number)
        way.leave("y", FeedEntry(head, of["y"]._keys.sign(head.encode()), entry.parts).to_bytes())
    way.leave("y", f'{{"head": {number}, "signature": {number}}}'.encode())
    way.deliver(of["x"])
    assert len(of["x"].replica.feeds["y"].entries) == 1 and not of["x"].replica.troubles


def test_deep_json_and_huge_files(way, agreed):
    of = joined(way, agreed)
    deep = b"[" * 200_000 + b"]" * 200_000
    nested = json.dumps({"head": deep.decode(), "signature": "00"}).encode()
    sealed = b'{"head": "{}", "signature": "", "sealed": ' + b'{"said": ' * 5000 + b"1" + b"}" * 5001
    huge = b'{"head": "' + b"x" * (LARGEST + 1000) + b'", "signature": ""}'
    for content in (deep, nested, sealed, huge, b"\0" * LARGEST, "\ufeff{}".encode("utf-16"), b'{"head": "\\ud800"}'):
        way.leave("y", content)
    goes_on(way, of, agreed)


@pytest.mark.parametrize("key", ["00" * 32, "01" + "00" * 31, "ff" * 32])
def test_keys_that_are_none(way, key):
    """A site that is not there yet is said to have keys for which nothing can be sealed."""
    agreed, other = study(pace="free"), Keys.make()
    way.network(agreed, "x")
    said = {"act": "hello", "signing": other.identity.signing, "sealing": key, "agreement": agreed.agreement()}
    way.leave("y", write(other, agreed.digest, "y", None, 0, said).to_bytes())
    of = {name: way.network(agreed, name) for name in "xz"}
    for network in of.values():
        network.hello()
    for turn in range(2):
        for site, network in of.items():
            way.deliver(network)
            network.submit(proposal(site, turn, HERE))
    for site in "xz":
        way.deliver(of[site])
        assert min(of[site].mix(site, 1).weights[::2]) > 0.0


def test_what_is_signed_with_the_right_key_does_count(way, agreed):
    """Otherwise nothing above would mean anything."""
    of = joined(way, agreed)
    way.leave("y", forged("y", 1, of["y"].feed.last.hash, agreed, of["y"]._keys).to_bytes())
    way.deliver(of["x"])
    assert of["x"].replica.feeds["y"].turns[0].proposal == proposal("y", 0, THERE)
