import numpy as np
import pytest

from cboc import CbocError, Fixed, Leader, Space, Study

SPACE = {"T": (20, 90)}


def test_names_become_values():
    study = Study(SPACE, ["a", "b"], 10, rule="leader", graph="ring")
    assert isinstance(study.space, Space) and isinstance(study.rule, Leader) and study.needs_rewards
    assert study.sites == ("a", "b") and study.links.tolist() == [[False, True], [True, False]]


def test_the_digest_tells_studies_apart_and_survives_a_copy():
    study = Study(SPACE, ["a", "b"], 10)
    assert study.digest == Study(dict(SPACE), ("a", "b"), 10).digest
    others = [
        Study({"T": (20, 91)}, ["a", "b"], 10),
        Study(SPACE, ["b", "a"], 10),
        Study(SPACE, ["a", "b"], 11),
        Study(SPACE, ["a", "b"], 10, rule="leader"),
        Study(SPACE, ["a", "b"], 10, rule=Fixed(np.eye(2))),
        Study(SPACE, ["a", "b"], 10, budgets={"a": 5}),
        Study(SPACE, ["a", "b"], 10, graph="star"),
        Study(SPACE, ["a", "b"], 10, quorum=2),
    ]
    assert len({study.digest, *(other.digest for other in others)}) == len(others) + 1


def test_a_study_of_one_site_is_fine():
    assert Study(SPACE, ["a"], 10, rule="leader").links.shape == (1, 1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"sites": []}, "at least one site"),
        ({"sites": ["a", "a"]}, "'a' is there 2 times"),
        ({"sites": ["a", ""]}, "a site's name is a word"),
        ({"horizon": 0}, "horizon: a number of experiments is a whole number from 1 to 1,000,000; this is 0"),
        ({"horizon": 2.5}, "this is 2.5"),
        ({"budgets": {"c": 3}}, "'c', which is no site"),
        ({"budgets": {"a": -1}}, "a: a number of experiments"),
        ({"rule": "leadr"}, "'leadr' is not a rule; did you mean 'leader'"),
        ({"rule": Fixed(np.eye(3))}, "the fixed matrix is for 3 sites; this study has 2"),
        ({"graph": "rign"}, "'rign' is not a graph; did you mean 'ring'"),
        ({"sites": ["a", "b", "c", "d"], "graph": [("a", "b"), ("c", "d")]}, "no path leads from a to c, d"),
        ({"graph": [("a", "z")]}, "'z' is no site"),
        ({"graph": [("a", "a")]}, "two different sites"),
        ({"graph": [(0, 1)]}, r"pairs of two different sites; \(0, 1\) is no such pair"),
        ({"graph": [("a", "b", "a")]}, "is no such pair"),
        ({"sites": "ab"}, "a list of names; 'ab' is not one"),
        ({"sites": None}, "a list of names; None is not one"),
        ({"rule": Leader}, "such as Uniform"),
        ({"rule": None}, "None is neither"),
        ({"space": {"round": (0, 1)}}, "may not be called 'round'"),
        ({"quorum": "x"}, "this is 'x'"),
        ({"quorum": True}, "this is True"),
        ({"horizon": 10**30}, "a whole number from 1 to 1,000,000"),
        ({"budgets": None}, "budgets are given by site, such as .'lab-a': 10.; this is None"),
        ({"budgets": ["a"]}, "budgets are given by site"),
        ({"graph": None}, "a graph is a name or a list of pairs of sites; None is neither"),
        ({"graph": 3}, "3 is neither"),
        ({"name": 3}, "a study's name is a word; this is 3"),
        ({"shares_best": "no"}, "shares_best is True or False, or None for the default; this is 'no'"),
        ({"shares_best": 0}, "this is 0"),
        ({"quorum": 3}, "quorum is between 1 and the 2 sites; this is 3"),
    ],
)
def test_a_wrong_agreement_is_refused_in_one_sentence(options, complaint):
    given = {"space": SPACE, "sites": ["a", "b"], "horizon": 10} | options
    with pytest.raises(CbocError, match=complaint):
        Study(**given)


def test_numbers_and_truths_of_numpy_are_those_of_python():
    plain = Study(SPACE, ["a", "b"], 10, budgets={"a": 3}, shares_best=True)
    numpys = Study(SPACE, ["a", "b"], np.int64(10), budgets={"a": np.int32(3)}, shares_best=np.bool_(True))
    assert numpys == plain and numpys.digest == plain.digest


def test_best_designs_are_shared_unless_everybody_works_alone():
    assert Study(SPACE, ["a", "b"], 3).shares_best and Study(SPACE, ["a", "b"], 3, rule="leader").shares_best
    assert not Study(SPACE, ["a", "b"], 3, rule="identity").shares_best
    assert not Study(SPACE, ["a"], 3).shares_best
    assert Study(SPACE, ["a", "b"], 3, rule="identity", shares_best=True).shares_best
