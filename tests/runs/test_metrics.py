from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc.data.objective import Measurement
from cboc.exchange.study import Study
from cboc.runs.compare import compare
from cboc.runs.history import History
from cboc.runs.metrics import (
    after,
    area,
    best_curves,
    best_found,
    bests_at,
    gap,
    gap_curves,
    gaps_at,
    lead,
    margin,
    paired,
    rounds_to,
)
from cboc.site.trial import Decision, Status, Trial, Turn
from cboc.strategy.verdict import Note


def test_gap_is_the_share_of_the_way_from_the_start_to_the_optimum():
    assert gap([5.0, 1.0, 0.0], 5.0).tolist() == [0.0, 0.8, 1.0]
    assert gap([4.0, 2.0, 6.0], 4.0).tolist() == [0.0, 0.5, -0.5]


def test_gap_is_one_where_there_is_no_way_to_go():
    assert gap([[4.0, 2.0], [0.0, 0.0]], [[4.0], [0.0]]).tolist() == [[0.0, 0.5], [1.0, 1.0]]


@given(st.lists(st.floats(0.0, 100.0), min_size=2, max_size=20))
def test_gap_of_a_minimisation_rises_from_0_to_at_most_1(outcomes):
    loss = np.minimum.accumulate(outcomes) + 1.0
    curve = gap(loss, loss[0])
    assert curve[0] == 0.0 and (np.diff(curve) >= 0).all() and curve[-1] <= 1.0


def test_area_is_the_mean_over_the_rounds_without_the_start():
    assert area([0.0, 0.5, 1.0]) == 0.75


def test_after_a_share_of_the_rounds():
    curve = np.arange(21) / 20
    assert [float(after(curve, share)) for share in (0.0, 0.25, 0.5, 1.0)] == [0.0, 0.25, 0.5, 1.0]


def test_rounds_to_a_level_is_the_first_round_there_and_nan_if_there_is_none():
    first, second = rounds_to([[0.0, 0.4, 0.9, 0.9], [0.0, 0.1, 0.2, 0.3]], [0.9, 0.9])
    assert first == 2 and isnan(second)
    assert rounds_to([0.5, 0.6], 0.5) == 0


def test_lead_counts_from_where_the_other_got_to_its_end():
    ours, theirs = lead([0.0, 0.7, 0.8, 0.8, 0.8], [0.0, 0.0, 0.1, 0.6, 0.6])
    assert (ours, theirs) == (1, 3)


def test_the_margin_is_that_of_students_t():
    assert margin([1.0, 2.0, 3.0]) == pytest.approx(4.30265273 / 3**0.5)  # two degrees of freedom
    np.testing.assert_allclose(margin([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), [margin([1.0, 2.0, 3.0]), 0.0])
    assert margin([1.0, 2.0, 3.0]) == pytest.approx(paired([1.0, 2.0, 3.0], 0.0).margin)
    assert np.isnan(margin([1.0]))


def test_paired_difference_and_its_standard_error():
    pair = paired([3.0, 5.0], [2.0, 1.0])  # differences 1 and 4
    assert pair.difference == 2.5
    assert pair.error == pytest.approx(1.5)
    assert isnan(paired([1.0], [0.0]).error)


def history(outcomes, direction="minimise", earlier=None):
    """`outcomes` per site, the first one an initial trial."""
    sites = tuple(outcomes)
    trials = [
        Trial(
            site,
            k,
            Status.COMPLETE,
            (0.5,),
            None if k == 0 else Turn(k - 1, Note()),
            Decision.INITIAL if k == 0 else Decision.UNREACHABLE,
            executed=(0.5,),
            outcomes={"y": Measurement(y)},
        )
        for site, ys in outcomes.items()
        for k, y in enumerate(ys)
    ]
    study = Study({"x": (0, 1)}, sites, horizon=max(len(ys) for ys in outcomes.values()))
    return History(study, dict.fromkeys(sites, direction), tuple(trials), earlier or {})


def test_a_site_that_ends_early_keeps_its_best():
    curves = best_curves([history({"a": [4.0, 3.0, 5.0, 1.0], "b": [9.0, 8.0]})])
    assert curves.tolist() == [[[4.0, 3.0, 3.0, 1.0], [9.0, 8.0, 8.0, 8.0]]]


def test_histories_compare_as_far_as_all_of_them_go():
    long, short = history({"a": [4.0, 3.0, 2.0]}), history({"a": [4.0, 1.0]})
    assert best_curves([long, short]).tolist() == [[[4.0, 3.0]], [[4.0, 1.0]]]


def test_results_from_before_the_study_count_as_the_start():
    assert best_curves([history({"a": [4.0, 3.0]}, earlier={"a": 3.5})]).tolist() == [[[3.5, 3.0]]]


def test_gap_curves_measure_every_site_against_its_own_optimum():
    curves = gap_curves([history({"a": [4.0, 2.0], "b": [1.0, 0.5]})], {"a": 0.0, "b": 0.5})
    assert curves.tolist() == [[[0.0, 0.5], [0.0, 1.0]]]


def test_best_found_goes_by_the_direction():
    runs = [history({"a": [4.0, 3.0]}), history({"a": [4.0, 2.0]})]
    assert best_found(runs) == {"a": 2.0}
    assert best_found([history({"a": [4.0, 3.0]}, "maximise")]) == {"a": 4.0}


def timed(*rows, direction="minimise"):
    """A history of one site: (ended, y) by trial, the first one initial; y None: it failed."""
    study = Study({"a": (0.0, 1.0)}, ["x"], 9)
    trials = [
        Trial(
            "x",
            number,
            Status.FAILED if y is None else Status.COMPLETE,
            (0.5,),
            Turn(number - 1, Note()) if number else None,
            Decision.UNREACHABLE if number else Decision.INITIAL,
            executed=(0.5,),
            outcomes={} if y is None else {"y": Measurement(y)},
            began=0.0,
            ended=ended,
        )
        for number, (ended, y) in enumerate(rows)
    ]
    return History(study, {"x": direction}, tuple(trials))


def test_a_course_is_in_the_order_of_ends_and_holds_the_best_so_far():
    times, best = timed((1.0, 5.0), (4.0, 1.0), (3.0, 4.0), (6.0, None)).course("x")
    assert times.tolist() == [1.0, 3.0, 4.0, 6.0] and best.tolist() == [5.0, 4.0, 1.0, 1.0]
    assert timed((1.0, 5.0), (2.0, 1.0), direction="maximise").course("x")[1].tolist() == [5.0, 5.0]


def test_gaps_at_moments_step_up_when_experiments_end():
    history = timed((1.0, 4.0), (3.0, 2.0), (5.0, 0.0))
    moments = np.array([0.0, 1.0, 2.9, 3.0, 5.0, 9.0])
    assert np.isnan(bests_at([history], moments)[0, 0, 0])
    assert gaps_at([history], {"x": 0.0}, moments)[0, 0].tolist() == [0.0, 0.0, 0.0, 0.5, 1.0, 1.0]


def test_the_time_to_what_alone_has_found():
    together, alone = timed((1.0, 4.0), (3.0, 1.0), (5.0, 0.0)), timed((1.0, 4.0), (3.0, 3.0), (6.0, 1.0))
    (row,) = compare([together], [alone], has_times=True)
    assert (row["time to match alone"], row["time alone took"]) == (3.0, 6.0)
    (row,) = compare([alone], [together], has_times=True)
    assert (row["time to match alone"], row["time alone took"]) == (None, 5.0)
    assert "time alone took" not in compare([together], [alone])[0]
