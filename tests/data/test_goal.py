import numpy as np
import pytest

from cboc.data.dataset import Direction
from cboc.data.goal import Aim, Goal, Limit
from cboc.errors import CbocError

TWO = ("yield", "cost")


def test_a_direction_is_a_goal_for_one_objective():
    goal = Goal.of("max", ("yield",))
    assert goal.is_plain and goal.direction is Direction.MAXIMISE and goal.measured == ("yield",)
    assert Goal.of({"y": "min"}).direction is Direction.MINIMISE


def test_several_objectives_have_aims_in_the_order_of_the_study():
    goal = Goal.of({"cost": Aim("min", reference=50.0), "yield": "maximize"}, TWO, ["impurity <= 5", "yield ≥ 20"])
    assert list(goal.aims) == ["yield", "cost"] and goal.measured == ("yield", "cost", "impurity")
    assert not goal.is_plain and [str(limit) for limit in goal.limits] == ["impurity <= 5", "yield >= 20"]
    assert Goal.from_plain(goal.to_plain(), TWO) == goal
    assert Goal.from_plain("minimise", ("y",)) == Goal.of("min")


@pytest.mark.parametrize(
    ("aim", "y", "score"),
    [
        (Aim("max"), [1.0, 2.0], [1.0, 2.0]),
        (Aim("min"), [1.0, 2.0], [-1.0, -2.0]),
        (Aim("max", target=1.5), [1.0, 2.0], [1.0, 1.5]),
        (Aim("min", target=1.5), [1.0, 2.0], [-1.5, -2.0]),
        (Aim("near", target=7.0), [6.0, 9.0], [-1.0, -2.0]),
    ],
)
def test_scores(aim, y, score):
    assert aim.score(np.array(y)).tolist() == score


def test_the_reference_has_a_score():
    assert Aim("min", reference=50.0).floor == -50.0 and Aim("near", target=7.0, reference=4.0).floor == -3.0
    assert Aim("max").floor is None and Aim("max").ceiling is None


def test_the_margin_of_a_limit():
    assert Limit.of("impurity < 5").margin(np.array([3.0, 6.0])).tolist() == [2.0, -1.0]
    assert Limit.of("purity>=95").margin(np.array([96.0, 90.0])).tolist() == [1.0, -5.0]


def test_weights_are_shares_and_a_tradeoff_is_weighed_by_them():
    goal = Goal.of({"yield": Aim("max", weight=3.0), "cost": "min"}, TWO)
    assert goal.weights.tolist() == [0.75, 0.25]
    assert goal.weighing(np.array([0.5, 0.5])).tolist() == [0.75, 0.25]
    one = Goal.of({"yield": Aim("max", weight=0.0), "cost": "min"}, TWO)
    assert one.weighing(np.array([1.0, 0.0])).tolist() == [0.0, 1.0]  # what does not count here does not count


@pytest.mark.parametrize(
    ("given", "objectives", "limits", "sentence"),
    [
        ("max", TWO, (), "say of each which way is better"),
        ({"yield": "max"}, TWO, (), "every objective needs a direction; cost has none"),
        ({"yield": "max", "costs": "min"}, TWO, (), "'costs' is no objective of the study; did you mean 'cost'?"),
        ({"yield": "up", "cost": "min"}, TWO, (), "unknown direction 'up'"),
        ({"yield": {"direction": "max", "wait": 1}, "cost": "min"}, TWO, (), "unknown part 'wait' of an aim; did you"),
        ("max", ("y",), ["impurity"], "a limit is written as 'impurity <= 5'"),
        ("max", ("y",), ["impurity <= five"], "a limit is written as 'impurity <= 5'"),
        ("max", ("y",), ["impurity <= nan"], "a limit is written as 'impurity <= 5'"),
        ("max", ("y",), "impurity <= 5", "limits are a list such as"),
        ("max", ("y",), ["a <= 5", "a <= 6"], "two limits of one kind"),
        ("max", ("y",), ["a <= 5", "a >= 6"], "no outcome can meet 'a >= 6' and 'a <= 5' together"),
        ({"yield": Aim(weight=0.0), "cost": Aim(weight=0.0)}, TWO, (), "weights of all objectives are 0"),
    ],
)
def test_a_wrong_goal_is_refused_in_one_sentence(given, objectives, limits, sentence):
    with pytest.raises(CbocError, match=sentence.replace("?", r"\?")):
        Goal.of(given, objectives, limits)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"direction": "near"}, "needs that value"),
        ({"direction": "max", "reference": float("nan")}, "reference is a finite number"),
        ({"direction": "max", "target": "high"}, "target is a finite number"),
        ({"direction": "max", "weight": -1.0}, "weight is a number from 0"),
        ({"direction": "min", "reference": 1.0, "target": 2.0}, "the target 2 is to be better than the reference 1"),
    ],
)
def test_a_wrong_aim_is_refused_in_one_sentence(parts, sentence):
    with pytest.raises(CbocError, match=sentence):
        Aim(**parts)
