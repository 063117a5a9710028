"""A study is amended by its members alone: what is in force, what a feed may say, and whose answers it changes."""

from dataclasses import replace

import numpy as np
import pytest

from cboc import CbocError, Changed, Study, Waiting
from cboc.consensus import is_doubly_stochastic
from cboc.exchange.amendment import successor
from cboc.exchange.feeds.entry import Act, write
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Taken
from cboc.exchange.messages import Proposal
from cboc.names import as_agreed

from .shelf import Shelf, feed_of

SPACE = {"a": (0.0, 1.0)}


def study(pace="rounds", sites=("x", "y"), **options):
    return Study(SPACE, sites, 10, **({"pace": pace} | options))


def begun(agreed):
    shelf = Shelf()
    return shelf, {site: feed_of(shelf, agreed, site) for site in agreed.sites}


def turn(of, number, *sites, offsets=None):
    offsets = offsets or {}
    for site in sites:
        mine = number - offsets.get(site, 0)
        of[site].submit(Proposal(site, mine, [(mine / 16 + len(offsets) / 64,)]))
    return {site: of[site].mix(site, number - offsets.get(site, 0)) for site in sites}


def weights(of, state):
    """W of a round, put together from what every site computes from its own feeds."""
    rows = {}
    for site, network in of.items():
        record = Record(network.replica, site)
        entry = record.entries(state).get(site)
        if entry is not None:
            rows[site] = network.mix(site, entry.proposal.turn).weights
    sites = max((network.study for network in of.values()), key=lambda each: each.version).sites
    W = np.eye(len(sites))
    for site, row in rows.items():
        W[sites.index(site)] = [*row, *[0.0] * (len(sites) - len(row))]
    return W


@pytest.mark.parametrize("pace", ["rounds", "free"])
def test_a_site_is_admitted_when_all_have_signed(pace):
    old = study(pace)
    shelf, of = begun(old)
    for number in range(5):
        turn(of, number, "x", "y")
    before = [of[site].mix(site, number) for site in "xy" for number in range(5)]
    new = successor(old, replace(old, sites=("x", "y", "z")))
    assert of["x"].amend(new) == ["y"]
    assert of["x"].agreed() == old and [each.version for each in of["y"].standing() and of["y"].proposed()] == [1]
    turn(of, 5, "x", "y")  # one of two is not enough, and stops nobody
    assert of["y"].amend(new) == []
    assert of["x"].agreed().digest == of["y"].agreed().digest == new.digest
    for site in "xy":
        with pytest.raises(Changed, match="'z' is admitted"):
            turn(of, 6, site)
        of[site].accept(site, new)
        of[site].accept(site, new)
    of["z"] = feed_of(shelf, old, "z", accepted=[new])
    for number in range(6, 10):
        answers = turn(of, number, "x", "y") if pace == "free" else None
        if answers is None:
            for site in ("x", "y", "z"):
                mine = number - 6 * (site == "z")
                of[site].submit(Proposal(site, mine, [(mine / 16,)]))
        else:
            turn(of, number, "z", offsets={"z": 6})
    assert [of[site].mix(site, number) for site in "xy" for number in range(5)] == before
    assert len(of["x"].mix("x", 9).weights) == 3 and min(of["z"].mix("z", 3).weights) > 0.0
    if pace == "rounds":
        for state in range(10):
            assert is_doubly_stochastic(weights(of, state), tolerance=1e-8), state


def test_a_round_under_two_versions_has_two_blocks_and_all_agree():
    old = study(sites=("x", "y", "w"), stewards=("x",))
    shelf, of = begun(old)
    turn_of = lambda site, number: of[site].submit(Proposal(site, number, [(number / 16,)]))  # noqa: E731
    turn_of("w", 0)
    new = successor(old, replace(old, sites=("x", "y", "w", "z")))
    assert of["x"].amend(new) == []  # the only steward
    of["x"].agreed(), of["x"].accept("x", new)
    assert of["y"].agreed().version == 1
    of["y"].accept("y", new)
    turn_of("x", 0), turn_of("y", 0)
    with pytest.raises(Waiting) as waiting:
        of["x"].mix("x", 0)
    assert waiting.value.standing.missing == ("z",)
    assert of["w"].mix("w", 0).weights == (0.0, 0.0, 1.0)  # nobody else was in under its version
    of["z"] = feed_of(shelf, old, "z", accepted=[new])
    turn_of("z", 0)
    W = weights(of, 0)
    assert is_doubly_stochastic(W, tolerance=1e-8) and W[2].tolist() == [0.0, 0.0, 1.0, 0.0] and W[0, 3] > 0.0
    with pytest.raises(Changed):
        turn_of("w", 1)
    turn_of("x", 1), turn_of("y", 1), turn_of("z", 1)
    with pytest.raises(Waiting) as waiting:
        of["x"].mix("x", 1)
    assert waiting.value.standing.missing == ("w",)  # who does not accept is waited for as anybody
    of["w"].accept("w", new)
    turn_of("w", 1)
    assert min(of["x"].mix("x", 1).weights) > 0.0


