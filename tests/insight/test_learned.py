"""What a site has learned, or a sentence why there is nothing yet; in every kind of space."""

import numpy as np
import pytest

from cboc import CbocError, Choice, Dataset, Float, Int, Ledger, Policy, Site, Space, Study
from cboc.insight import Learned, lack
from cboc.insight.slices import outcomes_shown
from cboc.strategy.opinion import Blind

from .test_surface import MIXED, told, yields

MIXTURE = Space({"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}, ["a + b + c == 1"])
BOUNDED = Space({"a": (0.0, 1.0), "b": (0.0, 1.0), "n": Int(1, 5)}, ["a + b <= 1"])


@pytest.mark.parametrize(
    ("count", "failing", "function", "sentence"),
    [
        (0, (), yields, "There is no outcome yet to learn from."),
        (3, (0, 1, 2), yields, "All experiments so far have failed, so there is no outcome to learn from."),
        (1, (), yields, "1 outcome is too little to learn from; from 3 on there is something to say."),
        (4, (1, 3), yields, "2 outcomes are too little to learn from; from 3 on there is something to say."),
        (5, (), lambda _: 0.4, "All 5 outcomes are 0.4: as long as they are equal, nothing can be learned."),
    ],
)
def test_too_little_is_a_sentence(count, failing, function, sentence):
    site = told(MIXED, function, count, failing=failing)
    assert lack(site) == sentence
    with pytest.raises(CbocError, match=sentence.replace(".", r"\.")):
        Learned.of(site)


@pytest.mark.parametrize(
    "space",
    [
        Space({"T": (20.0, 90.0)}),
        Space({"solvent": Choice(["water", "ethanol", "dmso"])}),
        Space({"n": Int(1, 3), "c": Float(0.01, 1, log=True, step=None)}),
        MIXED,
        MIXTURE,
        BOUNDED,
    ],
    ids=["one number", "one choice", "levels and logs", "mixed", "a mixture", "a bound"],
)
@pytest.mark.parametrize("count", [3, 9])
def test_every_space_has_an_answer(space, count):
    def function(design):
        numbers = [value for value in design.values() if not isinstance(value, str)]
        return float(sum(numbers)) + len(str(list(design.values())[-1]))

    learned = Learned.of(told(space, function, count))
    for at in (None, learned.points[-1].x):
        base = None if at is None else np.array(at)
        for each in learned.slices(base):
            assert len(each.places) == len(each.expected.middle) >= 2 and np.isfinite(each.expected.middle).all()
        drawn = learned.contours(base)
        assert (drawn is None) == (len(space.names) == 1)
        if drawn is not None:
            assert np.isfinite(drawn.middle).any()
    assert len(learned.importance.shares) == len(space.names) and learned.importance.sentence
    assert learned.predicted.sentence.startswith(f"{learned.predicted.inside} of {count} outcomes lay inside")


def test_slices_and_contours_go_through_feasible_designs():
    learned = Learned.of(told(BOUNDED, lambda x: x["a"] - x["b"] + x["n"], 10))
    a, b, n = learned.slices()
    design = BOUNDED.from_unit(learned.best)
    assert a.places.max() <= 1.0 - design["b"] + 1e-6 and b.places.max() <= 1.0 - design["a"] + 1e-6
    assert n.places.tolist() == [1, 2, 3, 4, 5]
    drawn = learned.contours()
    across, up = np.meshgrid(*drawn.places)
    if set(drawn.names) == {"a", "b"}:
        assert np.array_equal(np.isnan(drawn.middle), across + up > 1.0)


def test_in_a_mixture_the_others_move_along():
    learned = Learned.of(told(MIXTURE, lambda x: x["a"] ** 2 + x["b"], 10))
    a = learned.slices()[0]
    assert a.is_bound and a.places.min() < 0.1


def test_a_slice_is_what_is_expected_there_and_shadows_know_how_near_they_are():
    learned = Learned.of(told(MIXED, yields, 12, failing=(4,)))
    base = learned.best
    T = learned.slices()[0]
    for place, middle in zip(T.places[::10], T.expected.middle[::10], strict=True):
        x = MIXED.to_unit({**MIXED.from_unit(base), "T": float(place)})
        assert learned.expected(x).middle == pytest.approx(middle, abs=1e-9)
    (own,) = [shadow for shadow in T.shadows if shadow.measured.x == tuple(base.tolist())]
    assert own.nearness == pytest.approx(1.0) and own.place == pytest.approx(T.here)
    assert all(0.0 <= shadow.nearness <= 1.0 for shadow in T.shadows)
    assert [shadow.measured.number for shadow in T.shadows if shadow.measured.y is None] == [4]


def test_points_are_in_the_order_of_the_outcomes_and_say_their_kind():
    earlier = Dataset(
        MIXED.sample(3, np.random.default_rng(0)),
        [0.1, 0.2, 0.3],
        failures=[MIXED.to_unit({"T": 30.0, "c": 0.1, "solvent": "water"})],
        direction="maximise",
    )
    study = Study(MIXED, ("lab",), 10, rule="identity")
    site = Site(study, "lab", Ledger(study), direction="maximise", policy=Policy(initial=5), data=earlier)
    for y in (0.4, None, 0.5):
        trial = site.ask()
        _ = site.fail(trial) if y is None else site.tell(trial, y)
    points = Learned.of(site).points
    assert [point.y for point in points] == [0.1, 0.2, 0.3, 0.4, 0.5, None, None]
    assert [point.number for point in points] == [None, None, None, 0, 2, None, 1]
    early = "before the study"
    assert [point.kind for point in points] == [early, early, early, "initial", "own", "failed", "failed"]
    assert points[0].name == "before the study" and points[3].name == "trial 0"


def test_predictions_are_made_without_the_outcome():
    site = told(MIXED, yields, 14, noise=0.01)
    learned = Learned.of(site)
    assert [each.y for each in learned.predicted.predictions] == site.dataset.y.tolist()
    assert 0.3 < learned.predicted.fit < 1.0
    wild = told(MIXED, lambda x: float(hash((x["T"], x["c"])) % 1000), 14)
    assert Learned.of(wild).predicted.fit < 0.3


def test_another_strategy_is_judged_by_the_default_surrogate():
    study = Study({"a": (0.0, 1.0)}, ("lab",), 9, rule="identity")
    policy = Policy(lambda situation, rng: Blind(situation, rng), initial=4)
    site = Site(study, "lab", Ledger(study), direction="maximise", policy=policy)
    for _ in range(4):
        trial = site.ask()
        site.tell(trial, float(trial.x[0]))
    assert Learned.of(site).importance.sentence == "a is the only parameter."


def test_asking_changes_nothing_and_gives_the_same_again():
    site = told(MIXED, yields, 8)
    following = site.ask()
    one, other = Learned.of(site), Learned.of(site)
    assert one.next.tolist() == following.x.tolist()
    assert one.importance == other.importance
    assert one.expected(following.x) == other.expected(following.x)
    assert site.ask() == following


def test_a_parameter_that_constraints_hold_fast_leaves_the_range_of_outcomes_alone():
    held = Space({"a": (0.0, 1.0), "b": Float(0.0, 1.0, step=0.23), "c": (0.0, 1.0)}, ["a + b == 1"])
    learned = Learned.of(told(held, lambda x: x["a"] + x["c"], 6))
    drawn = learned.slices(held.to_unit({"a": 0.77, "b": 0.23, "c": 0.5}))
    assert drawn[0].is_fixed and not len(drawn[0].places)  # 0.77 is none of the steps
    low, high = outcomes_shown(drawn)
    assert low <= learned.surface.dataset.y.min() < learned.surface.dataset.y.max() <= high
