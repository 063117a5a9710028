from fractions import Fraction

import numpy as np
import pytest

from cboc import CbocError, Measurement
from cboc.data.objective import as_measurements


def test_a_measurement_is_a_mean_and_maybe_its_standard_error():
    assert Measurement(1) == Measurement(1.0) and Measurement(1).sem is None
    assert str(Measurement(0.8)) == "0.8" and str(Measurement(0.8, 0.25)) == "0.8 ± 0.25"
    assert Measurement(1, cost=2).cost == 2.0 and Measurement(1).cost is None


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ((float("nan"),), "a measurement's mean is a finite number; this is nan"),
        ((1.0, float("inf")), "a measurement's standard error is a finite number; this is inf"),
        (("much",), "this is 'much'"),
        ((True,), "this is True"),
        ((None,), "a measurement's mean is a finite number; this is None"),
        ((10**400,), "a measurement's mean is a finite number; this is 1000"),
        ((1.0, -0.5), "a standard error is not negative; this is -0.5"),
        ((1.0, None, -2), "a cost is not negative; this is -2"),
        ((1.0, None, float("nan")), "a measurement's cost is a finite number; this is nan"),
        ((1.0, None, "3"), "a measurement's cost is a finite number; this is '3'"),
    ],
)
def test_what_is_no_measurement_is_refused(given, complaint):
    with pytest.raises(CbocError, match=complaint):
        Measurement(*given)


@pytest.mark.parametrize(
    "outcome", [0.8, Measurement(0.8), {"yield": 0.8}, {"yield": Measurement(0.8)}], ids=["number", "value", "a", "b"]
)
def test_one_objective_may_be_told_in_several_ways(outcome):
    assert as_measurements(outcome, ("yield",)) == {"yield": Measurement(0.8)}


@pytest.mark.parametrize("outcome", [(0.8, 3.0), [0.8, 3.0], (0.8,), {"yield": (0.8, 3.0)}])
def test_a_bare_pair_could_mean_two_things(outcome):
    with pytest.raises(CbocError, match=r"could mean several things; .* write Measurement\(mean, sem\)"):
        as_measurements(outcome, ("yield",))


@pytest.mark.parametrize("outcome", ["1_000", True, np.bool_(True), "much", "", None, 10**400])
def test_what_is_no_number_is_no_outcome(outcome):
    with pytest.raises(CbocError, match=r"an outcome is a number, or Measurement\(mean, sem\); .* is neither"):
        as_measurements(outcome, ("yield",))


@pytest.mark.parametrize("outcome", ["0.8", "0,80", np.array(0.8), np.float64(0.8), Fraction(4, 5)])
def test_a_number_may_be_of_any_kind(outcome):
    assert as_measurements(outcome, ("yield",)) == {"yield": Measurement(0.8)}


def test_outcomes_are_told_by_the_names_that_were_agreed():
    with pytest.raises(CbocError, match="outcomes are expected for yield; got purity"):
        as_measurements({"purity": 0.8}, ("yield",))
    with pytest.raises(CbocError, match="outcomes are expected for yield; got 1"):
        as_measurements({1: 2}, ("yield",))
    with pytest.raises(CbocError, match="given by name, for yield, purity; got 0.8"):
        as_measurements(0.8, ("yield", "purity"))
    both = {"purity": 0.5, "yield": Measurement(0.8, 0.1)}
    assert as_measurements(both, ("yield", "purity")) == {"yield": Measurement(0.8, 0.1), "purity": Measurement(0.5)}


@pytest.mark.parametrize("y", [1e308, -1e200, Measurement(0.5, 1e160)])
def test_what_no_surrogate_can_reckon_with_is_refused_where_it_is_told(y):
    with pytest.raises(CbocError, match="an outcome is a number up to 1e\\+150"):
        as_measurements(y, ("y",))
    assert as_measurements(1e150, ("y",))["y"].mean == 1e150
