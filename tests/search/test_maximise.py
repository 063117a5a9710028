from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.search.discrete import neighbours, variations
from cboc.search.maximise import Effort, maximise
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.space import Space
from cboc.surrogate.fitting import Model, build, fit
from cboc.surrogate.priors import LogNormal
from cboc.surrogate.transforms import raw
from cboc.utility.improvement import EI, LogEI
from cboc.utility.utility import Custom

SPACES = {
    "box": Space({"a": (0, 1), "b": (-5, 5), "c": Float(0.1, 10, log=True)}),
    "mixed": Space({"T": (20, 90), "n": Int(1, 5), "solvent": ["water", "ethanol", "DMSO"], "c": (0, 1)}),
    "discrete": Space({"n": Int(0, 4), "s": Float(0, 1, step=0.25), "solvent": ["water", "ethanol"]}),
    "large grids": Space({f"n{i}": Int(0, 30) for i in range(4)}),
    "inequality": Space({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, ["a + b <= 1", "c >= a"]),
    "mixture": Space({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, ["a + b + c == 1"]),
    "mixture in steps": Space({name: Float(0, 1, step=0.05) for name in "abcd"}, ["a + b + c + d == 1"]),
    "mixture of both": Space({"a": Float(0, 1, step=0.1), "b": Float(0, 1, step=0.1), "c": (0, 1)}, ["a + b + c == 1"]),
    "everything": Space(
        {"a": (0, 1), "n": Int(1, 5), "solvent": ["water", "ethanol", "DMSO"], "c": (0, 1)},
        ["a + c <= 1", "a <= 0.2*n"],
    ),
}
EVERY_SPACE = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)


def rng(seed=0):
    return np.random.default_rng(seed)


def landscape(space, seed=0, kind=LogEI):
    """A surrogate of a wavy function on 20 feasible designs."""
    X = space.sample(20, rng(seed))
    weights = rng(seed + 1).standard_normal(space.dimension)
    return kind(fit(X, np.sin(4.0 * X @ weights) - ((X - 0.4) ** 2).sum(axis=1)))


def hill(centre, height=1.0):
    """height exp(-|x - c|²), with its gradient."""

    def function(X):
        return height * np.exp(-((X - centre) ** 2).sum(axis=1))

    return Custom(function, lambda X: -2.0 * (X - centre) * function(X)[:, None])


class Measured(Custom):
    """A utility that remembers its best value."""

    best = -np.inf

    def __call__(self, X):
        values = super().__call__(X)
        type(self).best = max(self.best, values.max(initial=-np.inf))
        return values


# Known solutions


def test_the_top_of_a_hill():
    x, value = maximise(hill(np.array([0.3, 0.62, 0.5])), SPACES["box"], rng())
    assert x == pytest.approx([0.3, 0.62, 0.5], abs=0.03) and value > 0.999


def test_the_top_of_a_hill_on_a_mixture():
    """The nearest point of the simplex to c: c shifted by a constant (all stay positive)."""
    centre = np.array([0.5, 0.7, 0.6])
    x, _ = maximise(hill(centre), SPACES["mixture"], rng())
    assert x == pytest.approx(centre - 0.8 / 3.0, abs=1e-3)


def test_the_top_of_a_hill_against_a_constraint():
    """Nearest to (0.9, 0.9) under a + b <= 1 is the middle of the edge."""
    x, _ = maximise(hill(np.array([0.9, 0.9, 0.95])), SPACES["inequality"], rng())
    assert x == pytest.approx([0.5, 0.5, 0.95], abs=1e-2)


@pytest.mark.parametrize("seed", range(3))
def test_every_design_of_a_small_discrete_space_is_looked_at(seed):
    space = SPACES["discrete"]
    everything = np.array([[n / 4, s / 4, *o] for n, s, o in product(range(5), range(5), np.eye(2))])
    utility = landscape(space, seed)
    x, value = maximise(utility, space, rng())
    assert value == pytest.approx(utility(everything).max()) and utility(x[None])[0] == pytest.approx(value)


def test_a_needle_in_a_discrete_space_is_found():
    space = Space({f"n{i}": Int(0, 9) for i in range(3)})
    needle = Custom(lambda X: (np.abs(X - np.array([2, 7, 4]) / 9).max(axis=1) < 1e-6).astype(float))
    x, value = maximise(needle, space, rng())
    assert value == 1.0 and space.from_unit(x) == {"n0": 2, "n1": 7, "n2": 4}


def test_the_top_of_a_hill_in_steps_with_a_sum():
    """A mixture on a grid: the discrete search must exchange, for no single component can move alone."""
    centre = np.array([0.1, 0.55, 0.3, 0.05])
    x, value = maximise(hill(centre), SPACES["mixture in steps"], rng(), Effort(samples=16))
    assert x == pytest.approx(centre, abs=1e-9) and value == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_of_steps_and_continuous_parts_makes_room(seed):
    centre = np.array([0.3, 0.6, 0.1])
    x, _ = maximise(hill(centre), SPACES["mixture of both"], rng(seed), Effort(samples=8))
    assert x == pytest.approx(centre, abs=1e-3)


# Invariants


@EVERY_SPACE
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 1000))
def test_feasible_and_never_worse_than_anything_looked_at(space, seed):
    inner = landscape(space, seed % 3)

    class Here(Measured):
        pass

    utility = Here(inner, lambda X: inner.with_gradient(X)[1], inner.anchors)
    x, value = maximise(utility, space, rng(seed), Effort(samples=64, edges=16, cloud=16, starts=3))
    assert space.contains(x)
    assert value == pytest.approx(inner(x[None])[0], abs=1e-9) and value >= Here.best - 1e-3


