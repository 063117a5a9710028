"""A site that signs what cannot be is taken for one that has left, with a sentence; the others go on."""

import json
import shutil
from types import SimpleNamespace

import pytest

from cboc import CbocError, Ledger, Study, Waiting
from cboc.exchange.feeds.entry import DESIGNS, SAID, FeedEntry, write
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.folder import Folder
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Replica, Taken
from cboc.exchange.messages import Proposal

from ..test_network import SITES, Clock, proposal, study
from .shelf import Shelf, feeds
from .ways import WAYS, StickWay

HERE, THERE = (0.25, 0.5), (0.75, 0.125)
BASE = {"act": "turn", "earlier": 0, "wells": 1}


@pytest.fixture(params=WAYS)
def way(request, tmp_path):
    return WAYS[request.param](tmp_path)


def joined(way, agreed, names=None):
    of = {name: way.network(agreed, name) for name in names or agreed.sites}
    for network in of.values():
        network.hello()
    for _ in range(2):
        for network in of.values():
            way.deliver(network)
    return of


def signed(network, said, designs=(HERE,), turn=0, number=None, before=None):
    """Whatever y says, signed by y."""
    last = network.feed.last
    last = last if number is None else SimpleNamespace(number=number - 1, hash=before or "0" * 64)
    given = None if designs is None else {"X": list(designs)}
    return write(network._keys, network.study.digest, network.site, last, turn, said, given)


def others_go_on(way, of, turns=(0, 1)):
    """x and z propose, and are answered."""
    for turn in turns:
        for site in "xz":
            way.deliver(of[site])
            of[site].submit(proposal(site, turn, HERE))
        for site in "xz":
            way.deliver(of[site])
            assert of[site].mix(site, turn).weights[1] == 0.0


IN_ROUNDS = {
    "counts its experiments wrongly": BASE | {"state": 0, "wells": 5},
    "belongs to another pace": BASE | {"seen": {}},
    "further on than the study can be": BASE | {"state": 10**9},
    "a reward where the rule asks for none": BASE | {"state": 0, "reward": 1.0},
    "which the study leaves to nobody": {"act": "close", "state": 0, "present": ["y"]},
}


@pytest.mark.parametrize("trouble", IN_ROUNDS)
def test_in_rounds(way, trouble):
    of, said = joined(way, study(rule="uniform")), IN_ROUNDS[trouble]
    designs = None if said["act"] == "close" else [HERE] * min(said["wells"], 5)
    way.leave("y", signed(of["y"], said, designs).to_bytes())
    others_go_on(way, of)
    assert trouble in of["x"].replica.troubles[0] and of["x"].standing().peers[0].trouble


AT_THE_FREE_PACE = {
    "belongs to another pace": BASE | {"state": 0},
    "seen sites that the study does not have": BASE | {"seen": {"nobody": 1}},
    "has more than its budget": BASE | {"seen": {}, "earlier": 4},
}


@pytest.mark.parametrize("trouble", AT_THE_FREE_PACE)
def test_at_the_free_pace(way, trouble):
    of = joined(way, study(pace="free"))
    way.leave("y", signed(of["y"], AT_THE_FREE_PACE[trouble]).to_bytes())
    others_go_on(way, of)
    assert trouble in of["x"].replica.troubles[0]


def test_entries_far_ahead_wait_and_stop_nobody(way):
    of = joined(way, study(pace="free"))
    for number in (2, 3, 1000, 999_999):
        way.leave("y", signed(of["y"], BASE | {"seen": {}}, number=number).to_bytes())
    others_go_on(way, of)
    assert not of["x"].replica.troubles and set(of["x"].replica.feeds["y"].later) == {2, 3, 1000, 999_999}
    way.leave("y", signed(of["y"], BASE | {"seen": {}}).to_bytes())  # those that waited follow another one
    way.deliver(of["x"])
    assert len(of["x"].replica.feeds["y"].entries) == 2
    of["x"].submit(proposal("x", 2, HERE))
    assert of["x"].mix("x", 2).weights[1] > 0.0


def test_whoever_has_seen_entries_that_do_not_exist_hurts_nobody_else(way):
    agreed = study(pace="free")
    of = joined(way, agreed)
    way.leave("y", signed(of["y"], BASE | {"seen": {"x": 1000}}).to_bytes())
    for site in "xz":
        way.deliver(of[site])
        of[site].submit(proposal(site, 0, HERE))
        assert of[site].mix(site, 0).weights[1] > 0.0
    with pytest.raises(CbocError, match="entries of 'x' that were seen before are missing"):  # whoever audits y
        Ledger(agreed, Record(of["x"].replica, "y")).mix("y", 0)


