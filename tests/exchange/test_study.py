import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from cboc import CbocError, Fixed, Leader, Space, Study
from cboc.consensus.rules import Rule
from cboc.exchange.messages import Mix, News
from cboc.exchange.pace import Free

SPACE = {"T": (20, 90)}


def test_names_become_values():
    study = Study(SPACE, ["a", "b"], 10, rule="leader", graph="ring", pace="rounds")
    assert isinstance(study.space, Space) and isinstance(study.rule, Leader) and study.needs_rewards
    assert study.sites == ("a", "b") and study.links.tolist() == [[False, True], [True, False]]


def test_the_digest_tells_studies_apart_and_survives_a_copy():
    study = Study(SPACE, ["a", "b"], 10, pace="rounds")
    assert study.digest == Study(dict(SPACE), ("a", "b"), 10, pace="rounds").digest
    others = [
        Study({"T": (20, 91)}, ["a", "b"], 10, pace="rounds"),
        Study(SPACE, ["b", "a"], 10, pace="rounds"),
        Study(SPACE, ["a", "b"], 11, pace="rounds"),
        Study(SPACE, ["a", "b"], 10, rule="leader", pace="rounds"),
        Study(SPACE, ["a", "b"], 10, rule=Fixed(np.eye(2)), pace="rounds"),
        Study(SPACE, ["a", "b"], 10, budgets={"a": 5}, pace="rounds"),
        Study(SPACE, ["a", "b"], 10, graph="star", pace="rounds"),
        Study(SPACE, ["a", "b"], 10, quorum=2, pace="rounds"),
        Study(SPACE, ["a", "b"], 10, deadline=60.0, pace="rounds"),
        Study(SPACE, ["a", "b"], 10, deadline=61.0, pace="rounds"),
        Study(SPACE, ["a", "b"], 10, objectives=("yield",), pace="rounds"),
        Study(SPACE, ["a", "b"], 10, objectives=("yield",), units=("%",), pace="rounds"),
        Study(SPACE, ["a", "b"], 10, units=("%",), pace="rounds"),
    ]
    assert len({study.digest, *(other.digest for other in others)}) == len(others) + 1


@pytest.mark.parametrize(
    "terms",
    [
        {},
        {"deadline": 86400, "quorum": 2, "objectives": ["yield"]},
        {"objectives": "yield", "units": "%"},
        {"rule": [[0.5, 0.5], [0.5, 0.5]], "graph": [("a", "b")], "budgets": {"b": 3}},
    ],
)
def test_an_agreement_is_read_back_to_the_same_study(terms):
    study = Study(SPACE, ["a", "b"], 10, **({"pace": "rounds"} | terms))
    again = Study.from_agreement(study.agreement())
    assert again.canonical == study.canonical and again.digest == study.digest
    assert study.agreement()["pace"] == "rounds"


def test_a_study_without_a_unit_has_the_digest_that_it_always_had():
    """Studies that are under way know each other by it."""
    study = Study(SPACE, ["a", "b"], 10, pace="rounds")
    assert "units" not in study.agreement() and study.units == ()
    assert Study(SPACE, ["a", "b"], 10, units=("",), pace="rounds").canonical == study.canonical
    assert study.digest == "28ea1481802873fe"


def test_what_is_measured_has_a_name_and_a_unit():
    named = Study(SPACE, ["a", "b"], 10, objectives="yield", units="%").objective
    assert (named.word, named.label, named.column, named.of(62.5)) == ("yield", "yield (%)", "yield (%)", "62.5 %")
    nameless = Study(SPACE, ["a", "b"], 10).objective
    assert (nameless.word, nameless.label, nameless.column, nameless.of(62.5)) == ("outcome", "Outcome", "y", "62.5")


# ---------------------------------------------------------------------------------------------- rules of one's own


def digest(rule):
    return Study(SPACE, ["a", "b"], 10, rule=rule, pace="rounds").digest


def mean(snapshot):
    return np.full((snapshot.sites, snapshot.sites), 1 / snapshot.sites)


def towards(share):
    return lambda snapshot: share * mean(snapshot) + (1 - share) * np.eye(snapshot.sites)


