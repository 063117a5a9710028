import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import CbocError, Space
from cboc.data.dataset import Dataset
from cboc.search.maximise import maximise
from cboc.space.choice import Choice
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.situation import Situation

SOLVENTS = ("water", "methanol", "ethanol", "toluene", "xylene")
LIKE = {"polarity": [10.2, 5.1, 4.3, 2.4, 2.5], "boiling": [100.0, 65.0, 78.0, 111.0, 139.0]}
SOLVENT = Choice(SOLVENTS, descriptors=LIKE)


def apart(choice, one, other):
    return float(np.linalg.norm(choice.to_unit(one) - choice.to_unit(other)))


def test_options_that_are_alike_are_near_each_other():
    assert apart(SOLVENT, "toluene", "xylene") < apart(SOLVENT, "toluene", "water") / 2
    assert apart(SOLVENT, "methanol", "ethanol") < apart(SOLVENT, "methanol", "xylene") / 2
    assert SOLVENT.points.min() == 0.0 and SOLVENT.points.max() == 1.0


def test_units_of_descriptors_and_columns_that_say_nothing_do_not_matter():
    other = {
        "polarity": [7e5 + 1e4 * value for value in LIKE["polarity"]],
        "boiling": LIKE["boiling"],
        "one": 5 * [3.0],
    }
    assert Choice(SOLVENTS, descriptors=other).points == pytest.approx(SOLVENT.points, abs=1e-8)


@given(st.sampled_from(SOLVENTS))
def test_there_and_back(solvent):
    assert SOLVENT.from_unit(SOLVENT.to_unit(solvent)) == solvent


def test_a_mean_goes_to_the_nearest_option():
    """Half way between two alcohols and water there is methanol; a vote would have been for one of the two."""
    space = Space({"solvent": SOLVENT})
    mean = (SOLVENT.to_unit("water") + 3 * SOLVENT.to_unit("ethanol")) / 4
    distances = np.linalg.norm(SOLVENT.points - mean, axis=1)
    assert space.from_unit(space.project(mean))["solvent"] == SOLVENTS[distances.argmin()]
    assert space.contains(space.project(mean)) and not space.contains(mean)


def test_ordered_options_are_evenly_spaced_on_one_coordinate():
    size = Choice(("small", "medium", "large"), ordered=True)
    space = Space({"size": size, "T": (0.0, 1.0)})
    assert size.points[:, 0].tolist() == [0.0, 0.5, 1.0] and space.coordinates == ("size", "T")
    assert space.from_unit([0.6, 0.2])["size"] == "medium"
    assert space.from_unit(space.project((size.to_unit("small")[0] + 1.0) * np.array([0.5, 0.0])))["size"] == "medium"


@pytest.mark.parametrize("choice", [SOLVENT, Choice(("low", "middle", "high"), ordered=True), Choice(("a", "b"))])
def test_a_space_is_rebuilt_from_plain_data(choice):
    space = Space({"it": choice, "T": (0.0, 1.0)})
    assert Space.from_dict(space.to_dict()) == space and hash(Space.from_dict(space.to_dict())) == hash(space)


def test_options_that_are_only_names_are_written_as_before():
    assert Space({"it": Choice(("a", "b"))}).to_dict()["parameters"] == {
        "it": {"type": "choice", "options": ["a", "b"]}
    }


def test_a_search_visits_the_points_of_options_only_and_finds_the_best():
    space = Space({"solvent": SOLVENT, "T": (0.0, 1.0)})
    rng = np.random.default_rng(0)
    X = space.sample(12, rng)
    dataset = Dataset(X, -np.linalg.norm(X[:, :-1] - SOLVENT.to_unit("xylene"), axis=1) - (X[:, -1] - 0.3) ** 2)
    opinion = Bayesian()(Situation(dataset, space), rng)
    x, _ = maximise(opinion.utility, space, rng)
    assert space.contains(x)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"descriptors": {"polarity": [1, 2, 3]}}, "there are 5 options and 3 numbers"),
        ({"descriptors": {"polarity": [1, 2, None, 4, 5]}}, "'polarity' has no number for ethanol; fill the gap"),
        ({"descriptors": {"polarity": [1, 2, float("nan"), 4, 5]}}, "'polarity' has no number for ethanol"),
        ({"descriptors": {"polarity": [1, 2, 2, 4, 5]}}, "do not tell 'methanol' from 'ethanol'"),
        ({"descriptors": {"polarity": 5 * [1]}}, "the same for all options"),
        ({"descriptors": {"polarity": {"water": 1, "wine": 2}}}, "is given for 'wine', which is not an option"),
        ({"descriptors": {"": [1, 2, 3, 4, 5]}}, "a descriptor has a name"),
        ({"descriptors": "polarity"}, "descriptors are a table"),
        ({"descriptors": LIKE, "ordered": True}, "by their order or by descriptors"),
        ({"ordered": 1}, "ordered is True or False"),
    ],
)
def test_what_options_cannot_be_is_said_in_one_sentence(given, sentence):
    with pytest.raises(CbocError, match=sentence):
        Choice(SOLVENTS, **given)