def test_a_round_far_ahead_is_not_waited_for():
    """As far as it can be: y is absent from the rounds before, and the others go on."""
    agreed = study()
    shelf = Shelf()
    of = feeds(agreed, shelf)
    entry = signed(of["y"], BASE | {"state": 11})
    shelf.copies[entry.hash] = entry.to_bytes()
    for site in "xz":
        of[site].submit(proposal(site))
    assert of["x"].mix("x", 0).weights[1] == 0.0 == of["z"].mix("z", 0).weights[1]


# --------------------------------------------------------------------------------------------- parts that are missing

RING = ("w", "x", "y", "z")


@pytest.mark.parametrize("pace", ["rounds", "free"])
def test_designs_that_have_not_come_are_not_mixed(tmp_path, pace):
    """By stick on a ring: z passes on what its neighbour y has said, and not y's designs, to y's neighbour x."""
    agreed = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, RING, 4, graph="ring", pace=pace, shares_best=False)
    way = StickWay(tmp_path)
    of = {name: way.network(agreed, name) for name in RING}
    for network in of.values():
        network.hello()
    for network in of.values():
        way.deliver(network)
    of["y"].submit(Proposal("y", 0, [THERE]))
    for entry in of["y"].feed.entries:
        of["x"].bring(entry.without(DESIGNS))
    for site in ("w", "z", "x"):
        of[site].submit(Proposal(site, 0, [HERE]))
    for site in ("w", "z"):
        for entry in of[site].feed.entries:
            of["x"].bring(entry)
    if pace == "rounds":
        with pytest.raises(Waiting, match="round 0 is still open"):
            of["x"].mix("x", 0)
    else:
        assert of["x"].mix("x", 0).X == (HERE,)
    for entry in of["y"].feed.entries:
        assert of["x"].bring(entry) in (Taken.NEW, Taken.KNOWN)
    if pace == "rounds":
        assert of["x"].mix("x", 0).X != (HERE,)
    else:
        assert of["x"].mix("x", 0).X == (HERE,), "what it had not seen does not change what it was told"
        of["x"].submit(Proposal("x", 1, [HERE]))
        assert of["x"].mix("x", 1).X != (HERE,)


def test_a_part_that_comes_later_is_checked_as_if_it_had_come_at_once():
    agreed = study()
    of, replica = feeds(agreed), Replica(agreed)
    bad = signed(of["y"], BASE | {"seen": {}})  # in rounds
    for entry in (*of["y"].feed.entries, bad.without(SAID).without(DESIGNS), bad.without(DESIGNS)):
        replica.take(entry)
    assert "belongs to another pace" in replica.troubles[0] and len(replica.feeds["y"].entries) == 1
    assert Record(replica, "x").rounds == {}


def test_sealed_entries_that_become_readable_in_any_order_are_no_trouble():
    """Turn 0 can be read, turn 1 not yet, turn 2 can: nothing is wrong with how y counts."""
    agreed = study(pace="free")
    of, replica = feeds(agreed), Replica(agreed)
    for turn in range(3):
        of["y"].submit(proposal("y", turn))
    hello, first, second, third = of["y"].feed.entries
    for entry in (hello, first, second.without(SAID).without(DESIGNS), third):
        replica.take(entry)
    assert len(replica.feeds["y"].entries) == 2 and not replica.troubles
    replica.take(second)
    assert len(replica.feeds["y"].entries) == 4 and not replica.troubles


# ----------------------------------------------------------------------------------------------------------- forks


def fork(shelf, network, number):
    """Another entry of a site under a number that it has used."""
    entries = network.feed.entries
    last, said = entries[number - 1], dict(entries[number].said)
    said = {name: value for name, value in said.items() if value is not None and name != "salt"}
    entry = write(network._keys, network.study.digest, network.site, last, entries[number].turn, said, {"X": [THERE]})
    shelf.copies[entry.hash] = entry.to_bytes()
    return entry


def test_a_fork_stops_nobody_who_was_killed_before_it_was_answered():
    """x has proposed with three entries of y in view; then y turns out to have forked at the first."""
    agreed, shelf = study(pace="free"), Shelf()
    of = feeds(agreed, shelf)
    for turn in range(3):
        of["y"].submit(proposal("y", turn, HERE))
    of["x"].submit(proposal("x", 0, HERE))
    fork(shelf, of["y"], 1)
    assert of["x"].mix("x", 0).weights == pytest.approx((1.0, 0.0, 0.0))
    of["x"].submit(proposal("x", 1, HERE))
    assert of["x"].mix("x", 1).weights[1] == 0.0