def test_at_the_free_pace_who_does_not_accept_stops_nobody():
    old = study("free", stewards=("x",))
    _, of = begun(old)
    turn(of, 0, "x", "y")
    new = successor(old, replace(old, horizon=12))
    of["x"].amend(new)
    of["x"].accept("x", new)
    for number in range(1, 12):
        assert min(turn(of, number, "x")["x"].weights) >= 0.0
    with pytest.raises(Changed, match="the horizon grows from 10 to 12"):
        turn(of, 1, "y")


def test_more_turns_after_everybody_has_finished():
    old = replace(study(), horizon=2)
    _, of = begun(old)
    for number in range(2):
        turn_all(of, number)
    for site in "xy":
        of[site].leave(site)  # there is nothing to say: everybody can count
        assert not of[site].feed.has_left
    new = successor(old, replace(old, horizon=3))
    of["x"].amend(new), of["y"].amend(new)
    for site in "xy":
        of[site].agreed()
        of[site].accept(site, new)
    turn_all(of, 2)
    assert is_doubly_stochastic(weights(of, 2), tolerance=1e-8)


def turn_all(of, number):
    for site in of:
        of[site].submit(Proposal(site, number, [(number / 16,)]))
    return {site: of[site].mix(site, number) for site in of}


def test_only_stewards_sign_and_others_accept():
    old = study(sites=("x", "y", "w"), stewards=("x", "y"))
    _, of = begun(old)
    new = successor(old, replace(old, horizon=12))
    with pytest.raises(CbocError, match="a change of this study is signed by x, y; you accept it then"):
        of["w"].amend(new)
    of["w"].sign(new)  # somebody who does not keep to that
    of["x"].amend(new)
    assert all(of[site].agreed() == old for site in "xyw")
    with pytest.raises(CbocError, match="version 1 of the study is not signed by all its stewards yet"):
        of["x"].accept("x", new)
    of["y"].amend(new)
    assert all(of[site].agreed().digest == new.digest for site in "xyw")


def test_of_two_that_compete_none_is_in_force_and_a_third_that_follows_both_is():
    old = study()
    _, of = begun(old)
    twelve, fifteen = (successor(old, replace(old, horizon=horizon)) for horizon in (12, 15))
    of["x"].amend(twelve), of["y"].amend(fifteen)
    assert [of[site].agreed() for site in "xy"] == [old, old] and len(of["x"].proposed()) == 2
    turn_all(of, 0)
    with pytest.raises(CbocError, match="not a new one"):
        of["x"].amend(fifteen)
    both = replace(old, horizon=15, version=of["x"].next_version(replace(old, horizon=16)))
    assert both.version == 2
    of["x"].amend(both), of["y"].amend(both)
    assert [of[site].agreed().digest for site in "xy"] == [both.digest] * 2


def test_a_steward_who_gives_in_signs_the_others_change_under_a_new_number():
    old = study("free")
    _, of = begun(old)
    wanted = replace(old, horizon=15)

    def amend(site, given):
        of[site].sync()
        return of[site].amend(replace(successor(old, given), version=of[site].next_version(given)))

    assert amend("x", wanted) == ["y"]
    assert amend("y", replace(old, horizon=20)) == ["x"]
    with pytest.raises(CbocError, match="not a new one"):
        of["y"].amend(successor(old, wanted))
    turn(of, 0, "x", "y")  # what was refused is in no feed
    assert amend("y", wanted) == ["x"] and amend("x", wanted) == []
    assert of["x"].agreed().horizon == of["y"].agreed().horizon == 15


