"""Slices: what a plate keeps is kept to the last bit, and all else is what the space allows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import CbocError, Choice, Float, Int, Space
from cboc.search.within import maximise_within
from cboc.space.slice import Slice

MIXED = Space(
    {
        "T": Float(20.0, 90.0),
        "acid": Float(0.001, 1.0, log=True),
        "hours": Int(1, 8),
        "solvent": Choice(("water", "ethanol", "DMSO")),
        "a": Float(0.0, 1.0),
        "b": Float(0.0, 1.0),
    },
    ["T + 5*hours <= 100", "a + b == 1"],
)
SETS = [("T",), ("hours", "acid"), ("solvent",), ("a",), ("T", "hours"), ("T", "acid", "hours", "solvent")]


@given(seed=st.integers(0, 1000), same=st.sampled_from(SETS))
def test_what_is_projected_or_drawn_is_feasible_and_keeps_what_is_the_same(seed, same):
    rng = np.random.default_rng(seed)
    x = MIXED.project(rng.random(MIXED.dimension))
    slice = Slice(MIXED, x, same)
    kept = np.setdiff1d(np.arange(MIXED.dimension), slice.free)
    for y in (*slice.sample(4, rng), *(slice.project(z) for z in rng.random((4, MIXED.dimension)))):
        assert MIXED.contains(y, 1e-6)
        assert (y[kept] == x[kept]).all()
        design = MIXED.from_unit(y)
        assert {name: design[name] for name in same} == {name: MIXED.from_unit(x)[name] for name in same}


def test_nothing_left_is_the_design_itself():
    space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})
    whole = Slice(space, [0.2, 0.7], ("a", "b"))
    assert whole.rest is None and whole.most_designs == 1
    assert (whole.project([0.9, 0.9]) == [0.2, 0.7]).all()
    assert (whole.sample(3, np.random.default_rng(0)) == [0.2, 0.7]).all()


class Bowl:
    anchors = np.array([[0.5, 0.5]])

    def __call__(self, X):
        return -((X - 0.3) ** 2).sum(axis=1)

    def with_gradient(self, X):
        return self(X), -2 * (X - 0.3)


def test_the_maximum_within_a_slice():
    space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["a + b <= 1"])
    found = maximise_within(Bowl(), Slice(space, [0.9, 0.05], ("a",)), np.random.default_rng(0))
    assert found[0] == 0.9 and found[1] == pytest.approx(0.1, abs=1e-6)  # the constraint leaves no more
    bowl = Bowl()
    bowl.anchors = np.empty((0, 2))
    free = maximise_within(bowl, Slice(Space(space.parameters), [0.9, 0.05], ("a",)), np.random.default_rng(0))
    assert free == pytest.approx([0.9, 0.3], abs=1e-4)


@pytest.mark.parametrize(
    ("same", "complaint"),
    [
        (("temprature",), "unknown parameter 'temprature'; known: a, b."),
        ("a", "a list of names, such as ['T']; this is 'a'"),
        ((1,), "a list of names"),
    ],
)
def test_names_that_are_none(same, complaint):
    with pytest.raises(CbocError) as refusal:
        Slice(Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}), [0.2, 0.7], same)
    assert complaint in str(refusal.value)
