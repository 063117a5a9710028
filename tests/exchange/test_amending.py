"""A study that runs is amended: old turns keep their answers, new ones have the new W."""

from dataclasses import replace

import numpy as np
import pytest

from cboc import CbocError, Ledger, Study, Waiting
from cboc.consensus import is_doubly_stochastic
from cboc.exchange.amendment import changes, check_successor, successor
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Changed

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


def study(sites=("x", "y"), horizon=10, **options):
    return Study(SPACE, sites, horizon, **({"pace": "rounds"} | options))


def admitting(old, site="z", **options):
    return successor(old, replace(old, sites=(*old.sites, site), **options))


def propose(ledger, site, turn, reward=None):
    ledger.submit(Proposal(site, turn, [(turn / 16, len(site) / 8)], reward=reward))


def test_what_was_agreed_before_versions_existed_has_the_same_digest():
    old = study()
    assert "version" not in old.agreement() and "stewards" not in old.agreement()
    new = admitting(old, stewards=("x",))
    assert Study.from_agreement(new.agreement()).agreement() == new.agreement() and new.digest != old.digest


def test_the_changes_in_words():
    old = study(deadline=60.0)
    new = successor(old, Study(SPACE, ("x", "y", "z"), 15, budgets={"y": 20}, pace="rounds", quorum=2, stewards=["x"]))
    assert changes(old, new) == [
        "'z' is admitted",
        "the horizon grows from 10 to 15",
        "the budget of 'y' grows from 10 to 20",
        "the deadline: none instead of 60 seconds",
        "the quorum: 2 instead of 1",
        "who signs changes: x instead of every site",
    ]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (study(horizon=9), "a budget only grows: that of 'x' is 10, and would be 9"),
        (study(("y", "x")), "sites are only added, at the end: x, y stay as they are; the change has y, x"),
        (study(("x", "z", "y")), "sites are only added, at the end"),
        (study(("x",)), "cannot change|sites are only added"),
        (study(rule="leader"), "cannot change in a study that runs: rule is uniform now and leader in the change"),
        (study(pace="free"), "pace is rounds now and free in the change"),
        (study(name="other"), "name is study now and other in the change"),
        (study(shares_best=False), "shares_best is True now and False in the change"),
        (
            Study({"a": (0.0, 2.0), "b": (0.0, 1.0)}, ("x", "y"), 10, pace="rounds"),
            "parameter 'a', high is 1 now and 2",
        ),
        (study(graph="star"), "a graph keeps its kind"),
        (study(), "is agreed exactly so; there is nothing to change"),
    ],
)
def test_what_may_not_change_is_named_in_one_sentence(given, sentence):
    with pytest.raises(CbocError, match=sentence):
        successor(study(), given)