def test_what_is_under_a_version_that_is_not_in_force_does_not_count():
    old = study("free")
    _, of = begun(old)
    turn(of, 0, "x", "y")
    new = successor(old, replace(old, horizon=12))
    y = of["y"]
    y.sign(new)
    said = {"act": Act.TURN, "earlier": 1, "wells": 1, "seen": {}}
    forged = write(y._keys, new.digest, "y", y.feed.last, 1, said, {"X": [[0.9]]})
    assert of["x"].sync() is None and of["x"].replica.take(forged) is Taken.NEW
    seen = turn(of, 1, "x")["x"]
    assert Record(of["x"].replica, "x").counted(of["x"].replica.feeds["y"]) == 3  # hello, a turn, the signature
    assert seen.weights == of["x"].mix("x", 1).weights


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"horizon": 9, "version": 1}, "a budget only grows"),
        ({"sites": ("x", "y", "z\n"), "version": 1}, "all of which can be printed"),
        ({"horizon": 12, "version": 0}, "not a new one"),
        ({"deadline": 60.0, "version": 1}, "a deadline may be another one, but not come or go"),
        ({"rule": "leader", "version": 1}, "cannot change in a study that runs"),
    ],
)
def test_a_feed_that_agrees_to_what_cannot_be_is_refused_from_there_on(change, reason):
    old = study()
    _, of = begun(old)
    with as_agreed():  # whoever forges an agreement takes any name
        y, wrong = of["y"], replace(old, **change)
    entry = write(y._keys, old.digest, "y", y.feed.last, 0, {"act": Act.AMEND, "agreement": wrong.agreement()})
    of["x"].sync()
    assert of["x"].replica.take(entry) is Taken.REFUSED and reason in of["x"].replica.feeds["y"].trouble


def test_a_turn_under_a_version_that_its_site_has_not_signed_is_refused():
    old = study("free", stewards=("x",))
    _, of = begun(old)
    new = successor(old, replace(old, horizon=12))
    of["x"].amend(new)
    y = of["y"]
    said = {"act": Act.TURN, "earlier": 0, "wells": 1, "seen": {}}
    entry = write(y._keys, new.digest, "y", y.feed.last, 0, said, {"X": [[0.9]]})
    of["x"].sync()
    assert of["x"].replica.take(entry) is Taken.REFUSED
    assert "has not agreed to" in of["x"].replica.feeds["y"].trouble


def test_a_steward_that_has_left_is_not_waited_for_unless_it_has_signed_something_else():
    old = study(sites=("x", "y", "w"))
    _, of = begun(old)
    new = successor(old, replace(old, horizon=12))
    of["w"].leave("w")
    of["x"].amend(new), of["y"].amend(new)
    assert of["x"].agreed().digest == new.digest
    _, of = begun(old)
    of["w"].amend(successor(old, replace(old, horizon=20)))
    of["w"].leave("w")
    of["x"].amend(new), of["y"].amend(new)
    assert of["x"].agreed() == old


def test_on_a_sparse_graph_the_stewards_are_named():
    line = study(sites=("x", "y", "w"), graph=[("x", "y"), ("y", "w")])
    _, of = begun(line)
    with pytest.raises(CbocError, match="names its stewards when it begins"):
        of["x"].amend(successor(line, replace(line, horizon=12)))
    named = replace(line, stewards=("x",))
    _, of = begun(named)
    of["x"].submit(Proposal("x", 0, [(0.5,)]))
    of["x"].amend(successor(named, replace(named, horizon=12)))
    assert of["w"].agreed().horizon == 12  # x is not its neighbour
    assert all(entry.proposal is None for entry in of["w"].replica.feeds["x"].entries)  # and its designs stay away


def test_with_a_deadline_all_agree_on_whose_turn_it_is_to_close():
    """A change between two rounds: the closer is counted over the sites of the version before, then of the new one."""
    old = study(deadline=1e6, stewards=("x",))
    shelf, of = begun(old)
    for number in range(2):  # x closes round 0, y round 1
        turn_and_close(of, number)
    new = successor(old, replace(old, sites=("x", "y", "z"), deadline=2e6))
    of["x"].amend(new)
    for site in "xy":
        of[site].agreed()
        of[site].accept(site, new)
    of["z"] = feed_of(shelf, old, "z", accepted=[new])
    for number in range(2, 6):
        turn_and_close(of, number, {"z": 2})
        assert is_doubly_stochastic(weights(of, number), tolerance=1e-8)
    closers = {entry.said["state"]: site for site in of for entry in of[site].feed.entries if entry.act is Act.CLOSE}
    assert closers == {0: "x", 1: "y", 2: "x", 3: "x", 4: "y", 5: "z"}  # round 3 is the first over three sites


def turn_and_close(of, number, offsets=None):
    for site in of:
        mine = number - (offsets or {}).get(site, 0)
        of[site].submit(Proposal(site, mine, [(mine / 16,)]))
    for _ in range(2):
        for site in of:
            of[site].standing()
