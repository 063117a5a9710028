import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import CbocError
from cboc.exchange.messages import MOST_BESTS, MOST_OTHERS, MOST_TURNS, Mix, News, Proposal

HERE = (0.5, 0.5)


def mix(**changes):
    return Mix(**({"site": "x", "turn": 0, "X": [HERE], "weights": (0.25, 0.75), "snapshot": 0} | changes))


def test_messages_have_no_place_for_an_outcome():
    assert set(Proposal.__dataclass_fields__) == {"site", "turn", "X", "bests", "reward"}
    assert set(Mix.__dataclass_fields__) == {"site", "turn", "X", "weights", "snapshot", "leader", "others"}


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4))
def test_a_proposal_is_on_the_grid_and_stays_there(x):
    sent = Proposal("x", 0, [x], [x])
    assert np.array_equal(np.array(sent.X) * 2**32 % 1, np.zeros((1, len(x)))) and sent.bests == sent.X
    np.testing.assert_allclose(sent.X[0], x, rtol=0.0, atol=2.0**-33)
    assert Proposal("x", 0, sent.X, sent.bests) == sent and sent.dimension == len(x)


def test_rows_of_any_kind_become_tuples_of_plain_numbers():
    sent = Proposal("x", 0, np.array([[0.5, 1.0], [0.0, 0.25]]), [[0, 1]])
    assert sent.X == ((0.5, 1.0), (0.0, 0.25)) and sent.bests == ((0.0, 1.0),) and type(sent.bests[0][0]) is float
    answer = mix(X=[[0, 1]], others=[[1, 0]])
    assert (answer.X, answer.others) == (((0.0, 1.0),), ((1.0, 0.0),)) and answer.array.shape == (1, 2)


@pytest.mark.parametrize("bad", [1.7, -0.1, float("nan"), float("inf")])
def test_a_design_outside_the_cube_is_refused(bad):
    outside = r"unit cube; {}\[0\]\[1\] of site 'x' is .* Did you forget space.to_unit"
    for name in ("X", "bests"):
        with pytest.raises(CbocError, match=outside.format(name)):
            Proposal("x", 0, **({"X": [HERE]} | {name: [(0.5, bad)]}))
    for name in ("X", "others"):
        with pytest.raises(CbocError, match=outside.format(name)):
            mix(**{name: [(0.5, bad)]})


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "1", True, 10**400])
def test_a_reward_is_finite(bad):
    with pytest.raises(CbocError, match="a reward is a finite number"):
        Proposal("x", 0, [(0.5,)], reward=bad)


@pytest.mark.parametrize("turn", [-1, MOST_TURNS + 1, 0.0, True, "0", None])
def test_a_turn_is_a_whole_number_that_somebody_may_reach(turn):
    for made in (lambda: Proposal("x", turn, [HERE]), lambda: mix(turn=turn)):
        with pytest.raises(CbocError, match="a turn is a whole number from 0 to 1,000,000; site 'x' has"):
            made()
    assert Proposal("x", MOST_TURNS, [HERE]).turn == MOST_TURNS


@pytest.mark.parametrize(
    ("X", "bests", "complaint"),
    [
        ([], [], "at least one design; site 'x' sent none"),
        ([HERE, (0.5,)], [], "the same number of coordinates; those of 'x' do not"),
        ([HERE], [(0.5,)], "the same number of coordinates"),
        ([HERE], [HERE] * (MOST_BESTS + 1), "at most 8 best designs; site 'x' sent 9"),
        ([1], [], r"X is a list of designs, each a list of numbers from 0 to 1; site 'x' has \[1\]"),
        (["01"], [], "each a list of numbers from 0 to 1"),
        ([HERE], None, "bests is a list of designs"),
        ([(10**400, 0.5)], [], "each a list of numbers"),
    ],
)
def test_the_designs_of_a_proposal_are_a_matrix(X, bests, complaint):
    with pytest.raises(CbocError, match=complaint):
        Proposal("x", 0, X, bests)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": []}, "all designs of a mix have the same number of coordinates; those for 'x' do not"),
        ({"X": [HERE, (0.5,)]}, "the same number of coordinates"),
        ({"others": [(0.5,)]}, "the same number of coordinates"),
        ({"others": [HERE] * (MOST_OTHERS + 1)}, "at most 32 best designs; the one for 'x' has more"),
        ({"weights": (0.5, 0.4)}, "weights are numbers from 0 to 1 that add up to 1; those for 'x' do not"),
        ({"weights": (0.5, 0.50001)}, "add up to 1"),
        ({"weights": (1.5, -0.5)}, "add up to 1"),
        ({"weights": (float("nan"), 1.0)}, "add up to 1"),
        ({"weights": ()}, "add up to 1"),
        ({"weights": None}, "add up to 1"),
        ({"weights": ("half", 0.5)}, "add up to 1"),
        ({"others": None}, "others is a list of designs, each a list of numbers from 0 to 1; site 'x' has None"),
        ({"leader": 3}, "a leader is named, or there is none; the one for 'x' is 3"),
    ],
)
def test_a_mix_checks_itself(changes, complaint):
    with pytest.raises(CbocError, match=complaint):
        mix(**changes)
    assert mix(others=[HERE] * MOST_OTHERS).weights == (0.25, 0.75)


def test_weights_become_floats_whatever_they_were():
    weights = mix(weights=np.array([True, False])).weights
    assert weights == (1.0, 0.0) and {type(weight) for weight in weights} == {float}


@pytest.mark.parametrize("others", [None, 3, [3], [HERE] * (MOST_OTHERS + 1)])
def test_news_are_a_few_designs(others):
    with pytest.raises(CbocError, match="others is a list of designs|at most 32 designs"):
        News("x", 0, others)