def test_a_graph_of_edges_gets_more_of_them_and_a_matrix_none():
    line = study(("x", "y", "z"), graph=[("x", "y"), ("y", "z")])
    more = admitting(line, "w", graph=[("x", "y"), ("z", "y"), ("w", "z")])
    assert changes(line, more) == ["'w' is admitted", "w and z become neighbours"]
    with pytest.raises(CbocError, match="neighbours stay neighbours, and the change parts y–z"):
        admitting(line, "w", graph=[("x", "y"), ("x", "z"), ("w", "z")])
    with pytest.raises(CbocError, match="the change parts x–z; a ring, for one, cannot grow"):
        admitting(study(("x", "y", "z"), graph="ring"), "w")
    fixed = study(rule=[[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(CbocError, match="a fixed matrix, which fixes the number of sites"):
        successor(fixed, study(("x", "y", "z"), rule=(np.ones((3, 3)) / 3).tolist()))
    check_successor(fixed, replace(fixed, horizon=12, version=1))


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_a_site_admitted_in_the_middle_and_every_w_is_doubly_stochastic(rule):
    """Round 5 is taken under two versions; the answers of before stay as they were, bit for bit."""
    old = study(rule=rule)
    ledger = Ledger(old)
    reward = {"x": 1.0, "y": 2.0, "z": 3.0} if rule == "leader" else {}
    for turn in range(5):
        for site in old.sites:
            propose(ledger, site, turn, reward.get(site))
    before = [ledger.mix(site, turn) for site in old.sites for turn in range(5)]
    propose(ledger, "x", 5, reward.get("x"))  # under the old version
    new = admitting(old)
    ledger.amend(new)
    with pytest.raises(Changed, match="has changed: 'z' is admitted. Before its next turn the site has to accept"):
        propose(ledger, "y", 5, reward.get("y"))
    propose(ledger, "x", 5, reward.get("x"))  # said again: it was accepted then
    ledger.accept("y", new)
    ledger.accept("y", new)
    propose(ledger, "y", 5, reward.get("y"))
    with pytest.raises(Waiting):
        ledger.mix("x", 5)
    propose(ledger, "z", 0, reward.get("z"))
    assert ledger.round == 6
    assert ledger.mix("x", 5).weights == (1.0, 0.0)  # nobody else was in under its version
    assert len(ledger.mix("y", 5).weights) == len(ledger.mix("z", 0).weights) == 3
    ledger.accept("x", new)
    for turn in range(6, 10):
        for site in new.sites:
            propose(ledger, site, turn - 5 if site == "z" else turn, reward.get(site))
    for state in range(10):
        W = ledger.matrix(state)
        assert is_doubly_stochastic(W) and len(W) == (2 if state < 5 else 3)
    assert ledger.matrix(5)[0].tolist() == [1.0, 0.0, 0.0] and ledger.matrix(5)[1, 2] > 0.0
    assert ledger.matrix(6)[0, 1] > 0.0 and ledger.matrix(6)[0, 2] > 0.0
    reread = Ledger(new, ledger.store, earlier=[old])
    assert [reread.mix(site, turn) for site in old.sites for turn in range(5)] == before


def test_at_the_free_pace_nobody_waits_for_who_has_not_accepted():
    old = study(pace="free")
    ledger = Ledger(old)
    for turn in range(5):
        for site in old.sites:
            propose(ledger, site, turn)
    new = admitting(old)
    ledger.amend(new)
    ledger.accept("y", new)
    for turn in range(3):
        propose(ledger, "z", turn)
        propose(ledger, "y", 5 + turn)
    assert len(ledger.mix("x", 4).weights) == 2  # its last turn under the old version
    row = ledger.mix("z", 2).weights
    assert len(row) == 3 and min(row) > 0.0  # mixed with the last proposal of x, made under the old version
    with pytest.raises(Changed):
        propose(ledger, "x", 5)
    ledger.accept("x", new)
    propose(ledger, "x", 5)
    assert len(ledger.mix("x", 5).weights) == 3


def test_more_turns_after_everybody_has_finished():
    old = study(horizon=2)
    ledger = Ledger(old)
    for turn in range(2):
        for site in old.sites:
            propose(ledger, site, turn)
    for site in old.sites:
        ledger.leave(site)
    assert ledger.expected() == []
    new = successor(old, replace(old, horizon=4))
    ledger.amend(new)
    assert ledger.expected() == []  # who has left is not waited for before it comes back
    for site in old.sites:
        ledger.accept(site, new)
    assert ledger.expected() == ["x", "y"]
    for turn in (2, 3):
        for site in old.sites:
            propose(ledger, site, turn)
        assert is_doubly_stochastic(ledger.matrix(turn))
    assert ledger.round == 4 and ledger.expected() == []


def test_only_the_newest_version_can_be_accepted():
    old = study()
    ledger = Ledger(old)
    middle = admitting(old)
    ledger.amend(middle)
    ledger.amend(successor(middle, replace(middle, horizon=20)))
    with pytest.raises(Changed, match="the horizon grows from 10 to 20"):
        ledger.accept("x", middle)
    with pytest.raises(CbocError, match="version 1 of study 'study' cannot follow version 2"):
        ledger.amend(middle)