@EVERY_SPACE
def test_the_search_beats_many_more_samples(space):
    utility = landscape(space)
    _, value = maximise(utility, space, rng(1))
    assert value >= utility(space.sample(4096, rng(2))).max() - 1e-9


@EVERY_SPACE
def test_the_same_rng_gives_the_same_design(space):
    utility = landscape(space)
    (one, first), (other, second) = (maximise(utility, space, rng(7)) for _ in range(2))
    assert (one == other).all() and first == second


@pytest.mark.parametrize("space", ["box", "inequality", "mixed"])
@pytest.mark.parametrize("height", [1e-80, 1e-9, 1e6])
def test_the_scale_of_a_utility_does_not_matter(space, height):
    centre = np.array([0.2, 0.3, 0.6, 0.3, 0.3, 0.4])[: SPACES[space].dimension]
    reference, _ = maximise(hill(centre), SPACES[space], rng())
    x, _ = maximise(hill(centre, height), SPACES[space], rng())
    assert x == pytest.approx(reference, abs=0.02)


def test_small_expected_improvements_are_climbed():
    space = SPACES["box"]
    X = space.sample(30, rng())
    small = Model(transform=raw, outputscale=LogNormal(0.0, 1.0))
    gp = build(X, -1e-6 * ((X - 0.5) ** 2).sum(axis=1), np.log([0.5, 0.5, 0.5, 1e-12, 1e-16]), small)
    _, value = maximise(EI(gp), space, rng())
    assert value < 1e-6 and value == pytest.approx(np.exp(maximise(LogEI(gp), space, rng())[1]), rel=0.02)


# Utilities that are hard


@pytest.mark.parametrize("space", ["box", "mixed", "discrete", "inequality", "mixture in steps"])
def test_values_that_are_not_numbers_are_passed_over(space):
    space = SPACES[space]

    def function(X):
        values = X.sum(axis=1)
        return np.where(X[:, 0] > 0.5, np.nan, values)

    x, value = maximise(Custom(function), space, rng())
    assert x[0] <= 0.5 and np.isfinite(value) and space.contains(x)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 0.0])
@pytest.mark.parametrize("space", ["box", "mixed", "inequality"])
def test_a_utility_without_a_best_design_still_gives_a_feasible_one(space, value):
    x, _ = maximise(Custom(lambda X: np.full(len(X), value)), SPACES[space], rng())
    assert SPACES[space].contains(x)


@EVERY_SPACE
def test_without_anchors_and_without_a_cloud(space):
    x, _ = maximise(Custom(lambda X: X.sum(axis=1)), space, rng())
    assert space.contains(x)
    anchored = Custom(lambda X: X.sum(axis=1), anchors=space.sample(2, rng()))
    assert space.contains(maximise(anchored, space, rng(), Effort(cloud=0))[0])


# Discrete moves


@EVERY_SPACE
def test_neighbours_are_feasible_and_different(space):
    for x in space.sample(4, rng()):
        around = neighbours(x, space)
        assert all(space.contains(y) for y in around)
        assert all(not np.array_equal(x, y) for y in around)


def test_neighbours_by_hand():
    space = Space({"n": Int(0, 4), "solvent": ["water", "ethanol", "DMSO"]})
    around = neighbours(np.array([0.25, 0.0, 1.0, 0.0]), space)
    assert [space.from_unit(y) for y in around] == [
        {"n": 0, "solvent": "ethanol"},
        {"n": 2, "solvent": "ethanol"},
        {"n": 1, "solvent": "water"},
        {"n": 1, "solvent": "DMSO"},
    ]


def test_a_mixture_in_steps_has_every_exchange():
    x = np.array([0.25, 0.25, 0.25, 0.25])
    around = {tuple(np.round((y - x) / 0.05).astype(int)) for y in neighbours(x, SPACES["mixture in steps"])}
    exchanges = {tuple(row) for row in np.eye(4, dtype=int)[:, None] - np.eye(4, dtype=int) for row in row if row.any()}
    assert around == exchanges


def test_variations_are_every_combination():
    space = SPACES["mixed"]
    rows = variations(space.sample(1, rng())[0], space)
    assert len(rows) == 15 == len({tuple(row) for row in rows}) and all(space.contains(row) for row in rows)
    assert len(variations(np.zeros(1), Space({"a": (0, 1)}))) == 1
    halves = Space({"a": Float(0, 1, step=0.5), "b": Float(0, 1, step=0.5), "c": (0, 1)}, ["a + b + c == 1"])
    assert {tuple(row) for row in variations(np.array([0.0, 0.0, 1.0]), halves)} == {
        (0.0, 0.0, 1.0),
        (0.5, 0.0, 0.5),
        (0.0, 0.5, 0.5),
        (0.5, 0.5, 0.0),
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
    }


def test_a_choice_of_numbers_is_a_choice():
    space = Space({"catalyst": Choice([1, 2.5, 4]), "t": (0, 1)})
    x, _ = maximise(hill(np.array([0.0, 0.0, 1.0, 0.4])), space, rng())
    assert space.from_unit(x)["catalyst"] == 4 and x[3] == pytest.approx(0.4, abs=0.02)