def test_a_fork_in_a_round_that_was_closed_stops_nobody():
    clock, shelf = Clock(), Shelf()
    of = feeds(study(deadline=60.0), shelf, clock=clock)
    for turn in range(2):
        for site in SITES:
            of[site].submit(proposal(site, turn))
        for site in (SITES[turn], *SITES):  # whose turn it is closes first
            of[site].standing()
            if site != SITES[turn]:
                assert of[site].mix(site, turn).snapshot == turn
    fork(shelf, of["y"], 1)
    for site in "zx":  # round 1 was closed by y: now that is the turn of z
        of[site].standing()
    for site in "xz":
        of[site].submit(proposal(site, 2))
    for site in "zx":
        of[site].standing()
    assert of["x"].replica.feeds["y"].fork and of["x"].mix("x", 2).weights[1] == 0.0


@pytest.mark.parametrize(
    "order", [(0, 1, 2, 3, "fork"), (0, 3, "fork", 1, 2), ("fork", 3, 2, 1, 0), (0, "fork", 1, 3, 2)]
)
def test_what_was_written_before_a_fork_counts_in_whatever_order_it_comes(order):
    agreed, shelf = study(pace="free"), Shelf()
    of = feeds(agreed, shelf)
    for turn in range(3):
        of["y"].submit(proposal("y", turn, HERE))
    of_y = [*of["y"].feed.entries]
    other, replica = fork(shelf, of["y"], 3), Replica(agreed)
    for _ in range(2):  # what comes before the hello comes again
        for what in order:
            replica.take(other if what == "fork" else of_y[what])
    feed = replica.feeds["y"]
    assert [entry.number for entry in feed.entries] == [0, 1, 2]
    assert {entry.hash for entry in feed.fork} == {other.hash, of_y[3].hash}
    assert feed.trouble.startswith("there are two entries 3 of 'y', both signed")


def test_a_damaged_sealed_entry_is_read_again_when_it_is_whole(tmp_path):
    """A flipped bit in what is sealed: x finds nothing in it to open, until it is repaired."""
    way, agreed = WAYS["sealed folder"](tmp_path), study(pace="free")
    of = joined(way, agreed)
    of["y"].submit(proposal("y", 0, HERE))
    path = max(tmp_path.rglob("y-*/000001-*.entry"))
    whole = path.read_bytes()
    sealed = json.loads(whole)["sealed"]["said"]
    path.write_bytes(whole.replace(sealed.encode(), f"{int(sealed[0], 16) ^ 1:x}{sealed[1:]}".encode()))
    way.deliver(of["x"])
    assert len(of["x"].replica.feeds["y"].entries) == 1
    path.write_bytes(whole)
    way.deliver(of["x"])
    assert of["x"].replica.feeds["y"].turns[0].proposal == proposal("y", 0, HERE)


def test_who_closes_a_round_with_somebody_who_has_left_stops_nobody():
    clock, shelf = Clock(), Shelf()
    of = feeds(study(deadline=60.0), shelf, clock=clock)
    of["z"].leave("z")
    for site in "xy":
        of[site].submit(proposal(site))
    entry = signed(of["x"], {"act": "close", "state": 0, "present": list(SITES)}, None, 1)
    shelf.copies[entry.hash] = entry.to_bytes()
    assert of["y"].mix("y", 0).weights[2] == 0.0


def test_what_was_refused_is_kept_as_the_proof(tmp_path):
    """After a restart y is still in trouble, also if what it has signed has gone from the folder."""
    agreed, path = study(), tmp_path / "shared"
    path.mkdir()
    Folder(path).found(agreed)
    kept = FeedFile(tmp_path / "x.feeds", is_made=True)
    x = Feeds(Replica(agreed, kept.keep), "x", kept.keys, Folder(path), kept)
    y = Feeds(Replica(agreed), "y", Keys.make(), Folder(path))
    for network in (x, y):
        network.hello()
    x.sync()
    x.bring(signed(y, BASE | {"state": 10**6}))
    shutil.rmtree(path)
    again = Feeds(Replica(agreed), "x", kept.keys, Folder(path), FeedFile(tmp_path / "x.feeds"))
    again.reload()
    assert again.replica.troubles == x.replica.troubles != []


def test_an_entry_that_says_nothing_is_none():
    of = feeds(study(pace="free"))
    head = json.dumps(of["y"].feed.last.fields | {"number": 1, "before": of["y"].feed.last.hash, "parts": {}})
    content = FeedEntry(head, of["y"]._keys.sign(head.encode()), {}).to_bytes()
    with pytest.raises(CbocError, match="it says nothing"):
        FeedEntry.from_bytes(content)
