import numpy as np
import pytest

from cboc.data.dataset import Dataset
from cboc.data.goal import Aim, Goal
from cboc.data.objective import Measurement
from cboc.data.results import Results
from cboc.errors import CbocError

GOAL = Goal.of({"yield": "max", "cost": "min"}, ("yield", "cost"), ["impurity <= 5"])
ROWS = [(60.0, 10.0, 1.0), (80.0, 30.0, 2.0), (90.0, 20.0, 9.0), (50.0, 40.0, 3.0)]  # yield, cost, impurity


def results(rows=ROWS, goal=GOAL):
    outcomes = [{name: Measurement(y) for name, y in zip(goal.measured, row, strict=True)} for row in rows]
    return Results.of(goal, 1, np.linspace(0.0, 1.0, len(rows))[:, None], outcomes)


def test_scores_margins_and_the_front():
    found = results()
    assert found.scores.tolist() == [[60.0, -10.0], [80.0, -30.0], [90.0, -20.0], [50.0, -40.0]]
    assert found.margins[:, 0].tolist() == [4.0, 3.0, -4.0, 2.0]
    assert found.is_allowed.tolist() == [True, True, False, True]
    assert found.is_on_front.tolist() == [True, True, False, False]  # the third breaks a limit


def test_a_result_that_breaks_a_limit_has_less_merit_than_all_that_do_not():
    merit = results().merit()
    assert merit[2] < merit[[0, 1, 3]].min()
    further = results([*ROWS, (95.0, 5.0, 50.0)]).merit()
    assert further[4] < further[2]  # by how far it breaks it


def test_the_weights_move_the_best_along_the_front():
    found = results()
    best = [int(np.argmax(found.merit(np.array(weights)))) for weights in ([0.95, 0.05], [0.05, 0.95])]
    assert best == [1, 0]


def test_the_merit_does_not_depend_on_units():
    scaled = [(1e3 * y + 7.0, 1e-2 * c, i) for y, c, i in ROWS]
    assert results(scaled).merit() == pytest.approx(results().merit())


def test_one_plain_objective_is_a_dataset_as_it_is():
    plain = Goal.of("min", ("cost",))
    dataset = results([(3.0,), (1.0,), (2.0,)], plain).dataset()
    assert dataset == Dataset(np.linspace(0.0, 1.0, 3)[:, None], [3.0, 1.0, 2.0], direction="minimise")


def test_one_objective_with_a_limit_has_its_best_among_the_allowed():
    goal = Goal.of("max", ("yield",), ["impurity <= 5"])
    found = results([(60.0, 1.0), (90.0, 9.0), (70.0, 4.0)], goal)
    assert found.dataset().best.index == 2
    assert found.progress(1).tolist() == [60.0, 60.0, 70.0]


def test_progress_of_several_objectives_is_a_volume():
    goal = Goal.of({"yield": Aim("max", reference=0.0), "cost": Aim("min", reference=50.0)}, ("yield", "cost"))
    found = results([(10.0, 40.0), (10.0, 30.0), (5.0, 20.0)], goal)
    assert found.progress(1).tolist() == [100.0, 200.0, 250.0]


def test_progress_where_no_reference_is_named_is_from_the_worst_at_first():
    goal = Goal.of({"yield": "max", "cost": "min"}, ("yield", "cost"))
    found = results([(10.0, 40.0), (20.0, 50.0), (20.0, 40.0)], goal)
    assert found.progress(2).tolist() == [0.0, 0.0, 100.0]


def test_there_and_back_as_plain_data():
    found = results()
    again = Results.from_dict(found.to_dict(), 1, GOAL)
    assert all(
        np.array_equal(getattr(found, name), getattr(again, name), equal_nan=True) for name in ("X", "Y", "sems")
    )


def test_results_from_before_have_to_be_of_the_same_outcomes():
    with pytest.raises(CbocError, match="results are needed of y; these are of yield, cost and impurity"):
        Results.before(results(), 1, Goal.of("max"))
    with pytest.raises(CbocError, match="need yield, cost and impurity each; these have one outcome"):
        Results.before(Dataset([[0.5]], [1.0]), 1, GOAL)