@dataclass(frozen=True)
class Towards(Rule):
    share: float

    def __call__(self, snapshot):
        return towards(self.share)(snapshot)


def test_two_rules_that_differ_have_two_digests():
    def with_default(snapshot, *, share=0.5):
        return towards(share)(snapshot)

    def with_another(snapshot, *, share=0.25):
        return towards(share)(snapshot)

    with_another.__qualname__ = with_default.__qualname__  # only what they do differs
    rules = [
        lambda snapshot: np.eye(snapshot.sites),
        lambda snapshot: np.eye(snapshot.sites)[::-1],
        lambda snapshot: 0.5 * np.eye(snapshot.sites) + 0.5 * mean(snapshot),
        lambda snapshot: 0.25 * np.eye(snapshot.sites) + 0.75 * mean(snapshot),
        lambda snapshot: np.diag([float(k in {0, 1}) for k in range(snapshot.sites)]),
        lambda snapshot: np.diag([float(k in {0, 2}) for k in range(snapshot.sites)]),
        mean,
        towards(0.5),
        towards(0.25),
        Towards(0.5),
        Towards(0.25),
        partial(with_default, share=0.5),
        partial(with_default, share=0.25),
        with_default,
        with_another,
        "uniform",
    ]
    assert len({digest(rule) for rule in rules}) == len(rules)


def test_the_same_rule_has_the_same_digest():
    assert digest(mean) == digest(mean) and digest(towards(0.5)) == digest(towards(0.5))
    assert digest(Towards(0.5)) == digest(Towards(0.5))


DIGESTS = """
from dataclasses import dataclass
import numpy as np
from cboc import Study
from cboc.consensus.rules import Rule

def mean(snapshot):
    return np.full((snapshot.sites, snapshot.sites), 1 / snapshot.sites)

def towards(share):
    return lambda snapshot: share * mean(snapshot) + (1 - share) * np.eye(snapshot.sites)

@dataclass(frozen=True)
class Among(Rule):
    names: frozenset

    def __call__(self, snapshot):
        return np.eye(snapshot.sites)

named = lambda snapshot: np.eye(snapshot.sites) if "a" in {"a", "b", "c", "d", "e"} else mean(snapshot)
for rule in (mean, towards(0.5), named, Among(frozenset({"a", "b", "c", "d", "e"})), "leader"):
    print(Study({"T": (20, 90)}, ["a", "b"], 10, rule=rule, deadline=60, pace="rounds").digest)
"""


