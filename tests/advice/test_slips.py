"""Outcomes that are likely slips: asked about, while honest ones are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import Float, Ledger, Policy, Site, Study
from cboc.advice.asking import abandoning, of_sheet, streak
from cboc.advice.slips import Told, is_far_outside, slips
from cboc.site import worksheet
from cboc.site.trial import Status

SPACE = {"a": Float(0.0, 10.0), "b": (0.0, 1.0)}


def site(outcomes=(), is_named=False, **settings):
    """A site that has told these outcomes, None for a failure, and has one more trial to run."""
    named = {"objectives": "yield", "units": "%"} if is_named else {}
    study = Study(SPACE, ("x",), 60, **named)
    policy = Policy(initial=len(outcomes) + 3, seed=1)
    found = Site(
        study, "x", Ledger(study), direction="max", policy=policy, clock=iter(range(10**6)).__next__, **settings
    )
    for y in outcomes:
        trial = found.ask()
        found.fail(trial) if y is None else found.tell(trial, y)
    found.ask()
    return found


def asked(site, y, number=None):
    trial = site.to_run[0] if number is None else site.trial(number)
    return slips(site, [Told(trial.number, trial.x, y)]).get(trial.number, "")


@pytest.mark.parametrize("others", [(0.02, 0.4, 0.91), (0.02, 0.1, 0.3, 0.5, 0.2, 0.91), np.linspace(0.02, 0.91, 40)])
def test_a_lost_decimal_point_is_asked_about_with_three_others_and_with_many(others):
    assert asked(site(list(others)), 89.0) == "89? The others are 0.02 to 0.91."
    assert asked(site(list(others)), 0.95) == "" and asked(site(list(others)), 1.4) == ""


def test_the_question_has_the_unit():
    assert asked(site([2, 40, 91], is_named=True), 8900.0) == "8900 %? The others are 2 to 91 %."


def test_without_three_different_outcomes_nothing_is_asked():
    for others in ((), (1,), (1, 2), (5, 5, 5, 5), (0, 0, 0, 0, 1)):
        assert asked(site(others), 1e6) == ""


@pytest.mark.parametrize(
    "others",
    [
        np.exp(np.random.default_rng(1).normal(0.0, 2.0, 40)),  # over four decades
        np.random.default_rng(2).standard_t(2, 40),
        np.append(np.zeros(20), [0.3, 2.0, 11.0, 40.0]),  # most reactions give nothing
    ],
)
def test_outcomes_with_heavy_tails_are_no_slips(others):
    far = max(others) + 0.8 * (max(others) - min(others))
    assert not is_far_outside(others, far) and is_far_outside(others, 1e4 * far)


def test_noise_alone_is_asked_about_rarely():
    """Of outcomes that are all alike: measured with as many others as a site may have."""
    rng = np.random.default_rng(0)
    for draw, most in ((rng.standard_normal, 0.004), (lambda n: rng.standard_t(4, n), 0.006), (rng.random, 0.004)):
        for count in (3, 5, 10, 30):
            found = [is_far_outside(y[:-1], y[-1]) for y in (draw(count + 1) for _ in range(2000))]
            assert np.mean(found) <= most


@given(
    others=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=20),
    y=st.floats(-1e6, 1e6),
    shift=st.integers(-4, 4),
)
def test_the_judgement_knows_no_unit_and_no_direction(others, y, shift):
    values = np.round(others, 3)
    judged = is_far_outside(values, round(y, 3))
    assert is_far_outside(-values, -round(y, 3)) == judged
    power = 2.0**shift  # exact
    assert is_far_outside(power * values, power * round(y, 3)) == judged
    assert not is_far_outside(values, float(values[0]))


@pytest.mark.filterwarnings("error")
def test_numbers_near_the_largest_are_no_trouble():
    for values in ((1e308, -1e308, 0.0, 1.0), (5e-324, 0.0, 1e-323, 3.0), (1.0, 2.0, 3.0)):
        for y in (1e308, -1e308, 0.0):
            assert is_far_outside(np.array(values), y) in (True, False)
    assert asked(site([1.0, 2.0, 4.0, 7.0]), 1.7e308).startswith("1.7e+308? The others")


def landscape(x):
    return 50.0 + 40.0 * np.sin(3.0 * x[0]) * np.cos(2.0 * x[1])


def test_an_outcome_among_the_others_is_asked_about_if_the_own_surrogate_knows_better():
    found = site()
    for _ in range(30):
        trial = found.ask()
        found.tell(trial, landscape(trial.x))
    trial = found.ask()
    expected = landscape(trial.x)
    assert asked(found, float(expected)) == ""
    wrong = float(100.0 - expected) if abs(expected - 50.0) > 20.0 else 85.0
    question = asked(found, wrong)
    assert question.startswith(f"{wrong:.9g}? ") and question.endswith("was expected of this design.")


def test_what_is_corrected_is_compared_with_the_others_alone():
    found = site([2.0, 40.0, 91.0, 55.0, 70.0, 8900.0])
    assert asked(found, 89.0, number=5) == "" and asked(found, 8900.0, number=5) == ""  # the latter was told before
    assert asked(found, 890000.0, number=5) == "890000? The others are 2 to 91."


def sheet(found, outcomes):
    header, *lines = worksheet.write(found.to_run, found.space).splitlines()
    said = [
        line.replace(",,,,", f",{said},,," if said != "failed" else ",,,failed,")
        for line, said in zip(lines, outcomes, strict=True)
    ]
    return of_sheet(found, worksheet.read_text("\n".join([header, *said]), found.space))


def test_lines_of_a_sheet_are_compared_with_each_other_and_two_slips_do_not_hide_each_other():
    found = site()
    found.ask(9)
    outcomes = [0.31, 0.42, 55.0, 0.28, 0.6, 0.51, 61.0, 0.33, 0.47, 0.39]
    assert sheet(found, outcomes) == [
        "the sheet, line 4, trial 2: 55? The others are 0.28 to 0.6.",
        "the sheet, line 8, trial 6: 61? The others are 0.28 to 0.6.",
    ]
    assert sheet(found, [y / 100 if y > 1 else y for y in outcomes]) == []


def test_failures_in_a_row_are_asked_about_from_the_third_on():
    assert streak(site([None]), {1: Status.FAILED}) == ""
    question = streak(site([1.0, None, None]), {3: Status.FAILED})
    assert question.startswith("Trials 1, 2 and 3 failed, 3 in a row?")
    assert streak(site([None, None, 1.0]), {3: Status.FAILED}) == ""
    assert streak(site([None, None]), {2: Status.COMPLETE}) == ""
    assert streak(site([None, None, None]), {2: Status.FAILED}) == ""  # it was told before
    found = site()
    found.ask(5)
    assert "Trials 1, 2 and 3 failed" in sheet(found, [1, "failed", "failed", "failed", 2, 3])[0]
    assert sheet(found, [1, "failed", "failed", 2, "failed", "failed"]) == []


def test_failures_count_in_the_order_in_which_they_were_told():
    found = site()
    found.ask(3)
    for number in (3, 1):
        found.fail(found.trial(number))
    found.tell(found.trial(2), 1.0)
    assert streak(found, {0: Status.FAILED}) == ""


def test_before_a_trial_is_given_up():
    found = site([1.0])
    trial = found.to_run[0]
    assert abandoning(trial) == f"Abandon trial {trial.number}? It is not run, nothing is learned from it."
    assert abandoning(found.abandon(trial)) == ""
    while found.to_run or found.trials[-1].turn is None:
        found.tell(found.ask(), 1.0)
    assert "counts against the budget all the same" in abandoning(found.trials[-1])
