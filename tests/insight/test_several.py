"""What is learned where several outcomes count: each in its own units, and whether a design keeps to the limits."""

import numpy as np
import pytest

from cboc import CbocError, Float, Ledger, Policy, Site, Study
from cboc.data.goal import Aim, Limit
from cboc.data.results import Results
from cboc.insight import Learned, Prospect, lack
from cboc.insight.found import by_weights, found
from cboc.insight.outcome import dataset_of
from cboc.insight.prospect import percent

STUDY = Study({"T": Float(20, 90), "c": Float(0, 1)}, ("a",), 30, objectives=("yield", "cost"), units=("%", "EUR"))
WANTED = {"yield": "max", "cost": "min"}


def outcomes(design):
    return {
        "yield": 90.0 - 0.05 * (design["T"] - 61.0) ** 2 - 40.0 * (design["c"] - 0.4) ** 2,
        "cost": design["T"] + 20.0 * design["c"],
        "impurity": 8.0 - 10.0 * design["c"],
    }


def site_of(count, function=outcomes, study=STUDY, direction=WANTED, limits=("impurity <= 5",), failing=()):
    site = Site(study, "a", Ledger(study), direction=direction, limits=limits, policy=Policy(initial=count + 1, seed=3))
    for k in range(count):
        trial = site.ask()
        told = function(trial.design(site.space))
        _ = site.fail(trial) if k in failing else site.tell(trial, {name: told[name] for name in site.goal.measured})
    site.ask()
    return site


def lessons(site):
    return {name: lack(site, name) or Learned.of(site, name) for name in site.goal.measured}


def test_every_outcome_is_learned_in_its_own_units_and_expected_of_the_next_design():
    site = site_of(14)
    known = lessons(site)
    assert [each.outcome for each in known.values()] == [
        "yield (%), to maximise",
        "cost (EUR), to minimise",
        "impurity, to keep <= 5",
    ]
    trial = site.to_run[0]
    prospect, truth = Prospect.of(known, site.goal, trial.x), outcomes(trial.design(site.space))
    for name, expectation in prospect.expected.items():
        assert expectation.holds(truth[name])
        assert np.array_equal(dataset_of(site, name).y, site.results.outcome(name))
        assert (known[name].best == site.best.x).all()  # slices of all go through one design


def test_the_chance_to_keep_a_limit_is_that_of_the_interval_that_is_shown():
    learned = Learned.of(site_of(14), "impurity")
    x = learned.surface.space.to_unit({"T": 40.0, "c": 0.3})
    expectation = learned.expected(x)

    def chance(relation, bound):
        return learned.surface.chance(x[None], Limit("impurity", relation, bound))[0]

    assert chance("<=", expectation.high) == pytest.approx(0.975) and chance(">=", expectation.high) == pytest.approx(
        0.025
    )
    assert chance("<=", expectation.low) == pytest.approx(0.025)
    assert chance("<=", expectation.middle) == pytest.approx(0.5)
    bounds = np.linspace(-2.0, 9.0, 12)
    assert (np.diff([chance("<=", bound) for bound in bounds]) >= 0.0).all()


def test_all_limits_are_kept_with_the_product_of_their_chances():
    site = site_of(10, limits=["impurity <= 5", "yield >= 60"])
    prospect = Prospect.of(lessons(site), site.goal, site.to_run[0].x)
    assert set(prospect.chances) == {"impurity <= 5", "yield >= 60"}
    assert prospect.kept == pytest.approx(np.prod(list(prospect.chances.values())))
    assert [percent(each) for each in (0.0, 0.734, 1.0)] == ["less than 1 %", "73 %", "more than 99 %"]


def test_without_limits_nothing_is_said_of_them():
    site = site_of(5, limits=())
    assert Prospect.of(lessons(site), site.goal, site.to_run[0].x).kept is None


def test_of_a_constant_outcome_nothing_is_learned_and_of_the_others_it_is():
    site = site_of(6, lambda design: outcomes(design) | {"cost": 7.0})
    assert lack(site, "cost") == ("All 6 outcomes of cost are 7: as long as they are equal, nothing can be learned.")
    prospect = Prospect.of(lessons(site), site.goal, site.to_run[0].x)
    assert set(prospect.expected) == {"yield", "impurity"} and "of cost are 7" in prospect.unknown["cost"]
    assert sum(each.is_on_front for each in found(site)) == 1


def test_an_outcome_that_nobody_measures_is_a_sentence():
    with pytest.raises(CbocError, match="'a' measures no 'yeld'; did you mean 'yield'"):
        Learned.of(site_of(5), "yeld")


def test_a_failure_is_bad_in_every_outcome_that_has_a_bad_side():
    wanted = {"yield": "max", "cost": Aim("near", target=70)}
    site = site_of(6, direction=wanted, failing=(2,))
    assert [len(dataset_of(site, name).failures) for name in site.goal.measured] == [1, 0, 1]
    learned = Learned.of(site, "cost")
    assert learned.outcome == "cost (EUR), to be near 70" and not learned.is_ranked
    assert [point.y for point in learned.points][-1] is None  # it is drawn all the same


@pytest.mark.parametrize("limits", [(), ("impurity <= 5",), ("impurity <= -99",)])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_the_front_is_that_of_the_results(limits, count):
    site = site_of(count, limits=limits)
    each = found(site)
    assert [one.is_on_front for one in each] == site.results.is_on_front.tolist()
    assert [bool(one.broken) for one in each] == (~site.results.is_allowed).tolist()
    assert [one.number for one in each] == list(range(count))


def test_by_weights_is_best_what_the_merit_says():
    site = site_of(20)
    results = found(site)
    front = [each for each in results if each.is_on_front]
    chosen = set()
    for share in np.linspace(0.02, 0.98, 25):
        weights = np.array([share, 1.0 - share])
        best = by_weights(front, weights.tolist())
        assert best is results[int(site.results.merit(weights).argmax())]
        chosen.add(best.number)
    assert len(front) > 2 and len(chosen) > 2


def test_two_objectives_with_the_same_numbers_have_a_front_of_one():
    site = site_of(
        7,
        lambda design: outcomes(design) | {"cost": outcomes(design)["yield"]},
        direction=dict.fromkeys(WANTED, "max"),
        limits=(),
    )
    (only,) = [each for each in found(site) if each.is_on_front]
    assert only.behind == (0.0, 0.0) and by_weights([only], [1.0, 0.0]) is only


def test_a_site_with_one_outcome_has_no_trade_off():
    study = Study({"T": (0.0, 1.0)}, ("a",), 9)
    site = site_of(5, lambda design: {"y": design["T"]}, study, "max", ())
    assert {each.behind for each in found(site)} == {()}
    assert isinstance(site.results, Results)