def test_a_rule_has_the_same_digest_in_every_process():
    """Whatever order a process gives to the elements of a set."""
    said = [
        subprocess.run(
            [sys.executable, "-c", DIGESTS],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] and len(set(said[0])) == 5
    assert said[0][-1] == Study(SPACE, ["a", "b"], 10, rule="leader", deadline=60, pace="rounds").digest


# ---------------------------------------------------------------------------------------------------------- terms


def test_a_study_of_one_site_is_fine():
    assert Study(SPACE, ["a"], 10, rule="leader", pace="rounds").links.shape == (1, 1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"sites": []}, "at least one site"),
        ({"sites": ["a", "a"]}, "'a' is there 2 times"),
        ({"sites": ["a", ""]}, "a site's name is a word"),
        ({"horizon": 0}, "horizon: a number of experiments is a whole number from 1 to 1,000,000; this is 0"),
        ({"horizon": 2.5}, "this is 2.5"),
        ({"budgets": {"c": 3}}, "'c', which is not a site"),
        ({"budgets": {"a": -1}}, "a: a number of experiments"),
        ({"rule": "leadr"}, "'leadr' is not a rule; did you mean 'leader'"),
        ({"rule": Fixed(np.eye(3))}, "the fixed matrix is for 3 sites; this study has 2"),
        ({"graph": "rign"}, "'rign' is not a graph; did you mean 'ring'"),
        ({"sites": ["a", "b", "c", "d"], "graph": [("a", "b"), ("c", "d")]}, "no path leads from a to c, d"),
        ({"graph": [("a", "z")]}, "'z' is not a site"),
        ({"graph": [("a", "a")]}, "two different sites"),
        ({"graph": [(0, 1)]}, r"pairs of two different sites; \(0, 1\) is not one"),
        ({"graph": [("a", "b", "a")]}, "is not one"),
        ({"sites": "ab"}, "a list of names; 'ab' is not one"),
        ({"sites": None}, "a list of names; None is not one"),
        ({"sites": {"a", "b"}}, "a list of names; .* is not one"),  # its order would depend on the process
        ({"sites": frozenset("ab")}, "a list of names; .* is not one"),
        ({"graph": {("a", "b")}}, "a graph is a name or a list of pairs of sites; .* is neither"),
        ({"pace": None}, "None is not a pace; known: rounds, free"),
        ({"pace": 5}, "5 is not a pace"),
        ({"pace": ["free"]}, r"\['free'\] is not a pace"),
        ({"pace": Free}, "is not a pace"),
        ({"budgets": {1: 2}}, "a budget is given for '1', which is not a site"),
        ({"rule": Leader}, "such as Uniform"),
        ({"rule": 3}, "3 is neither"),
        ({"space": {"round": (0, 1)}}, "may not be called 'round'"),
        ({"space": {"turn": (0, 1)}}, "may not be called 'turn'"),
        ({"quorum": "x"}, "this is 'x'"),
        ({"quorum": True}, "this is True"),
        ({"horizon": 10**30}, "a whole number from 1 to 1,000,000"),
        ({"budgets": None}, "budgets are given by site, such as .'lab-a': 10.; this is None"),
        ({"budgets": ["a"]}, "budgets are given by site"),
        ({"graph": None}, "a graph is a name or a list of pairs of sites; None is neither"),
        ({"graph": 3}, "3 is neither"),
        ({"graph": {"a": ["b"]}}, "a graph is a name or a list of pairs of sites; .* is neither"),  # may be one-way
        ({"graph": [("a", "b"), "ba"]}, "'ba' is not one"),
        ({"name": 3}, "a study's name is a word; this is 3"),
        ({"shares_best": "no"}, "shares_best is True or False, or None for the default; this is 'no'"),
        ({"shares_best": 0}, "this is 0"),
        ({"quorum": 3}, "quorum is a number of sites from 1 to 2; this is 3"),
        ({"deadline": 0.0}, "a deadline is above 0 and at most 315360000 seconds; this is 0.0"),
        ({"deadline": -1}, "this is -1"),
        ({"deadline": float("nan")}, "this is nan"),
        ({"deadline": float("inf")}, "this is inf"),
        ({"deadline": "1h"}, "this is '1h'"),
        ({"deadline": True}, "this is True"),
        ({"deadline": 1e9}, "at most 315360000 seconds"),
        ({"pace": "round"}, "'round' is not a pace; did you mean 'rounds'"),
        ({"objectives": ()}, "a study has objectives, given by name, such as 'yield'"),
        ({"objectives": ("y", "z", "y")}, "the names of objectives must differ"),
        ({"objectives": tuple("abcdefg")}, "a study has at most 6 objectives; these are 7"),
        ({"objectives": (" ",)}, "a study has objectives, given by name"),
        ({"objectives": 3}, "this is 3"),
        ({"units": 3}, "an objective's unit is a text such as '%'; this is 3"),
        ({"units": ("%", "g")}, "an objective's unit is a text such as '%'"),
        ({"units": "x" * 101}, "a unit has at most 100 characters"),
    ],
)
def test_a_wrong_agreement_is_refused_in_one_sentence(options, complaint):
    given = {"space": SPACE, "sites": ["a", "b"], "horizon": 10} | options
    with pytest.raises(CbocError, match=complaint):
        Study(**({"pace": "rounds"} | given))


@pytest.mark.parametrize(
    ("sites", "graph", "rule"),
    [
        ("abcd", "complete", "uniform"),
        ("abcd", "ring", "metropolis"),
        ("abcd", [("a", "b"), ("b", "c"), ("c", "d")], "metropolis"),
        ("abc", "ring", "uniform"),  # all of them are neighbours
        ("ab", "star", "uniform"),
        ("a", "ring", "uniform"),
    ],
)
def test_a_study_that_names_no_rule_has_that_of_its_graph_and_says_so(sites, graph, rule):
    study = Study(SPACE, list(sites), 10, graph=graph)
    assert study.agreement()["rule"] == rule and Study.from_agreement(study.agreement()).digest == study.digest
    assert Study(SPACE, list(sites), 10, graph=graph, rule="uniform").agreement()["rule"] == "uniform"


