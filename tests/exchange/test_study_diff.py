from cboc import Float, Study
from cboc.exchange.study_diff import differences

SPACE = {"T": Float(20.0, 90.0, unit="°C"), "pH": (2.0, 9.0)}


def study(space=SPACE, sites=("a", "b"), horizon=5, **terms):
    return Study(space, sites, horizon, **terms)


def lines(**terms):
    return differences(study().agreement(), study(**terms).agreement())


def test_the_same_is_no_difference():
    assert lines() == []


def test_every_difference_is_named_in_words():
    assert lines(space=SPACE | {"T": Float(20.0, 80.0, unit="°C")}) == ["parameter 'T', high is 90 here and 80 there"]
    assert lines(space=SPACE | {"T": Float(20.0, 90.0, unit="K")}) == ["parameter 'T', unit is °C here and K there"]
    assert lines(space=SPACE | {"T": (20.0, 90.0)}) == ["parameter 'T', unit is missing there"]
    assert lines(space={"T": SPACE["T"]}) == ["parameter 'pH' is missing there"]
    assert lines(rule="leader") == ["rule is uniform here and leader there"]
    assert lines(sites=("a", "c")) == ["sites is [a, b] here and [a, c] there"]


def test_a_budget_that_follows_from_the_horizon_is_no_difference_of_its_own():
    assert lines(horizon=6) == ["horizon is 5 here and 6 there"]
    assert lines(budgets={"a": 3}) == ["budget 'a' is 5 here and 3 there"]
    assert lines(horizon=6, budgets={"a": 5}) == ["horizon is 5 here and 6 there"]  # it has the same number of rounds
    assert lines(horizon=6, budgets={"a": 3}) == ["horizon is 5 here and 6 there", "budget 'a' is 5 here and 3 there"]


def test_the_order_of_parameters_is_that_of_coordinates():
    other = study(space={"pH": SPACE["pH"], "T": SPACE["T"]})
    assert study().digest != other.digest
    assert differences(study().agreement(), other.agreement()) == [
        "the parameters are T, pH here and pH, T there: their order matters"
    ]