def test_numbers_and_truths_of_numpy_are_those_of_python():
    plain = Study(SPACE, ["a", "b"], 10, budgets={"a": 3}, shares_best=True, pace="rounds")
    numpys = Study(
        SPACE, ["a", "b"], np.int64(10), budgets={"a": np.int32(3)}, shares_best=np.bool_(True), pace="rounds"
    )
    assert numpys == plain and numpys.digest == plain.digest


def test_best_designs_are_shared_unless_everybody_works_alone():
    assert (
        Study(SPACE, ["a", "b"], 3, pace="rounds").shares_best
        and Study(SPACE, ["a", "b"], 3, rule="leader", pace="rounds").shares_best
    )
    assert not Study(SPACE, ["a", "b"], 3, rule="identity", pace="rounds").shares_best
    assert not Study(SPACE, ["a"], 3, pace="rounds").shares_best
    assert Study(SPACE, ["a", "b"], 3, rule="identity", shares_best=True, pace="rounds").shares_best


def test_a_study_is_lonely_where_nobody_hears_of_anybody():
    assert (
        Study(SPACE, ["a"], 3, pace="rounds").is_lonely
        and Study(SPACE, ["a", "b"], 3, rule="identity", pace="rounds").is_lonely
    )
    assert not Study(SPACE, ["a", "b"], 3, pace="rounds").is_lonely
    assert not Study(SPACE, ["a", "b"], 3, rule="identity", shares_best=True, pace="rounds").is_lonely


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": [(0.5, 0.5)]}, "designs of study 'study' have 1 coordinates; the network of site 'a' gave 2"),
        ({"X": [(0.5,), (0.5,)]}, "site 'a' asked about 1 designs; its network gave 2"),
        ({"weights": (1.0,)}, "a row of W has 2 weights; site 'a' was given 1"),
        ({"leader": "c"}, "names a leader that is not a site of the study"),
        ({"site": "b"}, "site 'a' asked about its turn 0; its network gave turn 0 of 'b'"),
        ({"turn": 1}, "site 'a' asked about its turn 0; its network gave turn 1 of 'a'"),
        ({"others": [(0.5,)]}, "study 'study' shares no best designs; the network of site 'a' gave some"),
    ],
)
def test_an_answer_that_does_not_fit_the_agreement_is_refused(changes, complaint):
    study = Study(SPACE, ["a", "b"], 3, shares_best=False)
    good = {"site": "a", "turn": 0, "X": [(0.5,)], "weights": (0.5, 0.5), "snapshot": 0, "leader": "b"}
    study.check_mix(Mix(**good), "a", 0)
    with pytest.raises(CbocError, match=complaint):
        study.check_mix(Mix(**(good | changes)), "a", 0)


@pytest.mark.parametrize(
    ("news", "complaint"),
    [
        (None, "the network of site 'a' has to give News; it gave None"),
        (News("b", 0), "site 'a' asked for news; its network gave those of 'b'"),
        (News("a", 0, [(0.5, 0.5)]), "designs of study 'study' have 1 coordinates; the network of site 'a' gave 2"),
    ],
)
def test_news_that_do_not_fit_the_agreement_are_refused(news, complaint):
    study = Study(SPACE, ["a", "b"], 3)
    study.check_news(News("a", 0, [(0.5,)]), "a")
    with pytest.raises(CbocError, match=complaint):
        study.check_news(news, "a")
    with pytest.raises(CbocError, match="shares no best designs; the network of site 'a' gave some"):
        Study(SPACE, ["a", "b"], 3, shares_best=False).check_news(News("a", 0, [(0.5,)]), "a")


@pytest.mark.parametrize("leader", [7, -1, "b", 1.0, True])
def test_a_leader_that_is_no_number_of_a_site_is_refused(leader):
    class Odd(Leader):
        def leader(self, _):
            return leader

    sentence = "a rule's leader is a site's number from 0 to 1, or None; this is"
    with pytest.raises(CbocError, match=sentence):
        Study(SPACE, ["a", "b"], 3, rule=Odd()).leader(None)
